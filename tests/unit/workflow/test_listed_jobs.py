"""The kept list of a study's jobs: read only while no file changed that decides them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pubmill.planning.plan import Job
from pubmill.workflow.listed_jobs import FOLDER, KEPT, RECORDED, jobs_of_study


class Counted:
    """A graph that is built anew at each call."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, root: Path, config: Mapping[str, Any], targets: Sequence[str]) -> list[Job]:
        self.built += 1
        return [Job("score", {"seed": str(self.built)}, True, "not made yet")]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("specs", "rules", "results/small", "mine", "mirror", *map(str, RECORDED)):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("one")
    return tmp_path


def config(**more: Any) -> dict[str, Any]:
    return {
        "scale": "small",
        "results": "results",
        "local_files": {"mine": "mine"},
        "mirror": "mirror",
        **more,
    }


def test_an_unchanged_checkout_answers_from_the_list(checkout: Path) -> None:
    find = Counted()
    first = jobs_of_study(checkout, config(), find=find)
    assert (
        jobs_of_study(checkout, config(), find=find)
        == first
        == [Job("score", {"seed": "1"}, True, "not made yet")]
    )
    jobs_of_study(checkout, config(), ["a.html"], find)
    jobs_of_study(checkout, config(mirror=None), find=find)
    assert find.built == 3


@pytest.mark.parametrize("place", ["specs", "rules", "results/small", "mine", "mirror", *map(str, RECORDED)])
@pytest.mark.parametrize("change", ["written", "touched", "added", "removed"])
def test_every_change_that_may_rerun_a_job_builds_the_graph_again(
    checkout: Path, place: str, change: str
) -> None:
    find, file = Counted(), checkout / place / "file"
    jobs_of_study(checkout, config(), find=find)
    if change == "written":
        file.write_text("other")
    elif change == "touched":
        os.utime(file, ns=(1, 1))
    elif change == "added":
        (file.parent / "deeper").mkdir()
        (file.parent / "deeper/more").touch()
    else:
        file.unlink()
    jobs_of_study(checkout, config(), find=find)
    assert find.built == 2


def test_a_list_made_while_results_changed_is_not_kept(checkout: Path) -> None:
    def find(root: Path, config: Mapping[str, Any], targets: Sequence[str]) -> list[Job]:
        (checkout / "results/small/new").touch()
        return []

    jobs_of_study(checkout, config(), find=find)
    assert not FOLDER.exists()


def test_only_the_newest_lists_are_kept(checkout: Path) -> None:
    for number in range(KEPT + 3):
        jobs_of_study(checkout, config(), [str(number)], Counted())
    assert len(list(FOLDER.iterdir())) == KEPT
