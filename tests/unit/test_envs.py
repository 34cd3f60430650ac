"""The conda environments match the lock, and have the packages that the programs of their rules import."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from pubmill.stages.stage import stages
from tests.envs import ENVS, closure, dependents, file_of, pins, stale
from tests.imports import imported, reached

CALLED = {
    "yaml": "pyyaml", "google": "protobuf", "jinja2": "jinja2", "huggingface_hub": "huggingface-hub",
    "pubmed_parser": "pubmed-parser", "pydantic_core": "pydantic-core", "sklearn": "scikit-learn",
}  # fmt: skip
"""Modules whose names differ from their packages' names."""
OPTIONAL = {"tensorboard", "triton"}
"""Packages that are used where they are: PyTorch's builds for GPUs bring triton."""


def rules(root: Path) -> list[tuple[str, str]]:
    """Return name and environment of every rule."""
    text = "".join(path.read_text() for path in sorted((root / "rules").rglob("*.smk")))
    found = []
    for block in re.split(r"(?m)^rule ", text)[1:]:
        rule, env = re.match(r"\w+(?=:)", block), re.search(r"envs/(\w+)\.yaml", block)
        if rule:
            assert env, block
            found.append((rule[0], env[1]))
    return found


def test_the_files_are_as_the_lock_says() -> None:
    assert stale() == [], "write them with `python -m tests.envs --write`"


@pytest.mark.parametrize("name", ENVS)
def test_an_environment_is_whole_and_pinned(name: str) -> None:
    made = yaml.safe_load(file_of(name).read_text())
    (pip,) = [one["pip"] for one in made["dependencies"] if isinstance(one, dict)]
    versions = dict(line.split("==") for line in pip)
    assert versions.items() <= pins().items()
    for package, parents in dependents().items():
        assert package in versions or not parents & versions.keys(), f"{package} is asked for"


def test_what_is_asked_for_is_read_from_the_lock() -> None:
    assert "pydantic" in dependents()["annotated-types"]
    assert {"pydantic-core", "annotated-types"} <= set(closure(["pydantic"]))
    assert "torch" not in closure(ENVS["data"]) and "torch" in closure(ENVS["training"])


def test_every_rule_has_an_environment_with_what_its_program_imports(root: Path) -> None:
    found = rules(root)
    assert len(found) > 30
    for rule, env in found:
        known = {*closure(ENVS[env]), *OPTIONAL, "pubmill"}
        for path in reached(root, [root / stages()[rule].program]):
            tops = {module.split(".")[0] for module in imported(path)} - sys.stdlib_module_names
            needs = {CALLED.get(top, top) for top in tops}
            lacking = sorted(needs - known)
            assert not lacking, f"{rule}: {path} imports {lacking}, which envs/{env}.yaml lacks"
