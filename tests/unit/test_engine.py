"""The engine: resumed equals undisturbed, killed equals undisturbed, and it learns."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForMaskedLM

from pubmill.errors import PubmillError
from pubmill.pretraining import engine
from pubmill.pretraining.architectures import build_model, encode, masked_lm_logits, next_sentence_logits
from pubmill.pretraining.optimisation import choose_precision, learning_rate
from pubmill.pretraining.tokens import make_shard, write_packed
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
    checkpoints=(20, 40),
    save_every=10,
)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Networks this small are slower on several threads, and far slower where the cores are shared."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus that can be learnt: each document is one word, over and over."""
    folder = tmp_path_factory.mktemp("data")
    documents = [[[5 + word % 20] * length for length in (4, 9, 6)] for word in range(40)]
    special = {"pad": 0, "unk": 1, "cls": 2, "sep": 3, "mask": 4}
    write_packed(folder / "tokens", [make_shard(documents, len(PIECES))], len(PIECES), special)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return folder


def pretrain(data: Path, output: Path, to: int, start: Path | None = None, recipe: Any = RECIPE) -> Path:
    engine.pretrain(recipe, data / "tokens", data, output, to, start)
    return output


def weights(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "model.safetensors").read_bytes(), (folder / "optimizer.safetensors").read_bytes()


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
    assert json.loads((rest / "state.json").read_text())["tokens"] > 0


def command(data: Path, output: Path, recipe: PretrainingRecipe) -> list[str]:
    places = ["--tokens", data / "tokens", "--vocab", data, "--output", output, "--to", recipe.steps]
    return [
        sys.executable,
        str(ROOT / "scripts/pretrain.py"),
        "--recipe",
        json.dumps(asdict(recipe)),
        *map(str, places),
    ]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_killed_and_run_again_is_undisturbed(data: Path, tmp_path: Path, how: signal.Signals) -> None:
    recipe = replace(RECIPE, steps=120, checkpoints=(120,), save_every=5)
    undisturbed = pretrain(data, tmp_path / "undisturbed", 120, recipe=recipe)
    output = tmp_path / "step-120"
    threads = dict(os.environ, OMP_NUM_THREADS="1")
    with subprocess.Popen(command(data, output, recipe), env=threads, stderr=subprocess.DEVNULL) as process:
        while not list(tmp_path.glob(".step-120.partial/step-*/state.json")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(how)
    assert process.returncode == (-how if how == signal.SIGKILL else 128 + how)
    assert not output.exists()
    pretrain(data, output, 120, recipe=recipe)
    assert weights(output) == weights(undisturbed) and losses(output) == losses(undisturbed)
    assert not (tmp_path / ".step-120.partial").exists()


def test_it_learns(data: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, batch_size=16, steps=200, checkpoints=(200,), save_every=200)
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
    assert json.loads((made / "state.json").read_text())["precision"] == "float32"
    assert json.loads((made / "log.jsonl").read_text().splitlines()[0])["nsp_loss"] is None


def test_divergence_stops_and_names_the_last_save(data: Path, tmp_path: Path, monkeypatch: Any) -> None:
    update = engine.Pretraining.update

    def diverge(self: engine.Pretraining, step: int) -> dict[str, float]:
        if step == 12:
            with torch.no_grad():
                next(self.model.parameters()).fill_(float("nan"))
        return update(self, step)

    monkeypatch.setattr(engine.Pretraining, "update", diverge)
    with pytest.raises(PubmillError, match="step 13.*step-10"):
        pretrain(data, tmp_path / "step-40", 40)
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


def test_precision_as_asked() -> None:
    cpu = torch.device("cpu")
    assert choose_precision("float32", cpu) == torch.float32
    assert choose_precision("bfloat16", cpu) == torch.bfloat16
