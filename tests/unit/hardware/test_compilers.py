"""What Triton needs on a machine with a GPU: a C compiler and the headers of Python."""

import sysconfig
from pathlib import Path

import pytest

from pubmill.hardware.compilers import compiler_fault, fault_of_kernels


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that could be a compiler, beside headers of Python."""
    path = tmp_path / "bin/gcc"
    path.parent.mkdir()
    path.touch(0o755)
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    return path


def test_a_compiler_is_found_on_the_path_or_by_its_name(program: Path) -> None:
    assert compiler_fault({"PATH": str(program.parent)}) is None
    assert compiler_fault({"PATH": "/nowhere", "CC": str(program)}) is None
    fault = compiler_fault({"PATH": str(program.parent), "CC": "icc"})
    assert fault and fault.startswith("no C compiler (icc), which Triton needs")


def test_what_is_missing_is_named_with_what_to_do(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = compiler_fault({"PATH": "/nowhere"})
    assert fault and "no C compiler (gcc or clang)" in fault and "install gcc" in fault
    monkeypatch.setenv("PATH", "/nowhere")
    assert (
        fault_of_kernels(RuntimeError("failed to compile\nmore"))
        == f"RuntimeError: failed to compile; {fault}"
    )
    (program.parents[1] / "Python.h").unlink()
    fault = compiler_fault({"PATH": str(program.parent)})
    assert fault and "no headers of Python" in fault and "python3-dev" in fault
