"""The wheel, built from the source distribution without a network and installed apart from the checkout: what
runs without a clone."""

import os
import shutil
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from pubmill.hardware.provenance import COMMIT
from pubmill.messages.installation import DATA, FILES, MODULES, OWN
from tests.workflow.conftest import ended

pytestmark = pytest.mark.long
BUILD = ("README.md", "pyproject.toml", "setup.py")
MADE_OF = f"{'5' * 40}\n"
MADE = shutil.ignore_patterns("__pycache__", "mirror", "*.egg-info")
COUNTS = "results/demo/tables/demo/gu2020-table03.html"


def run(*words: str | Path, folder: Path) -> str:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return ended(words, folder, **own)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the source distribution of a copy of what belongs to it, with stale files of an earlier
    build."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in (*BUILD, *MODULES, *FILES, *OWN):
        target = folder / "source" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (DATA / name).is_dir():
            shutil.copytree(DATA / name, target, ignore=MADE)
        else:
            shutil.copyfile(DATA / name, target)
    for stale in ("_data/specs/models/gone.yaml", "gone.py"):
        path = folder / "source/build/lib/pubmill" / stale
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (folder / "source" / COMMIT).write_text(MADE_OF)
    build = f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"
    run(sys.executable, "-c", build, folder=folder / "source")
    [source] = folder.glob("*.tar.gz")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation")
    run(*pip, "--wheel-dir", folder, source, folder=folder)
    [found] = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def command(wheel: Path) -> Path:
    """`pubmill` of an environment with the wheel, and the packages of this one without the checkout and
    without torch, which nothing here needs."""
    environment = wheel.parent / "environment"
    venv.create(environment, symlinks=True)
    python = environment / "bin/python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index")
    run(*pip, wheel, folder=wheel.parent)
    [site] = environment.glob("lib/*/site-packages")
    others = [path for path in sys.path if path.endswith("-packages")]
    (site / "others.pth").write_text("\n".join(others))
    (site / "torch.py").write_text("raise ImportError('this environment has no torch')\n")
    return environment / "bin/pubmill"


@pytest.fixture(scope="module")
def workspace(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("anywhere")
    run(command, "init", "w", folder=folder)
    return folder / "w"


def test_the_wheel_has_all_files_of_the_package_and_its_data(wheel: Path) -> None:
    inside = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    source = wheel.parent / "source"
    modules = {
        path.relative_to(source).as_posix()
        for name in MODULES
        for path in (source / name).rglob("*.*")
        if path.is_file() and path.parent.name != "__pycache__"  # of the build itself
    }
    expected = {
        f"pubmill/_data/{path.relative_to(source).as_posix()}"
        for name in (*FILES, *OWN)
        for path in ([source / name] if (source / name).is_file() else (source / name).rglob("*"))
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert inside == modules | expected | {f"pubmill/_data/{COMMIT}"}
    assert ZipFile(wheel).read(f"pubmill/_data/{COMMIT}").decode() == MADE_OF


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "tables"), "gu2020/table06 "),
        (("doctor", "demo", "--offline"), " of 2 models of the study"),
        pytest.param(("plan", "demo"), "jobs", marks=pytest.mark.weekly),
        pytest.param(("audit", "gu2020/table06"), "gu2020/table06", marks=pytest.mark.weekly),
    ],
)
def test_verbs_find_what_the_package_has(
    command: Path, workspace: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in run(command, *words, folder=workspace)


def test_a_table_is_made_and_predictions_are_scored(command: Path, workspace: Path) -> None:
    """A dataset is converted; neither this nor scores need torch. An own spec takes the place of pubmill's:
    its job runs again, and nothing else does; without it, as before."""
    made = (command, "run", "demo", "gu2020/table03", "--config", "datasets=[ncbi-disease]")
    run(*made, folder=workspace)
    assert (workspace / COUNTS).is_file()
    results = ("--results", "results/demo")
    run(command, "export", "ncbi-disease", "exported", *results, folder=workspace)
    scored = run(
        command, "score", "exported/test.tsv", "--dataset", "ncbi-disease", *results, folder=workspace
    )
    assert "entity_f1 100.00" in scored
    name = "specs/tables/gu2020/table03.yaml"
    shipped = workspace / ".pubmill" / name
    [title] = [line for line in shipped.read_text().splitlines() if line.startswith("title:")]
    (workspace / name).parent.mkdir(parents=True)
    (workspace / name).write_text(shipped.read_text().replace(title, "title: A title of one's own"))
    said = run(*made, folder=workspace)
    assert f"in place of pubmill's own: {name}" in said and "1 of 1 jobs done" in said
    assert "A title of one&#39;s own" in (workspace / COUNTS).read_text()
    (workspace / name).unlink()
    assert "1 job would run" in run(*made, "-n", folder=workspace)
