"""Checkpoints: damage is noticed and named, and saves are written while the training goes on."""

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from pubmill.errors import PubmillError
from pubmill.pretraining import checkpoints
from pubmill.pretraining.checkpoints import BackgroundSaves, Snapshot, partials, verified, write_partial
from pubmill.pretraining.engine import Pretraining
from pubmill.storage.files import read_json, sealed, sha256, write_json
from pubmill.storage.result_paths import CHECKPOINT_FILES
from tests.unit.pretraining.toy_interrupts import interrupted
from tests.unit.pretraining.toy_pretraining import log, losses, pretrain, weights
from tests.waiting import patience

STEPS = 12
WEIGHTS = ("model.safetensors", "auxiliary.safetensors", "optimizer.safetensors")
NAMES = (*WEIGHTS, "log.jsonl", "state.json")


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(data, tmp_path_factory.mktemp("whole") / "step-12", STEPS)


def test_each_line_of_the_log_has_its_keys_in_order(whole: Path) -> None:
    lines = [list(json.loads(line)) for line in (whole / "log.jsonl").read_text().splitlines()]
    assert lines and all(line == sorted(line) for line in lines)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def broadcast(path: Path) -> None:
    """Tensors whose first axis is gone but for one; the digests agree with it, as those of older saves that
    have none."""
    tensors = load_file(path).items()
    save_file({name: tensor[:1].clone() if tensor.dim() else tensor for name, tensor in tensors}, path)
    state = read_json(path.parent / "state.json")
    state["files"] = {name: sha256(path.parent / name) for name in state["files"]}
    write_json(path.parent / "state.json", sealed(state))


@pytest.fixture(scope="module")
def two_saves(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is left of a segment that was ended at step 10, after its saves at each step before."""
    folder = tmp_path_factory.mktemp("two")
    saved = interrupted(data, folder / "step-12", STEPS, at=10, save_minutes=0)
    assert {path.name for path in saved.parent.iterdir()} == {"step-9", "step-10"}
    return folder


@pytest.mark.parametrize(
    ("name", "harm", "damaged"),
    [
        ("optimizer.safetensors", flip, (10,)), ("model.safetensors", cut, (10,)),
        ("log.jsonl", empty, (10,)), ("state.json", Path.unlink, (10,)),
        ("model.safetensors", empty, (9, 10)),
    ],
)  # fmt: skip
def test_a_damaged_last_save_is_named_and_what_was_before_it_continued(
    data: Path, whole: Path, two_saves: Path, tmp_path: Path, capsys: Any, name: str, harm: Any, damaged: Any
) -> None:
    """The save before it or, if that is damaged too, nothing."""
    shutil.copytree(two_saves, tmp_path, dirs_exist_ok=True)
    for number in damaged:
        harm(tmp_path / f".step-12.partial/step-{number}" / name)
    output = pretrain(data, tmp_path / "step-12", STEPS)
    said = capsys.readouterr().err
    assert str(tmp_path / ".step-12.partial/step-10") in said and name in said
    expected = ("the save before it is continued" in said, "going on from the last save, step 9" in said)
    assert expected == (True, damaged == (10,)) and ("going on from" in said) == expected[1]
    assert weights(output) == weights(whole) and losses(output) == losses(whole)


def lacks_inputs(path: Path) -> None:
    state = read_json(path)
    write_json(path, {name: value for name, value in state.items() if name not in ("inputs", "step")})


DAMAGED = r"(:\d+)?( is damaged|: not valid JSON)"


@pytest.mark.parametrize(
    ("name", "harm", "fault"),
    [
        *((name, flip, f"step-12/{name}{DAMAGED}") for name in NAMES),
        *((name, empty, f"step-12/{name}{DAMAGED}") for name in NAMES),
        *((name, broadcast, rf"{name}: .* of shape \[1.*, expected .* of shape \[") for name in WEIGHTS[::2]),
        *((name, Path.unlink, f"step-12 is damaged: it lacks {name}") for name in CHECKPOINT_FILES),
        ("state.json", lambda path: write_json(path, []), r"state\.json is damaged: it is without average, "),
        ("state.json", lacks_inputs, r"state\.json is damaged: it is without inputs, step\. "),
    ],
)
def test_a_damaged_checkpoint_is_an_error_with_its_name(
    data: Path, whole: Path, tmp_path: Path, name: str, harm: Any, fault: str
) -> None:
    start = shutil.copytree(whole, tmp_path / "step-12")
    harm(start / name)
    with pytest.raises(PubmillError, match=fault):
        verified(start)
        pretrain(data, tmp_path / "step-40", 40, start)


WRITE = write_partial


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
    output = pretrain(data, tmp_path / "step-12", STEPS, save_minutes=0)
    assert weights(output) == weights(whole) and threads == [False]
    [saved] = partials(output)
    assert weights(saved) == weights(pretrain(data, tmp_path / "step-1", 1))
    assert log(saved) == [line for line in log(saved) if line["step"] <= 1]


def test_a_save_that_cannot_be_written_stops_the_run(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(output: Path, found: Snapshot) -> None:
        if found.state["step"] == 3:
            raise PubmillError("no space left on the disk")
        WRITE(output, found)

    monkeypatch.setattr(checkpoints, "write_partial", full)
    output = tmp_path / "step-12"
    with pytest.raises(PubmillError, match="no space left"):
        pretrain(data, output, STEPS, save_minutes=0)
    assert partials(output)[0].name == "step-2" and not output.exists()
    assert not any(thread.name.startswith("save") for thread in threading.enumerate())
