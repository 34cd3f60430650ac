"""Files of the user's own count by their content, and the checkout may move (reruns.md)."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.licensed import FILES, KEY, NAME, add_spec, write_files
from tests.workflow.conftest import Planning, Project, copy_of
from tests.workflow.test_reruns import jobs_by_change

pytestmark = pytest.mark.long

CORPUS = """\
name: own
sources:
  - {name: web, kind: text, local: web-key, files: "*.txt", documents: line, language: eng}
selection: {min_words: 1}
"""
MODEL = "name: mine\nlowercase: true\nweights: {kind: folder, local: mine-key}\n"
TARGETS = (
    f"results/demo/datasets/{NAME}/card.json",
    "results/demo/corpora/parsed/blocks/web/page.json",
    "results/demo/models/mine/config.json",
)
KEYS = {KEY: "secret", "web-key": "web", "mine-key": "mine"}


@pytest.fixture(scope="module")
def owning(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Planning:
    """A finished project with a dataset, corpus and model from the user's own files, in `own` beside it."""
    base = tmp_path_factory.mktemp("moves")
    made = copy_of(finished, base / "checkout")
    specs, own = made.folder / "specs", base / "own"
    add_spec(specs)
    (specs / "corpora/own.yaml").write_text(CORPUS)
    (specs / "models/mine.yaml").write_text(MODEL)
    write_files(own / "secret")
    (own / "web").mkdir()
    (own / "web/page.txt").write_text("A document.\nAnother one.\n")
    shutil.copytree(made.folder / "results/demo/models/no-pretraining", own / "mine")
    made.edit("config.yaml", "local_files: {} ", f"local_files: {places(own)} ")
    made.run("--", *TARGETS)
    return Planning(made.folder, python=made.python)


def places(own: Path) -> str:
    return "{" + ", ".join(f"{key}: {own / folder}" for key, folder in KEYS.items()) + "}"


@pytest.fixture
def own(owning: Planning) -> Iterator[Path]:
    """The user's folder, which is restored afterwards."""
    folder, config = owning.folder.parent / "own", owning.folder / "config.yaml"
    kept, text = folder.with_name("kept"), config.read_text()
    shutil.copytree(folder, kept, copy_function=shutil.copy2)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
    kept.rename(folder)
    config.write_text(text)


def point_to(project: Project, before: Path, now: Path) -> None:
    project.edit("config.yaml", places(before), places(now))


def test_where_files_of_ones_own_lie_reruns_nothing(owning: Planning, own: Path, root: Path) -> None:
    reported = jobs_by_change(root)
    assert owning.planned(*TARGETS) == {}
    moved = own.with_name("elsewhere")
    own.rename(moved)
    point_to(owning, own, moved)
    assert owning.planned(*TARGETS) == reported["a folder of your own that moved"]
    shutil.copytree(moved, own, copy_function=shutil.copy)  # with the current time
    point_to(owning, moved, own)
    assert owning.planned(*TARGETS) == reported["a folder of your own that was copied"]
    shutil.rmtree(moved)


def test_files_in_the_mirror_are_those_of_local_files(owning: Planning, own: Path, world: Path) -> None:
    mirror = own.with_name("mirror")
    shutil.copytree(world, mirror, symlinks=True)
    for key, folder in KEYS.items():
        shutil.copytree(own / folder, mirror / "local" / key)
    owning.edit("config.yaml", f"local_files: {places(own)}", "local_files: {}")
    owning.edit("config.yaml", f"mirror: {world}", f"mirror: {mirror}")
    assert owning.planned(*TARGETS) == {}
    shutil.rmtree(mirror)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        (f"secret/{FILES['dev']}", "the content of a dataset's own file"),
        ("web/page.txt", "the content of a corpus's own file"),
        ("mine/model.safetensors", "the weights in a model's own folder"),
    ],
)
def test_what_they_hold_reruns_what_is_made_of_it(
    owning: Planning, own: Path, root: Path, file: str, change: str
) -> None:
    """Also if size and time are the same as before."""
    before = (own / file).stat()
    with (own / file).open("r+b") as content:
        content.seek(-2, os.SEEK_END)
        content.write(b"#")
    os.utime(own / file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert owning.planned(*TARGETS) == jobs_by_change(root)[change]


def test_a_checkout_that_moves_with_its_results_reruns_nothing(
    owning: Planning, own: Path, root: Path
) -> None:
    moved = owning.folder.with_name("moved checkout")
    owning.folder.rename(moved)
    try:
        there = replace(owning, folder=moved)
        assert there.planned(*TARGETS) == jobs_by_change(root)["the checkout that moved, with its results"]
        assert there.planned("results/demo/tables/demo/gu2020-table02.html") == {}
    finally:
        moved.rename(owning.folder)
