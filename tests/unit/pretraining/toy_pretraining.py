"""A corpus that can be learnt, a tiny recipe, and what a checkpoint says."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from pubmill.pretraining import segments
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.packed_tokens import HELD_OUT, PackedTokens
from pubmill.pretraining.segments import Segment
from pubmill.recipes import Architecture, Objective, Optimisation, PretrainingRecipe
from pubmill.storage.files import read_json
from pubmill.vocabs.wordpiece import make_tokenizer, save
from tests.unit.toy_shards import make_shard, write_packed

SPECIAL = {"pad": 0, "unk": 1, "cls": 2, "sep": 3, "mask": 4}
PIECES = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
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


def changed(recipe: PretrainingRecipe = RECIPE, **parts: Any) -> PretrainingRecipe:
    """A recipe with other values; dictionaries change parts of `architecture`, `objective`..."""
    made = {
        name: replace(getattr(recipe, name), **value) if isinstance(value, dict) else value
        for name, value in parts.items()
    }
    return replace(recipe, **made)


def make_data(folder: Path, lengths: tuple[int, ...] = (4, 9, 6)) -> Path:
    """Each document is one word, over and over; four of them are held out."""
    documents = [[[5 + word % 20] * length for length in lengths] for word in range(40)]
    write_packed(folder / "tokens", [make_shard(documents, len(PIECES))], len(PIECES), SPECIAL)
    held_out = [make_shard(documents[:4], len(PIECES))]
    write_packed(folder / "tokens" / HELD_OUT, held_out, len(PIECES), SPECIAL)
    save(make_tokenizer(PIECES, True), True, folder)
    return folder


def pretrain(
    data: Path, output: Path, to: int, previous: Path | None = None, recipe: Any = RECIPE, **more: Any
) -> Path:
    """A segment on that corpus; `more` are other fields of `Segment`."""
    given = Segment(tokens=data / "tokens", vocab=data, output=output, to=to, previous=previous, **more)
    segments.pretrain(recipe, given)
    return output


def begun(data: Path, recipe: PretrainingRecipe = RECIPE, teacher: Path | None = None) -> Pretraining:
    """A pretraining on that corpus before its first step, alone on a processor."""
    packed = PackedTokens(data / "tokens")
    world = World(torch.device("cpu"))
    return Pretraining(recipe, packed, read_vocabulary(data, packed.special), world, teacher=teacher)


def weights(folder: Path) -> list[bytes]:
    return [(folder / f"{name}.safetensors").read_bytes() for name in ("model", "auxiliary", "optimizer")]


def state(folder: Path) -> dict[str, Any]:
    return dict(read_json(folder / "state.json"))


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def losses(folder: Path) -> list[float]:
    return [line["loss"] for line in log(folder)]
