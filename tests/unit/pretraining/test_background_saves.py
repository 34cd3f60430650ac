"""Saves that a thread writes while the training goes on: what they hold, faults, and kills between."""

import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.pretraining import checkpoints
from pubmill.pretraining.checkpoints import BackgroundSaves, Snapshot, partials, write_partial
from pubmill.pretraining.engine import Pretraining
from tests.unit.pretraining.test_distributed import disturbed
from tests.unit.pretraining.toy_pretraining import RECIPE, log, pretrain, weights
from tests.waiting import patience

WRITE = write_partial
STEPS = 8


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(data, tmp_path_factory.mktemp("whole") / "step-8", STEPS)


def test_a_save_holds_its_step_while_the_training_goes_on(
    data: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first save is written only after two more steps, which change all weights."""
    went_on, update, threads = threading.Event(), Pretraining.update, list[bool]()

    def updating(self: Pretraining, step: int) -> dict[str, float]:
        sums = update(self, step)
        if step == 2:
            went_on.set()
        return sums

    def late(output: Path, found: Snapshot) -> None:
        threads.append(threading.current_thread() is threading.main_thread())
        assert went_on.wait(patience(60))
        WRITE(output, found)

    monkeypatch.setattr(Pretraining, "update", updating)
    monkeypatch.setattr(checkpoints, "write_partial", late)
    save = BackgroundSaves.save
    # Due after each step: the second save would wait for the first, which waits for the third step.
    monkeypatch.setattr(
        BackgroundSaves, "save", lambda self, *given: save(self, *given) if given[1].step == 1 else None
    )
    monkeypatch.setattr("pubmill.pretraining.checkpoints.remove_partial", lambda output: None)
    output = pretrain(data, tmp_path / "step-8", STEPS, save_minutes=0)
    assert weights(output) == weights(whole) and threads == [False]
    [saved] = partials(output)
    assert weights(saved) == weights(pretrain(data, tmp_path / "step-1", 1))
    assert log(saved) == [line for line in log(saved) if line["step"] <= 1]


@pytest.mark.long
def test_killed_while_a_save_is_written_the_one_before_is_continued(
    data: Path, whole: Path, tmp_path: Path, capsys: Any, python: str
) -> None:
    output = tmp_path / "step-8"
    command = disturbed(python, "killed", data, output, RECIPE)
    assert subprocess.run(command, timeout=patience(120)).returncode == 128 + signal.SIGKILL
    assert [path.name for path in partials(output)] == ["step-2", "step-1"]
    pretrain(data, output, STEPS)
    assert "going on from step 2" in capsys.readouterr().err
    assert weights(output) == weights(whole)


def test_a_save_that_cannot_be_written_stops_the_run(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(output: Path, found: Snapshot) -> None:
        if found.state["step"] == 3:
            raise PubmillError("no space left on the disk")
        WRITE(output, found)

    monkeypatch.setattr(checkpoints, "write_partial", full)
    output = tmp_path / "step-8"
    with pytest.raises(PubmillError, match="no space left"):
        pretrain(data, output, STEPS, save_minutes=0)
    assert partials(output)[0].name == "step-2" and not output.exists()
    assert not any(thread.name.startswith("save") for thread in threading.enumerate())
