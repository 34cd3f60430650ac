"""What a process has loaded before it forks for each fine-tuning; a fork takes it in place of loading it."""

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, TypeVar

Loaded = TypeVar("Loaded")
Load = tuple[Callable[..., Any], Path, tuple[Any, ...]]
"""A function, the file or folder that it reads, and its further arguments."""
_LOADED: dict[Hashable, Any] = {}


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
