"""The program's text files are UTF-8 whatever the locale. ruff's rule sees only calls on what it knows to be
a path; here every call of these names counts."""

import ast
from collections.abc import Iterator
from pathlib import Path

PLACES = {"read_text": 0, "write_text": 1}
"""Methods of paths, and the place of their encoding among the arguments."""


def without_encoding(path: Path) -> Iterator[int]:
    """Yield the lines of calls without an encoding."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PLACES:
            given = len(node.args) > PLACES[node.func.attr] or any(k.arg == "encoding" for k in node.keywords)
            if not given:
                yield node.lineno


def test_every_text_file_has_an_encoding(root: Path) -> None:
    folders = ("pubmill", "scripts", "profiles", "benchmarks", "snakemake_logger_plugin_pubmill")
    paths = [root / "setup.py", *(path for folder in folders for path in (root / folder).rglob("*.py"))]
    assert [f"{path}:{line}" for path in paths for line in without_encoding(path)] == []
