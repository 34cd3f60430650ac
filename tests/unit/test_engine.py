"""The engine: resumed equals undisturbed, killed equals undisturbed, and it learns."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForMaskedLM

from pubmill.errors import PubmillError
from pubmill.files import lock, sha256
from pubmill.pretraining import engine
from pubmill.pretraining.architectures import build_model, encode, masked_lm_logits, next_sentence_logits
from pubmill.pretraining.optimisation import learning_rate
from pubmill.pretraining.tokens import PackedTokens, make_shard, write_packed
from pubmill.recipes import Architecture, Objective, Optimisation, PretrainingRecipe

ROOT = Path(__file__).resolve().parents[2]
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *(f"w{n}" for n in range(20)),
    *(f"##c{n}" for n in range(5)),
]
RECIPE = PretrainingRecipe(
    architecture=Architecture(
        family="bert", layers=2, hidden_size=16, attention_heads=2, intermediate_size=32, max_positions=32
    ),
    objective=Objective(masking="whole-word"),
    optimisation=Optimisation(learning_rate=1e-2),
    sequence_length=24,
    batch_size=8,
    steps=40,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


def make_data(folder: Path, lengths: tuple[int, ...] = (4, 9, 6)) -> Path:
    """A corpus that can be learnt: each document is one word, over and over."""
    documents = [[[5 + word % 20] * length for length in lengths] for word in range(40)]
    special = {"pad": 0, "unk": 1, "cls": 2, "sep": 3, "mask": 4}
    write_packed(folder / "tokens", [make_shard(documents, len(PIECES))], len(PIECES), special)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return folder


def pretrain(
    data: Path, output: Path, to: int, start: Path | None = None, recipe: Any = RECIPE, **more: Any
) -> Path:
    engine.pretrain(recipe, data / "tokens", data, output, to, start, **more)
    return output


def weights(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "model.safetensors").read_bytes(), (folder / "optimizer.safetensors").read_bytes()


def state(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "state.json").read_text()))


def losses(folder: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All the steps at one go."""
    return pretrain(data, tmp_path_factory.mktemp("whole") / "step-40", 40)


def test_two_segments_are_one(data: Path, whole: Path, tmp_path: Path) -> None:
    half = pretrain(data, tmp_path / "step-20", 20)
    rest = pretrain(data, tmp_path / "step-40", 40, half)
    assert weights(rest) == weights(whole) and losses(rest) == losses(whole)
    assert state(rest)["tokens"] > 0


LONG = replace(RECIPE, steps=120)


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(data, tmp_path_factory.mktemp("undisturbed") / "step-120", 120, recipe=LONG)


def start_program(data: Path, output: Path, stderr: int) -> subprocess.Popen[bytes]:
    """The program on its way to step 120, saving itself after each step."""
    places = ["--tokens", data / "tokens", "--vocab", data, "--output", output, "--to", LONG.steps]
    recipe = ["--recipe", json.dumps(asdict(LONG)), "--save-minutes", "0"]
    command = [sys.executable, str(ROOT / "scripts/pretrain.py"), *recipe, *map(str, places)]
    return subprocess.Popen(command, stderr=stderr)


