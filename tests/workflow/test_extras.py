"""A project without an extra: its folder, its rules file and its tests are all that belongs to it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from pubmill import extras
from tests.waiting import patience
from tests.workflow.conftest import CODE

NAMES = sorted(path.name for path in Path(extras.__path__[0]).iterdir() if (path / "__init__.py").is_file())
GRAPH = """
from pubmill.cli.app import VERBS
from pubmill.cli.studies import configured_graph

graph = configured_graph("demo", None, None)
print(len(graph.publication.everything()), *VERBS["Papers"])
"""


def project_without(root: Path, world: Path, folder: Path, names: Iterable[str]) -> Path:
    """Copy the checkout's code without these extras; `world`: its mirror."""
    (folder / "tests/world").mkdir(parents=True)
    (folder / "tests/world/mirror").symlink_to(world)
    for name in CODE:
        path, copy = root / name, folder / name
        if name in ("pubmill", "rules"):
            shutil.copytree(path, copy, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.is_dir():
            copy.symlink_to(path)
        else:
            shutil.copy(path, copy)
    for name in names:
        shutil.rmtree(folder / "pubmill/extras" / name)
        (folder / "rules/extras" / f"{name}.smk").unlink(missing_ok=True)
    return folder


def run(folder: Path, *words: str) -> str:
    command = [sys.executable, *words]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=patience(1200)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_each_rules_file_belongs_to_an_extra(root: Path) -> None:
    assert {path.stem for path in (root / "rules/extras").glob("*.smk")} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_graph_is_built_without_an_extra(root: Path, world: Path, tmp_path: Path, name: str) -> None:
    targets, *papers = run(project_without(root, world, tmp_path, [name]), "-c", GRAPH).split()
    assert int(targets) > 50 and ("check" in papers) == (name != "manuscript")


def test_the_jobs_of_the_demo_are_planned_without_extras(root: Path, world: Path, tmp_path: Path) -> None:
    folder = project_without(root, world, tmp_path, NAMES)
    planned = run(folder, "-m", "snakemake", "--profile", "profiles/local", "-n", "--quiet", "rules")
    jobs = dict(re.findall(r"^([a-z_]+) +(\d+)$", planned, re.MULTILINE))
    assert {"finetune", "table", "report"} <= jobs.keys() and "checklist" not in jobs
