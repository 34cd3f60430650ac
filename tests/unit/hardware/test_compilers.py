"""What Triton needs on a machine with a GPU: a C compiler and the headers of Python."""

import sysconfig
from pathlib import Path

import pytest

from pubmill.hardware.compilers import compiler_fault, fault_of_kernels


def test_a_compiler_and_the_headers_of_python_are_found_or_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler stands on the path or is named by CC."""
    program = tmp_path / "bin/gcc"
    program.parent.mkdir()
    program.touch(0o755)
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert compiler_fault({"PATH": str(program.parent)}) is None
    assert compiler_fault({"PATH": "/nowhere", "CC": str(program)}) is None
    fault = compiler_fault({"PATH": str(program.parent), "CC": "icc"})
    assert fault and fault.startswith("no C compiler (icc), which Triton needs")
    fault = compiler_fault({"PATH": "/nowhere"})
    assert fault and "no C compiler (gcc or clang)" in fault and "install gcc" in fault
    monkeypatch.setenv("PATH", "/nowhere")
    found = fault_of_kernels(RuntimeError("failed to compile\nmore"))
    assert found == f"RuntimeError: failed to compile; {fault}"
    (tmp_path / "Python.h").unlink()
    fault = compiler_fault({"PATH": str(program.parent)})
    assert fault and "no headers of Python" in fault and "python3-dev" in fault
