"""A release's version is the same everywhere, and the forge's files run what is there."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import pubmill


def test_all_files_name_the_same_version(root: Path) -> None:
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert pubmill.__version__ == version
    assert yaml.safe_load((root / "CITATION.cff").read_text())["version"] == version
    assert f"\n## [{version}] - " in (root / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("name", ["ci", "release"])
def test_the_forge_runs_targets_of_the_makefile(root: Path, name: str) -> None:
    workflow = yaml.safe_load((root / f".github/workflows/{name}.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    asked = {
        word for step in steps for word in re.findall(r"^make (\S+)$", step.get("run", ""), re.MULTILINE)
    }
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    assert asked and asked <= targets


def test_the_workflow_catalogue_finds_what_it_asks_for(root: Path) -> None:
    settings = yaml.safe_load((root / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(settings) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(settings["mandatory-flags"]) == {"desc", "flags"}
    readme = (root / "README.md").read_text().lower()
    assert "snakemake" in readme and "workflow" in readme
    assert (root / "workflow/Snakefile").is_file() and (root / "config/README.md").is_file()
