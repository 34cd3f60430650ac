"""Names of modules and classes of the package occur once, so that a search for one finds it."""

import ast
from collections import Counter
from pathlib import Path

import pytest


@pytest.fixture
def modules(root: Path) -> list[Path]:
    """The package's modules, without the programs of extras."""
    return [path for path in (root / "pubmill").rglob("*.py") if path.parent.name != "programs"]


def repeated(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def test_a_module_name_occurs_once(modules: list[Path]) -> None:
    """But for jobs, which have the names of stages."""
    named = [path for path in modules if path.stem != "__init__" and path.parent.name != "jobs"]
    assert repeated([path.stem for path in named]) == []


def test_a_class_name_occurs_once(modules: list[Path]) -> None:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in modules)
    assert (
        repeated([node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)])
        == []
    )
