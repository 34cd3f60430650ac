"""A release has one version everywhere; files of the forge and targets of the Makefile run what is there."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import pubmill

OTHERWISE = {"duckdb": "python-duckdb", "isal": "python-isal", "snakemake": "snakemake-minimal"}
"""Package -> its name in conda's channels, where it differs."""


def test_all_files_name_the_same_version(root: Path) -> None:
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert pubmill.__version__ == version
    assert yaml.safe_load((root / "CITATION.cff").read_text())["version"] == version
    recipe = yaml.safe_load((root / "recipe/recipe.yaml").read_text())
    assert recipe["context"]["version"] == version
    assert f"\n## [{version}] - " in (root / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("name", ["ci", "release"])
def test_the_forge_runs_targets_of_the_makefile(root: Path, name: str) -> None:
    workflow = yaml.safe_load((root / f".github/workflows/{name}.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    runs = (step.get("run", "") for step in steps)
    asked = {word for text in runs for word in re.findall(r"^make (\S+)$", text, re.MULTILINE)}
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    assert asked and asked <= targets


def test_a_release_attaches_what_is_built_and_only_publishing_gets_an_identity(root: Path) -> None:
    jobs = yaml.safe_load((root / ".github/workflows/release.yml").read_text())["jobs"]
    assert {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})} == {"publish"}
    assert {name for name, job in jobs.items() if job.get("needs") != "build"} == {"build"}
    stored = [step["with"]["path"] for step in jobs["build"]["steps"] if "upload" in step.get("uses", "")]
    assert stored == ["results/dist/", "results/sbom.cdx.json"]
    assert "files/*" in jobs["release"]["steps"][-1]["run"]
    builds = jobs["images"]["strategy"]["matrix"]["build"]
    assert all(re.search(rf"^ +{build}\) ", (root / "Dockerfile").read_text(), re.M) for build in builds)
    text = (root / ".github/workflows/release.yml").read_text()
    assert not re.search(r"password: (?!\$\{\{ github\.token)|secrets\.", text)


def test_the_conda_recipe_has_the_requirements_of_the_package(root: Path) -> None:
    """It was rendered by rattler-build 0.73 (py-rattler-build)."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    recipe = yaml.safe_load((root / "recipe/recipe.yaml").read_text())
    python, *run = recipe["requirements"]["run"]
    assert python == f"python {project['requires-python']}"
    assert [one.replace(" ", "") for one in run] == [
        OTHERWISE.get(name := re.split(r"[=<>]", one)[0], name.lower()) + one.removeprefix(name)
        for one in project["dependencies"]
    ]
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {function}" for name, function in project["scripts"].items()
    ]
    assert recipe["about"]["summary"] == project["description"]


def test_the_workflow_catalogue_finds_what_it_asks_for(root: Path) -> None:
    settings = yaml.safe_load((root / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(settings) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(settings["mandatory-flags"]) == {"desc", "flags"}
    readme = (root / "README.md").read_text().lower()
    assert "snakemake" in readme and "workflow" in readme
    assert (root / "workflow/Snakefile").is_file() and (root / "config/README.md").is_file()


FROM_MAKE = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "ROOM", "BENCH", "LONG"}


def planned(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What `make` would run, as if called by hand: a `make` that runs the tests hands its flags on."""
    by_hand = {name: value for name, value in os.environ.items() if name not in FROM_MAKE}
    return subprocess.run(
        ["make", "--dry-run", *arguments], cwd=root, env=by_hand, capture_output=True, text=True, check=False
    )


def test_a_room_is_tested_alone(root: Path) -> None:
    one, two = planned(root, "test", "ROOM=corpus"), planned(root, "test", "ROOM=corpus vocabs")
    assert one.stdout.endswith("tests/unit/corpus\n")
    assert two.stdout.endswith("tests/unit/corpus tests/unit/vocabs\n")
    assert "tests/unit" not in planned(root, "test").stdout


def test_numeric_tests_run_twice_unless_a_room_is_tested_alone(root: Path) -> None:
    runs = planned(root, "test-all").stdout.split("-m pytest")[1:]
    assert len(runs) == 2 and "assert_close tests" in runs[0] and "tests/unit" not in runs[1]
    assert planned(root, "test-all", "ROOM=corpus").stdout.count("-m pytest") == 1
    [long] = planned(root, "test", "LONG=1").stdout.split("-m pytest")[1:]
    assert '-m "not weekly"' in long


@pytest.mark.parametrize("room", ["", "corpsu", "corpus corpsu", "test_docs.py"])
def test_an_unknown_room_is_reported_with_all_rooms(root: Path, room: str) -> None:
    refused = planned(root, "test", f"ROOM={room}")
    assert refused.returncode != 0 and not refused.stdout
    rooms = [path.name for path in sorted((root / "tests/unit").iterdir()) if any(path.rglob("test_*.py"))]
    assert f"ROOM={room}: expected one or more of {' '.join(rooms)}." in refused.stderr


def test_benchmarks_are_the_programs_of_their_page(root: Path) -> None:
    [names] = re.findall(r"for name in (.*); do", planned(root, "bench").stdout)
    page = (root / "benchmarks/README.md").read_text()
    assert sorted(names.split()) == sorted(re.findall(r"(?m)^\| `(\w+)\.py` \|", page))
    assert "for name in medline; do" in planned(root, "bench", "BENCH=medline").stdout
    assert "expected one or more of baseline" in planned(root, "bench", "BENCH=medlin").stderr
