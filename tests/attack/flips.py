"""Attacks on finished results, of which one bit is flipped, and on the saves of a pretraining."""

import os
import shutil
import signal
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import astuple
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.shards import Document, is_private, read_reasons, read_shard, read_source, write_shard
from pubmill.errors import PubmillError, StopRequestedError
from pubmill.examples.kinds import TokensExample
from pubmill.hardware.provenance import provenance
from pubmill.metrics.contributions import Contributions, Items, read_items, write_items
from pubmill.metrics.records import read_predictions, read_record, write_record
from pubmill.pretraining import checkpoints
from pubmill.pretraining.checkpoints import PretrainingProgress, WeightsOrigin
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes.reading import as_values
from pubmill.storage.files import write_jsonl_gz
from tests.attack import attack, flipped, template
from tests.unit.pretraining.toy_pretraining import RECIPE, losses, make_data, pretrain, weights
from tests.unit.toy_tables import record
from tests.world.dice import Dice

SHARD, LATEST = "shard.parquet", "latest.parquet"


def make_shard(folder: Path) -> None:
    documents = [
        Document(id=f"pmid:{n}", version=1 + n % 3, title=f"Title {n}", sections=(("", f"word {n}"),) * 3)
        for n in range(120)
    ]
    write_shard(folder / SHARD, documents, source="pubmed", file="f", order=1, private=True)


def read_shards(folder: Path) -> Any:
    """By Arrow, its metadata and its rows, and by DuckDB."""
    write_latest(folder / LATEST, [folder / SHARD], [0])
    documents = list(read_shard(folder / SHARD))
    reasons = read_reasons(folder / LATEST, 0)
    return is_private(folder / SHARD), read_source(folder / SHARD), documents, reasons


PREDICTIONS = "seed-1.predictions.jsonl.gz"
EXAMPLES = [TokensExample(id=f"{n}", document=None, words=["a", "b"], labels=["O", "B"]) for n in range(200)]


def make_predictions(folder: Path) -> None:
    labels = (["O", "B"], ["B", "O"], ["B", "I"])
    rows = ({"id": example.id, "labels": labels[n * n % 3]} for n, example in enumerate(EXAMPLES))
    write_jsonl_gz(folder / PREDICTIONS, rows)


def read_tokens(folder: Path) -> Any:
    packed = PackedTokens(folder / "tokens")
    packed.verify()
    said = packed.n_tokens, packed.n_sentences, packed.n_documents, packed.vocab_size, packed.special
    return said, packed.ids.tolist(), packed.sentences.tolist(), packed.documents.tolist()


def make_tokens(folder: Path) -> None:
    made_of = make_data(folder / "data")
    shutil.move(made_of / "tokens", folder / "tokens")
    shutil.rmtree(folder / "data")


@cache
def data() -> Path:
    return make_data(template())


def untrained() -> Pretraining:
    packed = PackedTokens(data() / "tokens")
    return Pretraining(RECIPE, packed, read_vocabulary(data(), packed.special), World(torch.device("cpu")))


def make_checkpoint(folder: Path) -> None:
    work, progress = untrained(), PretrainingProgress()
    for step in range(3):
        sums = work.update(step) | {"seconds": 1.0, "processor_seconds": 1.0}
        progress.count(sums, 50, 10.0, work.terms[0])
    progress.log.append({"step": 3, "loss": 1.0})
    origin: WeightsOrigin = {
        **provenance(), "recipe": as_values(RECIPE), "inputs": {}, "instances_per_epoch": 0,
    }  # fmt: skip
    checkpoints.save(folder / "step-3", work, progress, origin)


def read_checkpoint(folder: Path) -> Any:
    work = untrained()
    progress = checkpoints.load(folder / "step-3", work)
    weights = {name: weight.tolist() for name, weight in work.learner.named_parameters()}
    state = {name: value.tolist() for name, value in checkpoints.gather_state(work).items()}
    return astuple(progress), weights, state, (folder / "step-3" / "config.json").read_bytes()


VALUES = np.arange(60, dtype=np.float64).reshape(30, 2) / 7
ITEMS = Items("tokens", "document", "d" * 64, Contributions(("right", "wrong"), VALUES))


def read_contributions(folder: Path) -> Any:
    items = read_items(folder / "seed-1.items.npz")
    found = items.contributions
    return items[:3], found and (found.names, found.values.tolist())


KINDS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "contributions": (lambda folder: write_items(folder / "seed-1.items.npz", ITEMS), read_contributions),
    "parquet": (make_shard, read_shards),
    "predictions": (make_predictions, lambda folder: read_predictions(folder / PREDICTIONS, EXAMPLES)),
    "tokens": (make_tokens, read_tokens),
    "checkpoints": (make_checkpoint, read_checkpoint),
    "records": (
        lambda folder: write_record(folder / "seed-1.json", record("bert", "bc2gm", 1, 0.8125)),
        lambda folder: read_record(folder / "seed-1.json"),
    ),
}
"""Kind of finished results -> how they are made in a folder, and all that is read of them."""


@cache
def made(kind: str) -> tuple[Path, object]:
    make, read = KINDS[kind]
    make(folder := template())
    return folder, read(folder)


def flip(kind: str, dice: Dice, folder: Path) -> str:
    """A flipped bit in results of a kind: the file is named, or what is read is unchanged."""
    template, expected = made(kind)
    shutil.copytree(template, folder, dirs_exist_ok=True)
    path = dice.pick([path for path in sorted(folder.rglob("*")) if path.is_file()])
    path.write_bytes(flipped(path.read_bytes(), dice))
    try:
        found = KINDS[kind][1](folder)
    except PubmillError as error:
        return "" if str(folder) in str(error) else f"the message names no file: {error}"
    return "" if found == expected else f"a bit of {path.name} changed what is read"


for kind in KINDS:
    attack(f"flips-{kind}", cases=400, quick=10)(partial(flip, kind))

STEPS, ENDED = 20, 15


@cache
def whole() -> tuple[object, object]:
    """Weights and losses of the segment, undisturbed."""
    made = pretrain(data(), template() / "step", STEPS)
    return weights(made), losses(made)


@cache
def interrupted() -> Path:
    """A folder with the last two saves of the segment."""
    folder, update = template(), Pretraining.update

    def stop(self: Pretraining, step: int) -> dict[str, float]:
        if step + 1 == ENDED:
            os.kill(os.getpid(), signal.SIGTERM)
        return update(self, step)

    with mock.patch.object(Pretraining, "update", stop):
        try:
            pretrain(data(), folder / "step", STEPS, save_minutes=0)
        except StopRequestedError:
            return folder
    raise AssertionError("the segment did not stop")


@attack("damaged-saves", cases=12, quick=1)
def damaged_saves(dice: Dice, folder: Path) -> str:
    """A file of the last saves of a pretraining is flipped, cut, emptied or removed: the same command ends
    with the same weights and losses, bit for bit."""
    with redirect_stderr(StringIO()) as said:
        expected = whole()
        shutil.copytree(interrupted(), folder, dirs_exist_ok=True)
        last, before = (folder / ".step.partial" / f"step-{step}" for step in (ENDED, ENDED - 1))
        for save in dice.pick(((last,), (last,), (before,), (last, before))):
            path = dice.pick(sorted(save.iterdir()))
            content = path.read_bytes()
            path.unlink()
            kept = dice.pick((flipped(content, dice), content[: dice.below(len(content))], b"", None))
            if kept is not None:
                path.write_bytes(kept)
        made = pretrain(data(), folder / "step", STEPS)
    return "" if (weights(made), losses(made)) == expected else f"other weights; {said.getvalue()[-200:]}"
