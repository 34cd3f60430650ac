"""Checkpoints: two of a running segment, and what is damaged in one is noticed and named."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.pretraining import checkpoints
from pubmill.pretraining.engine import Pretraining
from pubmill.storage.files import read_json, sealed, sha256, write_json
from pubmill.storage.result_paths import CHECKPOINT_FILES
from tests.unit.pretraining.toy_pretraining import losses, pretrain, weights


def test_each_line_of_the_log_has_its_keys_in_order(whole: Path) -> None:
    lines = [list(json.loads(line)) for line in (whole / "log.jsonl").read_text().splitlines()]
    assert lines and all(line == sorted(line) for line in lines)


def test_the_last_two_saves_are_kept(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "remove_partial", lambda output: None)
    pretrain(data, tmp_path / "step-6", 6, save_minutes=0)
    assert sorted(path.name for path in (tmp_path / ".step-6.partial").iterdir()) == ["step-4", "step-5"]


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def broadcast(path: Path) -> None:
    """Tensors whose first axis is gone but for one; the digests agree with it, as those of older saves that
    have none."""
    tensors = load_file(path)
    save_file(
        {name: tensor[:1].clone() if tensor.dim() else tensor for name, tensor in tensors.items()}, path
    )
    reseal(path.parent)


def reseal(folder: Path, **changes: Any) -> None:
    """Have a checkpoint's state agree with its files."""
    value = read_json(folder / "state.json") | changes
    value["files"] = {name: sha256(folder / name) for name in value["files"]}
    write_json(folder / "state.json", sealed(value))


def empty(path: Path) -> None:
    path.write_bytes(b"")


NAMES = ("model.safetensors", "auxiliary.safetensors", "optimizer.safetensors", "log.jsonl", "state.json")


@pytest.fixture(scope="module")
def two_saves(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is left of a segment that was ended at step 30, after its save at step 29."""
    output = tmp_path_factory.mktemp("two") / "step-40"
    update = Pretraining.update

    def stop(self: Pretraining, step: int) -> dict[str, float]:
        if step + 1 == 30:
            os.kill(os.getpid(), signal.SIGTERM)
        return update(self, step)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(StopRequestedError):
        patch.setattr(Pretraining, "update", stop)
        pretrain(data, output, 40, save_minutes=0)
    return output.parent


@pytest.mark.parametrize(
    "name, harm",
    [
        *((name, flip) for name in NAMES),
        ("model.safetensors", cut),
        ("log.jsonl", empty),
        ("state.json", Path.unlink),
    ],
)
def test_a_damaged_last_save_is_named_and_the_one_before_is_continued(
    data: Path, whole: Path, two_saves: Path, tmp_path: Path, capsys: Any, name: str, harm: Any
) -> None:
    shutil.copytree(two_saves, tmp_path, dirs_exist_ok=True)
    last = tmp_path / ".step-40.partial" / "step-30"
    harm(last / name)
    output = pretrain(data, tmp_path / "step-40", 40)
    said = capsys.readouterr().err
    assert str(last) in said and name in said and "the save before it is continued" in said
    assert "going on from step 29" in said
    assert weights(output) == weights(whole) and losses(output) == losses(whole)


def test_where_both_saves_are_damaged_the_segment_begins_anew(
    data: Path, whole: Path, two_saves: Path, tmp_path: Path, capsys: Any
) -> None:
    shutil.copytree(two_saves, tmp_path, dirs_exist_ok=True)
    for number in (29, 30):
        empty(tmp_path / ".step-40.partial" / f"step-{number}" / "model.safetensors")
    output = pretrain(data, tmp_path / "step-40", 40)
    assert weights(output) == weights(whole)
    assert "going on from" not in capsys.readouterr().err


@pytest.fixture(scope="module")
def short(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two steps."""
    return pretrain(data, tmp_path_factory.mktemp("short") / "step-2", 2)


@pytest.mark.parametrize(
    ("name", "harm", "fault"),
    [
        *((name, flip, r"(:\d+)?( is damaged|: not valid JSON)") for name in NAMES),
        *((name, empty, r"(:\d+)?( is damaged|: not valid JSON)") for name in NAMES),
        *((name, broadcast, r": .* of shape \[1.*\], expected .* of shape \[") for name in NAMES[::2][:2]),
    ],
)
def test_a_damaged_checkpoint_is_an_error_with_its_name(
    data: Path, short: Path, tmp_path: Path, name: str, harm: Any, fault: str
) -> None:
    start = shutil.copytree(short, tmp_path / "step-2")
    harm(start / name)
    with pytest.raises(PubmillError, match=f"step-2/{name}{fault}"):
        pretrain(data, tmp_path / "step-4", 4, start)


def kept(folder: Path, value: Any) -> Path:
    """A folder with all files of a checkpoint, empty but for its state."""
    folder.mkdir()
    for name in CHECKPOINT_FILES:
        (folder / name).write_bytes(b"")
    write_json(folder / "state.json", value)
    return folder


STANDS: dict[str, Any] = {"recipe": {}, "inputs": {}, "files": {}, **dict.fromkeys(checkpoints.STOOD)}


@pytest.mark.parametrize(
    ("value", "missing", "fault"),
    [
        ([], None, r"state\.json is damaged: it is without average, "),
        ({"recipe": {}, "files": {}} | dict.fromkeys(set(checkpoints.STOOD) - {"step"}), None,
         r"state\.json is damaged: it is without inputs, step\. "),
        *((STANDS, name, f"step-1 is damaged: it lacks {name}") for name in CHECKPOINT_FILES),
    ],
)  # fmt: skip
def test_what_a_checkpoint_lacks_is_named(
    tmp_path: Path, value: Any, missing: str | None, fault: str
) -> None:
    folder = kept(tmp_path / "step-1", value)
    if missing:
        (folder / missing).unlink()
    with pytest.raises(checkpoints.DamagedCheckpointError, match=fault):
        checkpoints.verified(folder)


def test_saves_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    output = tmp_path / "step-40"
    for step in (9, 10, 100):
        (checkpoints.partial_folder(output) / f"step-{step}").mkdir(parents=True)
    assert [path.name for path in checkpoints.partials(output)] == ["step-100", "step-10", "step-9"]
    checkpoints.remove_partial(output)
    checkpoints.remove_partial(output)
    assert checkpoints.partials(output) == []
