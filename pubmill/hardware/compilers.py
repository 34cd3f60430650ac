"""C compiler with Python's headers, which Triton needs when a GPU compiles kernels. Standard library only."""

import os
import shutil
import sysconfig
from collections.abc import Mapping
from pathlib import Path

CANDIDATES = ("gcc", "clang")
"""Compilers that Triton looks for unless CC names one."""


def fault_of_kernels(error: Exception) -> str:
    """Return the error in compiling or launching kernels, and what this machine lacks for them."""
    first = str(error).partition("\n")[0]
    return "; ".join(filter(None, (f"{type(error).__name__}: {first}", compiler_fault())))


def compiler_fault(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return why Triton cannot compile kernels on this machine, and what to do; None if it can."""
    names = [environment["CC"]] if environment.get("CC") else CANDIDATES
    headers = Path(sysconfig.get_path("include"), "Python.h")
    if not any(shutil.which(name, path=environment.get("PATH")) for name in names):
        fault, advice = f"no C compiler ({' or '.join(names)})", "install gcc, or name a compiler in CC"
    elif not headers.is_file():
        fault, advice = f"no headers of Python ({headers})", "install python3-dev or the like"
    else:
        return None
    return f"{fault}, which Triton needs: GPUs compute by slower methods until it is there; {advice}"