def end_after_a_save(process: subprocess.Popen[bytes], folder: Path, how: signal.Signals) -> int:
    with process:
        while not list(folder.glob(".step-120.partial/step-*/state.json")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(how)
    return process.returncode


@pytest.fixture(scope="module")
def killed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What SIGKILL leaves; tests work on copies."""
    folder = tmp_path_factory.mktemp("killed")
    process = start_program(data, folder / "step-120", subprocess.DEVNULL)
    assert end_after_a_save(process, folder, signal.SIGKILL) == -signal.SIGKILL
    assert not (folder / "step-120").exists()
    return folder


def test_killed_and_run_again_is_undisturbed(
    data: Path, killed: Path, undisturbed: Path, tmp_path: Path, capsys: Any
) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    output = pretrain(data, tmp_path / "step-120", 120, recipe=LONG)
    assert weights(output) == weights(undisturbed) and losses(output) == losses(undisturbed)
    assert not (tmp_path / ".step-120.partial").exists()
    assert "discarded" not in capsys.readouterr().err


def test_killed_and_run_on_another_corpus_begins_anew(killed: Path, tmp_path: Path, capsys: Any) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    changed = make_data(tmp_path / "data", lengths=(4, 8, 7))
    output = pretrain(changed, tmp_path / "step-120", 120, recipe=LONG)
    said = capsys.readouterr().err
    assert "discarded" in said and "(differing: tokens)" in said
    assert weights(output) == weights(pretrain(changed, tmp_path / "fresh", 120, recipe=LONG))


def test_asked_to_stop_with_nobody_listening_it_saves_itself(
    data: Path, undisturbed: Path, tmp_path: Path
) -> None:
    nobody, stderr = os.pipe()
    os.close(nobody)
    process = start_program(data, tmp_path / "step-120", stderr)
    os.close(stderr)
    assert end_after_a_save(process, tmp_path, signal.SIGTERM) == 128 + signal.SIGTERM
    output = pretrain(data, tmp_path / "step-120", 120, recipe=LONG)
    assert weights(output) == weights(undisturbed)


def interrupted(data: Path, output: Path, to: int, at: int, how: signal.Signals = signal.SIGTERM) -> Path:
    """Ask a segment to stop while it is doing step `at`; return its save."""
    update = engine.Pretraining.update

    def stop(self: engine.Pretraining, step: int) -> dict[str, float]:
        if step + 1 == at:
            os.kill(os.getpid(), how)
        return update(self, step)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(engine.Pretraining, "update", stop)
        pretrain(data, output, to)
    assert ended.value.code == 128 + how
    return output.with_name(f".{output.name}.partial") / f"step-{at}"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop_in_the_last_step(data: Path, whole: Path, tmp_path: Path, how: signal.Signals) -> None:
    assert (interrupted(data, tmp_path / "step-40", to=40, at=40, how=how) / "state.json").is_file()
    output = pretrain(data, tmp_path / "step-40", 40)
    assert weights(output) == weights(whole) and losses(output) == losses(whole)
    assert not (tmp_path / ".step-40.partial").exists()


def test_a_save_of_other_work_is_discarded(data: Path, whole: Path, tmp_path: Path, capsys: Any) -> None:
    other = shutil.copytree(data, tmp_path / "data")
    (other / "vocab.txt").write_text("\n".join([*PIECES[:-1], "##other"]) + "\n")
    start = pretrain(data, tmp_path / "start", 2)
    for place, differing, more in [
        (other, "vocab", {}),
        (data, "version", {"version": 2}),
        (data, "recipe.seed", {"recipe": replace(RECIPE, seed=2)}),
        (data, "start", {"start": start}),
    ]:
        save = interrupted(data, tmp_path / "step-4", to=4, at=3)
        capsys.readouterr()
        made = pretrain(place, tmp_path / "step-4", 4, **more)
        said = capsys.readouterr().err
        assert f"{save} belongs to other work (differing: {differing})" in said and "discarded" in said
        assert weights(made) == weights(pretrain(place, tmp_path / "fresh", 4, **more))


def test_a_corpus_is_told_by_its_sentences_and_by_both_ends_of_its_ids(data: Path, tmp_path: Path) -> None:
    def fingerprint(name: str, lengths: tuple[int, ...] = (4, 9, 6), flipped: int | None = None) -> str:
        tokens = make_data(tmp_path / name, lengths) / "tokens"
        if flipped is not None:
            ids = np.memmap(tokens / "ids.bin", "<u2", "r+")
            ids[flipped] ^= 1
            ids.flush()
        return PackedTokens(tokens).fingerprint()

    same = PackedTokens(data / "tokens").fingerprint()
    assert fingerprint("again") == same
    others = [
        fingerprint("moved", (9, 4, 6)),
        fingerprint("first", flipped=0),
        fingerprint("last", flipped=-1),
    ]
    assert len({same, *others}) == 4


def test_the_state_says_what_it_was_made_from_and_with(data: Path, tmp_path: Path) -> None:
    start = pretrain(data, tmp_path / "step-1", 1)
    made = state(pretrain(data, tmp_path / "step-2", 2, start, version=3))
    assert made["recipe"] == asdict(RECIPE)
    assert made["inputs"] == {
        "tokens": PackedTokens(data / "tokens").fingerprint(),
        "vocab": sha256(data / "vocab.txt"),
        "start": sha256(start / "model.safetensors"),
        "version": 3,
    }
    assert state(start)["inputs"]["start"] is None
    assert made["packages"]["torch"] == metadata.version("torch") and made["python"] and "commit" in made
    assert {"cpu", "cores", "gpus", "device", "threads", "precision"} <= made["hardware"].keys()


def test_other_surroundings_are_told(data: Path, tmp_path: Path, capsys: Any) -> None:
    start = pretrain(data, tmp_path / "step-1", 1)
    before = state(start)
    before["packages"]["torch"] = "1.0"
    (start / "state.json").write_text(json.dumps(before))
    pretrain(data, tmp_path / "step-2", 2, start)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and "torch was 1.0" in told[0] and "last digits may differ" in told[0]


def test_only_one_process_works_on_a_segment(data: Path, tmp_path: Path) -> None:
    with lock(tmp_path / ".step-1.lock"), pytest.raises(PubmillError, match="another process"):
        pretrain(data, tmp_path / "step-1", 1)
    assert not (tmp_path / "step-1").exists()
    pretrain(data, tmp_path / "step-1", 1)


def test_reports_that_nobody_reads_stop_nothing(
    data: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody, closed = os.pipe()
    os.close(nobody)
    monkeypatch.setattr(engine, "REPORT_SECONDS", -1.0)
    with os.fdopen(closed, "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        output = pretrain(data, tmp_path / "step-40", 40)
        monkeypatch.undo()
        with suppress(BrokenPipeError):
            stderr.close()
    assert weights(output) == weights(whole)


def test_it_learns(data: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, batch_size=16, steps=200)
    log = (pretrain(data, tmp_path / "s", 200, recipe=recipe) / "log.jsonl").read_text().splitlines()
    assert json.loads(log[0])["mlm_loss"] > 2.5
    assert json.loads(log[-1])["mlm_loss"] < 2.0  # knowing how often each word comes gives 3.0


def test_transformers_reads_the_result(whole: Path) -> None:
    ids = torch.tensor([[2, 5, 6, 7, 3]])
    assert AutoModel.from_pretrained(whole)(ids).last_hidden_state.shape == (1, 5, 16)
    read = AutoModelForMaskedLM.from_pretrained(whole)
    assert torch.equal(read.cls.predictions.decoder.weight, read.bert.embeddings.word_embeddings.weight)


def test_the_forward_pass_is_that_of_transformers() -> None:
    model = build_model(RECIPE.architecture, RECIPE.objective, len(PIECES), 0, seed=3).eval()
    ids = torch.randint(5, 20, (3, 12), generator=torch.Generator().manual_seed(1))
    segments = (torch.arange(12) > 6).long().expand(3, 12)
    mask = torch.arange(12) < torch.tensor([[12], [9], [7]])
    rows = torch.tensor([0, 12, 24, 3, 15, 30])
    ours = encode(model, ids, segments, mask, rows)
    theirs = model(input_ids=ids, token_type_ids=segments, attention_mask=mask.long())
    logits = theirs.prediction_logits.flatten(0, 1)[rows]
    torch.testing.assert_close(masked_lm_logits(model, ours), logits, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(
        next_sentence_logits(model, ours[:3]), theirs.seq_relationship_logits, atol=1e-5, rtol=1e-4
    )


def test_a_model_is_a_function_of_its_seed() -> None:
    def first(seed: int) -> torch.Tensor:
        return build_model(
            RECIPE.architecture, RECIPE.objective, 30, 0, seed
        ).bert.embeddings.word_embeddings.weight

    assert torch.equal(first(1), first(1)) and not torch.equal(first(1), first(2))


def test_without_next_sentence_and_in_float32(data: Path, tmp_path: Path) -> None:
    recipe = replace(
        RECIPE, objective=Objective(masking="wordpiece", next_sentence=False), precision="float32", steps=4
    )
    made = pretrain(data, tmp_path / "s", 4, recipe=recipe)
    assert json.loads((made / "config.json").read_text())["architectures"] == ["BertForMaskedLM"]
    assert state(made)["hardware"]["precision"] == "float32"
    assert json.loads((made / "log.jsonl").read_text().splitlines()[0])["nsp_loss"] is None


def test_divergence_stops_and_names_the_last_save(data: Path, tmp_path: Path, monkeypatch: Any) -> None:
    update = engine.Pretraining.update

    def diverge(self: engine.Pretraining, step: int) -> dict[str, float]:
        if step == 12:
            with torch.no_grad():
                next(self.model.parameters()).fill_(float("nan"))
        return update(self, step)

    monkeypatch.setattr(engine.Pretraining, "update", diverge)
    with pytest.raises(PubmillError, match="step 13.*step-12"):
        pretrain(data, tmp_path / "step-40", 40, save_minutes=0)
    assert not (tmp_path / "step-40").exists()


def test_another_recipe_is_refused(data: Path, whole: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="another recipe.*seed"):
        pretrain(data, tmp_path / "x", 40, whole, replace(RECIPE, seed=2))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"sequence_length": 64}, "max_positions"),
        ({"steps": 10}, "--to 40"),
        ({"sequence_length": 4}, "nothing"),
    ],
)
def test_what_cannot_be_trained_is_refused(data: Path, tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        pretrain(data, tmp_path / "x", 40, recipe=replace(RECIPE, **change))


def test_the_learning_rate_rises_and_falls_linearly() -> None:
    rates = np.array([learning_rate(Optimisation(learning_rate=1.0), step, 100) for step in range(100)])
    assert rates.argmax() == 9 and rates.max() == 1.0 and rates.min() > 0
    np.testing.assert_allclose(np.diff(rates[:10]), 0.1)
    np.testing.assert_allclose(np.diff(rates[9:]), -1 / 91)
