"""The engine: resumed equals undisturbed, killed equals undisturbed, and it learns."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubmill.errors import PubmillError
from pubmill.pretraining import segments
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes.reading import as_values
from pubmill.storage.files import locked, sealed, sha256, write_json
from pubmill.vocabs.wordpiece import make_tokenizer, save
from tests.unit.pretraining.test_distributed import program
from tests.unit.pretraining.toy_interrupts import interrupted
from tests.unit.pretraining.toy_pretraining import PIECES, RECIPE, losses, make_data, pretrain, state, weights

LONG = replace(RECIPE, steps=120)


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(data, tmp_path_factory.mktemp("undisturbed") / "step-120", 120, recipe=LONG)


@pytest.fixture(scope="module")
def killed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What SIGKILL leaves of the program, which saves after each step; tests work on copies."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, *program(data, folder / "step-120", 120, LONG, "--save-minutes", "0")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while not list(folder.glob(".step-120.partial/step-*/state.json")) and process.poll() is None:
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -signal.SIGKILL and not (folder / "step-120").exists()
    return folder


def test_killed_and_run_again_is_undisturbed(
    data: Path, killed: Path, undisturbed: Path, tmp_path: Path, capsys: Any
) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    output = pretrain(data, tmp_path / "step-120", 120, recipe=LONG)
    assert weights(output) == weights(undisturbed) and losses(output) == losses(undisturbed)
    assert not (tmp_path / ".step-120.partial").exists()
    assert "discarded" not in capsys.readouterr().err


@pytest.mark.parametrize(("mode", "told"), [("no", True), ("preferred", True), ("required", False)])
def test_a_gpus_resumed_run_is_said_to_differ(
    mode: str, told: bool, data: Path, killed: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(segments, "cuda_settings", lambda device: {"deterministic": mode})
    monkeypatch.setattr(segments, "train", lambda *given: None)
    pretrain(data, tmp_path / "step-120", 120, recipe=LONG)
    said = capsys.readouterr().err
    assert ("without PUBMILL_DETERMINISTIC=1 the last digits may differ" in said) == told


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop_in_the_last_step(data: Path, whole: Path, tmp_path: Path, how: signal.Signals) -> None:
    assert (interrupted(data, tmp_path / "step-40", to=40, at=40, how=how) / "state.json").is_file()
    output = pretrain(data, tmp_path / "step-40", 40)
    assert weights(output) == weights(whole) and losses(output) == losses(whole)
    assert not (tmp_path / ".step-40.partial").exists()


def test_a_save_of_other_work_is_discarded(data: Path, tmp_path: Path, capsys: Any) -> None:
    other = shutil.copytree(data, tmp_path / "data")
    save(make_tokenizer([*PIECES[:-1], "##other"], True), True, other)
    start = pretrain(data, tmp_path / "start", 1)
    cases: list[tuple[Path, str, dict[str, Any]]] = [
        (other, "vocab", {}), (make_data(tmp_path / "corpus", lengths=(4, 8, 7)), "tokens", {}),
        (data, "version", {"version": 2}), (data, "recipe.seed", {"recipe": replace(RECIPE, seed=2)}),
        (data, "previous", {"previous": start}),
    ]  # fmt: skip
    for place, differing, more in cases:
        made_save = interrupted(data, tmp_path / "step-4", to=4, at=3)
        pretrain(place, tmp_path / "step-4", 4, **more)
        said = capsys.readouterr().err
        assert f"{made_save} belongs to other work (differing: {differing}): discarded, begi" in said
        assert "going on from" not in said


def test_a_corpus_is_known_by_its_sentences_and_by_both_ends_of_its_ids(data: Path, tmp_path: Path) -> None:
    found = [PackedTokens(data / "tokens").fingerprint()]
    for name, lengths in {"same": (4, 9, 6), "moved": (9, 4, 6)}.items():
        found.append(PackedTokens(make_data(tmp_path / name, lengths) / "tokens").fingerprint())
    for end in (0, -1):
        ids = np.memmap(tmp_path / "same/tokens/ids.bin", "<u2", "r+")
        ids[end] ^= 1
        ids.flush()
        found.append(PackedTokens(tmp_path / "same/tokens").fingerprint())
    assert found[0] == found[1] and len(set(found)) == 4


def test_the_state_says_what_it_was_made_from_and_with(data: Path, tmp_path: Path) -> None:
    start = pretrain(data, tmp_path / "step-1", 1)
    made = state(pretrain(data, tmp_path / "step-2", 2, start, version=3))
    assert made["recipe"] == as_values(RECIPE)
    assert made["inputs"] == {
        **dict.fromkeys(("model", "other", "teacher")), "version": 3,
        "tokens": PackedTokens(data / "tokens").fingerprint(), "vocab": sha256(data / "tokenizer.json"),
        "previous": sha256(start / "model.safetensors"),
    }  # fmt: skip
    assert state(start)["inputs"]["previous"] is None
    assert made["packages"]["torch"] == metadata.version("torch") and made["python"] and "commit" in made
    assert {"cpu", "cores", "gpus", "device", "threads", "precision"} <= made["hardware"].keys()


def test_other_surroundings_are_reported(data: Path, tmp_path: Path, capsys: Any) -> None:
    start = pretrain(data, tmp_path / "step-1", 1)
    before = state(start)
    before["packages"]["torch"] = "1.0"
    write_json(start / "state.json", sealed(before))
    pretrain(data, tmp_path / "step-2", 2, start)
    (reported,) = [line for line in capsys.readouterr().err.splitlines() if "TensorBoard" not in line]
    assert "torch was 1.0" in reported and "last digits may differ" in reported


def test_another_recipe_and_another_process_are_refused(data: Path, whole: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="another recipe.*seed"):
        pretrain(data, tmp_path / "x", 40, whole, replace(RECIPE, seed=2))
    with locked(tmp_path / ".step-1.lock"), pytest.raises(PubmillError, match="another process"):
        pretrain(data, tmp_path / "step-1", 1)
    assert not (tmp_path / "step-1").exists()
    pretrain(data, tmp_path / "step-1", 1)


def test_reports_that_nobody_reads_stop_nothing(
    data: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody, closed = os.pipe()
    os.close(nobody)
    monkeypatch.setattr(segments, "REPORT_SECONDS", -1.0)
    with os.fdopen(closed, "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        output = pretrain(data, tmp_path / "step-40", 40)
        monkeypatch.undo()
        with suppress(BrokenPipeError):
            stderr.close()
    assert weights(output) == weights(whole)
