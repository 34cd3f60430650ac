"""A run of the PubMed speedrun: as many steps as its budget of operations allows, then the fixed loss."""

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speedrun_rules import TEXT, SpeedRun, budget
from pubmill.errors import PubmillError
from pubmill.hardware.provenance import provenance
from pubmill.pretraining.arithmetic import BASE, Size, operations_of_batch, share_predicted
from pubmill.pretraining.checkpoints import verified
from pubmill.pretraining.engine import EVALUATED_RATE, Pretraining
from pubmill.pretraining.instances import Instances, Ints, Stream, generator
from pubmill.pretraining.masking import Draws, Vocabulary, hide, read_vocabulary
from pubmill.pretraining.packed_tokens import HELD_OUT, PackedTokens
from pubmill.pretraining.segments import DivergedError, Segment, pretrain
from pubmill.recipes import Objective, Optimisation, PretrainingRecipe
from pubmill.recipes.reading import as_values, build
from pubmill.storage.files import read_json, sha256

SCORED = Objective(masking="subword", pairs="none")
"""Objective of `masked_sums`: single subwords are masked, without pairs."""
LENGTH = 128
"""Tokens of the sequences whose masked tokens are scored."""
LAYOUT = PretrainingRecipe(
    architecture=BASE, objective=SCORED, optimisation=Optimisation(learning_rate=1.0),
    sequence_length=LENGTH, batch_size=1, steps=1,
)  # fmt: skip
"""The recipe whose sequences are scored; the rest of it does not matter."""
CURVE = 50
"""Points of a record's curve."""


@dataclass(frozen=True)
class SpeedText:
    """The fixed text: folders of packed tokens and of their vocabulary."""

    tokens: Path
    vocab: Path

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of the tokens, of the held-out tokens, and of the vocabulary."""
        folders = {"tokens": self.tokens, "held_out": self.tokens / HELD_OUT}
        found = {name: read_json(path / "index.json")["files"]["ids.bin"] for name, path in folders.items()}
        return found | {"vocab": sha256(self.vocab / "tokenizer.json")}


def steps_within(
    operations: float, recipe: PretrainingRecipe, first: int, packed: PackedTokens, pieces: int
) -> int:
    """Return how many steps of a recipe, from step `first` on, have at most so many operations; at least 1.

    Masked tokens are counted as their expected number.
    """
    instances, share, spent, step = Instances(packed, recipe), share_predicted(recipe), 0.0, first
    while True:
        batch = instances.batch(step)
        squares, predicted = float((batch.lengths**2).sum()), share * float(batch.inner.sum())
        spent += operations_of_batch(recipe, pieces, Size(float(len(batch.ids)), squares, predicted))
        if spent > operations:
            return max(1, step - first)
        step += 1


def resolve(
    phases: Sequence[Mapping[str, Any]], operations: float, seed: int, packed: PackedTokens, pieces: int
) -> tuple[list[PretrainingRecipe], list[int]]:
    """Return the recipes of the phases of a run, each with the steps of all, and the step at which each ends:
    where the budget's share of it is spent."""
    recipes, ends = list[PretrainingRecipe](), [0]
    for phase in phases:
        values = {**phase["recipe"], "seed": seed, "steps": 1}
        recipes.append(build(PretrainingRecipe, values, "a recipe of the speedrun"))
        steps = steps_within(operations * phase["share"], recipes[-1], ends[-1], packed, pieces)
        ends.append(ends[-1] + steps)
    return [replace(recipe, steps=ends[-1]) for recipe in recipes], ends[1:]


def masked_sums(work: Pretraining, instances: Instances, chosen: Ints) -> dict[str, float]:
    """Return the sums of `measure` over chosen sequences, of which `EVALUATED_RATE` of the subwords are
    masked; `mlm_loss` / `masked` is the mean loss in nats. `instances`: sequences of single documents,
    without pairs. The positions and replacements of a sequence depend on its number only. A model that was
    trained with next tokens predicts a masked token from the position before it."""
    batch = instances.lay_out(chosen, generator(0, Stream.HELD_OUT))
    draws = Draws(chosen, 0, Stream.HELD_OUT)
    hidden = hide(batch, work.vocabulary, SCORED, EVALUATED_RATE, draws, len(chosen))
    if work.recipe.objective.causal:
        hidden = replace(hidden, positions=hidden.positions - 1)
    return work.measure(work.batches.divide(batch, batch, hidden))


