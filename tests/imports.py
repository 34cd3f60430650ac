"""Imports of programs and modules, read from their syntax trees."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path


def imported(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(root: Path, files: Iterable[Path], leave_out: Iterable[str] = ()) -> set[Path]:
    """Return `files` and all files of pubmill that they import, directly or indirectly.

    `leave_out`: modules and packages (such as pubmill.errors) that are neither included nor followed.
    """
    waiting, seen = list(files), set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for module in imported(path):
            if module.startswith("pubmill.") and not _within(module, leave_out):
                place = root / module.replace(".", "/")
                waiting += filter(Path.is_file, (place.with_suffix(".py"), place / "__init__.py"))
    return seen


def _within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
