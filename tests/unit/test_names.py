"""Syntax of the program's modules: names that occur once, encodings, and loaders that run no foreign code."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

Trees = dict[str, ast.Module]
FOLDERS = ("pubmill", "scripts", "profiles", "benchmarks", "snakemake_logger_plugin_pubmill")


@pytest.fixture(scope="module")
def trees() -> Trees:
    """The syntax tree of each module, by its path below the checkout."""
    paths = [ROOT / "setup.py", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    parsed = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    return {path.relative_to(ROOT).as_posix(): tree for path, tree in parsed.items()}


@pytest.fixture(scope="module")
def modules(trees: Trees) -> list[Path]:
    """The package's modules, without the programs of extras."""
    return [path for path in map(Path, trees) if path.parts[0] == "pubmill" and "programs" not in path.parts]


def repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def test_a_module_name_occurs_once(modules: list[Path]) -> None:
    """But for jobs, which have the names of stages."""
    named = [path for path in modules if path.stem != "__init__" and path.parent.name != "jobs"]
    assert named and repeated(path.stem for path in named) == []


def test_a_class_name_occurs_once(modules: list[Path], trees: Trees) -> None:
    nodes = (node for path in modules for node in ast.walk(trees[path.as_posix()]))
    assert repeated(node.name for node in nodes if isinstance(node, ast.ClassDef)) == []


def calls(tree: ast.Module, *names: str) -> Iterator[tuple[ast.Call, str]]:
    """Yield each call of a method with one of these names, and the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node, node.func.attr


def test_every_text_file_has_an_encoding(trees: Trees) -> None:
    """ruff's rule sees only calls on what it knows to be a path; here every call of these names counts."""
    places = {"read_text": 0, "write_text": 1}
    assert [
        f"{path}:{node.lineno}"
        for path, tree in trees.items()
        for node, name in calls(tree, *places)
        if len(node.args) <= places[name] and all(one.arg != "encoding" for one in node.keywords)
    ] == []


LOADING: dict[str, set[bool]] = {
    "pubmill/finetuning/encoders.py": set(), "pubmill/finetuning/task_models.py": set(),
    "pubmill/pretraining/architectures.py": {True}, "pubmill/pretraining/export.py": set(),
    "pubmill/storage/encoder_checks.py": set(), "pubmill/storage/model_folder_checks.py": set(),
    "pubmill/pretraining/learners.py": {True},
}  # fmt: skip
"""Modules that call transformers' loaders, and whether they always read weights as safetensors;
`model_folder_checks` also reads a pickle, of which it takes tensors only."""


def test_loaders_of_models_stay_on_this_machine_and_run_no_code(trees: Trees) -> None:
    """No model folder makes transformers run its code, unpickle its weights or ask the network for a file."""
    formats: dict[str, set[Any]] = {}
    for path, tree in trees.items():
        for node, name in calls(tree, "from_pretrained", "from_config") if path[:8] == "pubmill/" else ():
            given: dict[Any, Any] = {one.arg: getattr(one.value, "value", None) for one in node.keywords}
            assert given["trust_remote_code"] is False, path
            assert name == "from_config" or given["local_files_only"] is True, path
            assert given.get("use_safetensors", True) or given["weights_only"] is True, path
            formats.setdefault(path, set()).update({given.get("use_safetensors")} - {None})
    assert formats == LOADING
