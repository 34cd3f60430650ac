"""The process that forks for the fine-tunings of a run: it loads torch, a model and its data once.

A fork takes what is loaded in place of loading it.
"""

import os
import sys
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from pubmill.hardware.forked_programs import Request, serve, status_in_fork

Loaded = TypeVar("Loaded")
Load = tuple[Callable[..., Any], Path, tuple[Any, ...]]
"""A function, the file or folder that it reads, and its further arguments."""
_LOADED: dict[Hashable, Any] = {}
ENVIRONMENT = {
    "HF_DEACTIVATE_ASYNC_LOAD": "1",  # no threads, which a fork would lack
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # looking for GPUs must not start CUDA, which a fork could not use
}


def in_forks(main: Callable[[], None], load: Callable[[], None]) -> Callable[[], None]:
    """Return a program that calls `main`: in a fork of a process like this, if the environment names one.
    With `--serve NUMBER` it is that process, at the listening socket NUMBER; `load` loads what `main` needs
    with the same arguments."""

    def start() -> None:
        if sys.argv[1:2] == ["--serve"]:
            _serve(int(sys.argv[2]), load)
        elif (status := status_in_fork()) is not None:
            raise SystemExit(status)
        main()

    return start


def _serve(number: int, load: Callable[[], None]) -> None:
    """Serve; return in a fork, whose arguments are those of its caller."""
    threads = [0]
    os.environ |= ENVIRONMENT
    request = serve(number, lambda request: _load(request, load, threads))
    import torch

    torch.set_num_threads(int(request.environment.get("OMP_NUM_THREADS") or threads[0]))


def _load(request: Request, load: Callable[[], None], threads: list[int]) -> None:
    """Load what a request needs; an error will be met, and reported, in the fork. `threads` receives torch's
    default number of threads, before it becomes 1: a fork has none."""
    with suppress(Exception, SystemExit):
        import torch

        threads[0] = threads[0] or torch.get_num_threads()
        torch.set_num_threads(1)
        os.chdir(request.folder)
        sys.argv[1:] = request.arguments
        load()


def preload(loads: Iterable[Load]) -> None:
    """Load all that is not loaded yet, and forget everything else."""
    wanted = {_key(*load): load for load in loads}
    for key in _LOADED.keys() - wanted.keys():
        del _LOADED[key]
    for key in wanted.keys() - _LOADED.keys():
        function, path, arguments = wanted[key]
        _LOADED[key] = function(path, *arguments)


def take(function: Callable[..., Loaded], path: Path, *arguments: Any) -> Loaded:
    """Return `function(path, *arguments)`; once, what was loaded before, if the files are unchanged."""
    loaded: Loaded | None = _LOADED.pop(_key(function, path, arguments), None)
    return function(path, *arguments) if loaded is None else loaded


def _key(function: Callable[..., Any], path: Path, arguments: tuple[Any, ...]) -> Hashable:
    """Return what identifies a result: names, sizes and times of the files are part of it."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    states = [(file.name, file.stat()) for file in files if file.exists()]
    marks = tuple((name, state.st_ino, state.st_size, state.st_mtime_ns) for name, state in states)
    return function, path.absolute(), arguments, marks