def score(work: Pretraining, folder: Path) -> dict[str, Any]:
    """Return the mean loss of the held-out tokens that are masked for every recipe.

    The sequences are those of single documents, up to `LENGTH` tokens, masked by `masked_sums`.
    """
    packed, began = PackedTokens(folder), time.process_time()
    packed.verify()
    instances = Instances(packed, LAYOUT)
    sums = masked_sums(work, instances, np.arange(len(instances)))
    return {
        "loss": sums["mlm_loss"] / sums["masked"],
        "masked": int(sums["masked"]),
        "processor_seconds": time.process_time() - began,
    }


def execute(
    phases: Sequence[Mapping[str, Any]],
    division: str,
    seed: int,
    text: SpeedText,
    folder: Path,
    save_minutes: float,
) -> SpeedRun:
    """Make a run in a folder, where it saves itself: the same call continues after an interruption."""
    packed = PackedTokens(text.tokens)
    vocabulary: Vocabulary = read_vocabulary(text.vocab, packed.special)
    recipes, ends = resolve(phases, budget(division), seed, packed, vocabulary.size)
    before: Path | None = None
    for number, (recipe, end) in enumerate(zip(recipes, ends, strict=True)):
        output = folder / f"phase-{number}" / f"step-{end}"
        segment = Segment(
            tokens=text.tokens,
            vocab=text.vocab,
            output=output,
            to=end,
            other=before,
            save_minutes=save_minutes,
        )
        last = number == len(recipes) - 1
        if not (output / "state.json").is_file():
            try:
                pretrain(recipe, segment, evaluate=score if last else lambda work, held_out: None)
            except DivergedError as error:
                return diverged(recipes, seed, text, vocabulary.size, str(error))
        before = output
    assert before is not None
    return run_of(before, recipes, seed, text)


def diverged(
    recipes: Sequence[PretrainingRecipe], seed: int, text: SpeedText, pieces: int, error: str
) -> SpeedRun:
    """Return a run that diverged: it has the loss of a model that knows nothing, and no operations."""
    found = provenance()
    return SpeedRun(
        seed=seed, loss=round(math.log(pieces), 5), operations=0.0, processor_seconds=0.0, seconds=0.0,
        tokens=0, steps=0, curve=[], recipe=[as_values(recipe) for recipe in recipes],
        machine=dict(found["hardware"]), packages=dict(found["packages"]), commit=found["commit"],
        text=text.digests(), diverged=error.partition(";")[0],
    )  # fmt: skip


def run_of(checkpoint: Path, recipes: Sequence[PretrainingRecipe], seed: int, text: SpeedText) -> SpeedRun:
    """Return what the state and the log of a finished run say."""
    state, log = verified(checkpoint)
    points = np.unique(np.linspace(0, len(log) - 1, CURVE).astype(int))
    each = state["operations"] / state["tokens"]
    return SpeedRun(
        seed=seed,
        loss=round(state["held_out"]["loss"], 5),
        operations=state["operations"],
        processor_seconds=round(state["processor_seconds"], 1),
        seconds=round(state["seconds"], 1),
        tokens=state["tokens"],
        steps=state["step"],
        curve=[[float(f"{log[n]['tokens'] * each:.4g}"), round(log[n]["loss"], 4)] for n in points],
        recipe=[as_values(recipe) for recipe in recipes],
        machine={**state["hardware"], "load": [round(one, 1) for one in os.getloadavg()]},
        packages=state["packages"],
        commit=state["commit"],
        text=text.digests(),
    )


def fixed_text(results: Path) -> SpeedText:
    """Return the fixed text in the results of the study; refuse another one."""
    scale = results / "speedrun"
    text = SpeedText(scale / "pretraining/tokens/speedrun/speedrun", scale / "vocabs/speedrun")
    if (found := text.digests()) != TEXT:
        raise PubmillError(f"{text.tokens}: another text than that of the speedrun: {found}, expected {TEXT}")
    return text
