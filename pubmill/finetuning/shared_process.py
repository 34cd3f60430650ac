"""Fork server for the fine-tunings of a run: one process loads torch, a model and its data once.

Each fine-tuning runs in a fork of this process and uses the loaded objects.
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
    """Return a program that runs `main` in a fork of the server that the environment names, or directly if
    none answers. With the arguments `--serve NUMBER`, the program itself is a fork server, at the listening
    socket NUMBER; before it forks, `load` loads what `main` needs with the same arguments."""

    def start() -> None:
        if sys.argv[1:2] == ["--serve"]:
            _serve(int(sys.argv[2]), load)
        elif (status := status_in_fork()) is not None:
            raise SystemExit(status)
        main()

    return start


def _serve(number: int, load: Callable[[], None]) -> None:
    """Run as fork server; return only in a fork, which has the arguments of its caller."""
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
    """Return `function(path, *arguments)`, or once its preloaded result if the files have not changed."""
    loaded: Loaded | None = _LOADED.pop(_key(function, path, arguments), None)
    return function(path, *arguments) if loaded is None else loaded


def _key(function: Callable[..., Any], path: Path, arguments: tuple[Any, ...]) -> Hashable:
    """Return what identifies a result: names, sizes and times of the files are part of it."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    states = [(file.name, file.stat()) for file in files if file.exists()]
    marks = tuple((name, state.st_ino, state.st_size, state.st_mtime_ns) for name, state in states)
    return function, path.absolute(), arguments, marks
