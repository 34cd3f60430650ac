"""Imports of programs and modules, read from their syntax trees."""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path


def imported(path: Path) -> tuple[str, ...]:
    return _imported_by(path.read_text(encoding="utf-8"))


@cache
def _imported_by(source: str) -> tuple[str, ...]:
    found = list[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"relative import of {node.module}"
            found += (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return tuple(found)


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
                waiting += _files(root, module)
    return seen


@cache
def _files(root: Path, module: str) -> tuple[Path, ...]:
    place = root / module.replace(".", "/")
    return tuple(filter(Path.is_file, (place.with_suffix(".py"), place / "__init__.py")))


def _within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
