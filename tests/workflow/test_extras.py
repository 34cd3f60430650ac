"""A project without an extra: its folder, its rules file and its tests are all that belongs to it."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill import extras
from tests.imports import imported
from tests.workflow.conftest import ended, make_project

NAMES = sorted(path.name for path in Path(extras.__path__[0]).iterdir() if (path / "__init__.py").is_file())
CORE_TESTS = (
    *("cli", "library", "messages", "planning", "stages"),
    *("test_envs.py", "test_imports.py", "test_names.py"),
)
"""Unit tests of what finds extras: verbs, stages and rules. The demo, which runs without them too, makes
tables and report; the other rooms do not know them (test_imports)."""


def remove_extras(folder: Path) -> None:
    """Remove extras and their rules from a copy, and what its studies ask them for."""
    for name in NAMES:
        shutil.rmtree(folder / "pubmill/extras" / name)
        (folder / "rules/extras" / f"{name}.smk").unlink(missing_ok=True)
        shutil.rmtree(folder / "tests/unit/extras" / name, ignore_errors=True)
        for study in (folder / "studies").glob("*.yaml"):
            text = study.read_text(encoding="utf-8")
            study.write_text(re.sub(rf"(?m)^extras: .*\b{name}\b.*\n", "", text), encoding="utf-8")


def test_each_rules_file_belongs_to_an_extra(root: Path) -> None:
    assert {path.stem for path in (root / "rules/extras").glob("*.smk")} <= set(NAMES)


def test_tests_of_the_core_import_no_extra(root: Path) -> None:
    own = ("pubmill.extras.", "tests.unit.extras.")
    for folder in ("tests/unit", "tests/attack"):
        for path in (root / folder).rglob("*.py"):
            if root / "tests/unit/extras" not in path.parents:
                assert [name for name in imported(path) if name.startswith(own)] == [], path


def test_the_jobs_of_the_demo_are_planned_without_extras(
    root: Path, world: Path, tmp_path: Path, python: str
) -> None:
    project = make_project(root, world, tmp_path)
    remove_extras(project.folder)
    jobs = replace(project, python=python).planned()
    assert {"finetune", "table", "report"} <= jobs.keys() and "audit" not in jobs


@pytest.mark.long
@pytest.mark.weekly
def test_the_demo_runs_without_extras(root: Path, world: Path, tmp_path: Path, python: str) -> None:
    project = replace(make_project(root, world, tmp_path), python=python)
    remove_extras(project.folder)
    project.run()
    results = project.folder / "results/demo"
    cells = json.loads((results / "tables/demo/gu2020-table06.json").read_text())["cells"]
    assert cells["pubmedbert-base"]["bc5-chem"]["value"] is not None
    assert {path.name for path in (results / "reports").iterdir()} == {"demo.html", "demo.sha256"}


@pytest.mark.long
@pytest.mark.weekly
def test_the_cores_unit_tests_pass_without_extras(root: Path, world: Path, tmp_path: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, tmp_path / name)
    (tmp_path / "tests/world/mirror").symlink_to(world)
    remove_extras(tmp_path)
    tests = [f"tests/unit/{name}" for name in CORE_TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "not long", "-p", "no:cacheprovider"]
    ended([*command, *tests], tmp_path)
