"""Pretraining: from packed tokens to a checkpoint, each step a function of recipe and number.

Two segments of 50 steps give the weights of one of 100 bit for bit, and so does a segment that was killed and
run again, on the same processor, number of threads and version of torch; these are recorded in state.json.
"""

import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from pubmill.errors import PubmillError
from pubmill.files import read_json
from pubmill.precision import choose_precision
from pubmill.pretraining import checkpoints
from pubmill.pretraining.architectures import build_model, encode, masked_lm_logits, next_sentence_logits
from pubmill.pretraining.checkpoints import Progress
from pubmill.pretraining.instances import (
    UNLABELLED,
    Batch,
    Instances,
    Stream,
    generator,
    micro_batches,
    seed_sequence,
)
from pubmill.pretraining.masking import Masked, Vocabulary, mask, read_vocabulary
from pubmill.pretraining.optimisation import build_optimizer, learning_rate, set_learning_rate
from pubmill.pretraining.tokens import PackedTokens
from pubmill.provenance import provenance
from pubmill.recipes import PretrainingRecipe

# Positions worked on at once. On a CPU few, to be near the cache and, the sequences being sorted by
# length, to have little padding (2,048 and 4,096 are about equally fast for each position).
TOKENS_AT_ONCE = {"cpu": 2048, "cuda": 65536}
LENGTH_MULTIPLE = 8
LOG_LINES, REPORT_SECONDS = 200, 5.0
# what the last digits depend on, of what state.json says of the surroundings
DECIDING = {
    "hardware": ("cpu", "gpus", "device", "threads", "precision"),
    "packages": ("torch", "transformers", "numpy"),
}
SUMS = (
    "mlm_loss",
    "masked",
    "correct",
    "nsp_loss",
    "pairs",
    "nsp_correct",
    "tokens",
    "padded",
    "cut",
    "seconds",
)


class Pretraining:
    """A pretraining at some step: the model, its optimiser, and the data its next step needs."""

    def __init__(self, recipe: PretrainingRecipe, packed: PackedTokens, vocabulary: Vocabulary) -> None:
        self.recipe, self.vocabulary = recipe, vocabulary
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.precision = choose_precision(recipe.precision, self.device)
        self.instances = Instances(
            packed, recipe.sequence_length, recipe.batch_size, recipe.objective.next_sentence, recipe.seed
        )
        model = build_model(
            recipe.architecture, recipe.objective, packed.vocab_size, packed.special["pad"], recipe.seed
        )
        self.model = model.to(self.device).train()  # type: ignore[arg-type]
        self.optimizer = build_optimizer(self.model, recipe.optimisation)
        self.pad = packed.special["pad"]
        self.at_once = max(1, TOKENS_AT_ONCE[self.device.type] // recipe.sequence_length)

    def update(self, step: int) -> dict[str, float]:
        """Do one update (from 0); return sums over the batch (`SUMS`). Raises where a loss is not finite."""
        batch = self.instances.batch(step)
        hidden = mask(
            batch.ids,
            batch.inner,
            batch.lengths,
            self.vocabulary,
            self.recipe.objective,
            generator(self.recipe.seed, Stream.MASKS, step),
        )
        sums = dict.fromkeys(SUMS, 0.0) | {"tokens": float(len(batch.ids)), "cut": float(batch.cut)}
        seed_torch(self.recipe.seed, step)
        for rows in micro_batches(batch.lengths, self.at_once):
            part = collate(batch, hidden, rows, self.pad, self.device)
            self._accumulate(part, len(hidden.labels), int((batch.next_sentence != UNLABELLED).sum()), sums)
        limit = self.recipe.optimisation.max_gradient_norm
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit)
        if not math.isfinite(sums["mlm_loss"] + sums["nsp_loss"] + norm.item()):
            raise FloatingPointError(f"loss or gradient is not a number (gradient norm {norm.item()})")
        set_learning_rate(self.optimizer, learning_rate(self.recipe.optimisation, step, self.recipe.steps))
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return sums

    def _accumulate(self, part: dict[str, Any], masked: int, pairs: int, sums: dict[str, float]) -> None:
        """Add a micro-batch's gradients and sums; losses are means over the batch's `masked` and `pairs`."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
            vectors = encode(self.model, part["ids"], part["segments"], part["mask"], part["rows"])
            count = len(part["next_sentence"])
            logits = masked_lm_logits(self.model, vectors[count:]).float()
            loss = mlm = F.cross_entropy(logits, part["labels"], reduction="sum") / max(1, masked)
            found = {
                "mlm_loss": mlm.detach() * masked,
                "correct": (logits.argmax(-1) == part["labels"]).sum(),
            }
            if pairs:
                choices = next_sentence_logits(self.model, vectors[:count]).float()
                nsp = F.cross_entropy(choices, part["next_sentence"], reduction="sum") / pairs
                loss = mlm + nsp
                found["nsp_loss"] = nsp.detach() * pairs
                found["nsp_correct"] = (choices.argmax(-1) == part["next_sentence"]).sum()
                found["pairs"] = (part["next_sentence"] != UNLABELLED).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        sums["masked"] += len(part["labels"])
        sums["padded"] += part["ids"].numel()
        # read from the device once, and only after it has been given all its work
        for key, value in zip(
            found, torch.stack([value.float() for value in found.values()]).tolist(), strict=True
        ):
            sums[key] += value


def seed_torch(seed: int, step: int, rank: int = 0) -> None:
    """Give dropout the random numbers of this step."""
    torch.manual_seed(
        int(seed_sequence(seed, Stream.DROPOUT, step, rank).generate_state(1, np.uint64)[0] >> 1)
    )


def collate(
    batch: Batch, hidden: Masked, rows: np.ndarray[Any, Any], pad: int, device: torch.device
) -> dict[str, Any]:
    """Pad some sequences of a batch to the longest of them; see `architectures.encode` for the shapes.

    `rows` first has the [CLS] of each sequence, then the masked positions, to which `labels` belong.
    """
    lengths, begin = batch.lengths[rows], (np.cumsum(batch.lengths) - batch.lengths)[rows]
    width = -(-int(lengths.max()) // LENGTH_MULTIPLE) * LENGTH_MULTIPLE
    present = np.arange(width) < lengths[:, None]
    source = (begin[:, None] + np.arange(width))[present]
    ids, segments = np.full(present.shape, pad), np.zeros(present.shape, np.int64)
    ids[present], segments[present] = hidden.ids[source], batch.segments[source]
    labels = np.full(len(batch.ids), UNLABELLED)
    labels[hidden.positions] = hidden.labels
    wanted = np.full(present.shape, UNLABELLED)
    wanted[present] = labels[source]
    masked = np.flatnonzero(wanted != UNLABELLED)
    arrays = {
        "ids": ids,
        "segments": segments,
        "rows": np.concatenate([np.arange(len(rows)) * width, masked]),
        "labels": wanted.reshape(-1)[masked],
        "next_sentence": batch.next_sentence[rows],
    }
    tensors: dict[str, Any] = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
    tensors["mask"] = None if present.all() else torch.from_numpy(present).to(device)
    return tensors


def log_line(progress: Progress, rate: float) -> dict[str, float | int | None]:
    """One line of log.jsonl: means since the line before, but `tokens` and `seconds` since the start."""
    sums = progress.pending
    mlm = sums["mlm_loss"] / max(1, sums["masked"])
    nsp = sums["nsp_loss"] / sums["pairs"] if sums["pairs"] else None
    return {
        "step": progress.step,
        "loss": mlm + (nsp or 0.0),
        "mlm_loss": mlm,
        "nsp_loss": nsp,
        "mlm_accuracy": sums["correct"] / max(1, sums["masked"]),
        "nsp_accuracy": sums["nsp_correct"] / sums["pairs"] if sums["pairs"] else None,
        "learning_rate": rate,
        "tokens": progress.tokens,
        "cut_tokens": int(sums["cut"]),
        "padding": 1 - sums["tokens"] / sums["padded"],
        "tokens_per_second": sums["tokens"] / sums["seconds"],
        "seconds": progress.seconds,
    }


@contextmanager
def stop_requests() -> Iterator[list[int]]:
    """Collect requests to stop (SIGTERM, Ctrl-C) instead of dying in the middle of a step."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)

    earlier = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield received
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def facts(work: Pretraining, inputs: dict[str, Any]) -> dict[str, Any]:
    """What state.json says of how the weights came about."""
    found = provenance()
    found["hardware"] |= {
        "device": work.device.type,
        "threads": torch.get_num_threads(),
        "precision": work.precision,
    }
    return found | {
        "recipe": asdict(work.recipe),
        "inputs": inputs,
        "instances_per_epoch": len(work.instances),
    }


def check(recipe: PretrainingRecipe, packed: PackedTokens, vocabulary: Vocabulary, to: int) -> None:
    """Refuse what can't be trained, before anything is spent on it."""
    if packed.vocab_size != vocabulary.size or packed.special["mask"] != vocabulary.mask:
        raise PubmillError(
            f"the tokens were packed with a vocabulary of {packed.vocab_size}, "
            f"--vocab has {vocabulary.size}: "
            "give the vocabulary they were packed with, or pack again"
        )
    if recipe.sequence_length > recipe.architecture.max_positions:
        raise PubmillError(
            f"sequence_length {recipe.sequence_length} is beyond "
            f"max_positions {recipe.architecture.max_positions}"
        )
    if not 0 < to <= recipe.steps:
        raise PubmillError(f"--to {to}: the recipe has {recipe.steps} steps")
    if int(os.environ.get("WORLD_SIZE", "1")) != 1:
        raise PubmillError("several processes (torchrun) are not supported yet: start one process")


def pretrain(
    recipe: PretrainingRecipe,
    tokens: Path,
    vocab: Path,
    output: Path,
    to: int,
    start: Path | None = None,
    save_minutes: float = 10.0,
    version: int = 0,
) -> None:
    """Pretrain up to step `to` and write the checkpoint `output`; `start` is the checkpoint to go on from.

    A segment that was interrupted goes on from its own last save, made every `save_minutes` (0: after each
    step), unless that belongs to other work: another recipe, other inputs or another `version` of the stage.
    Raises `PubmillError` where another process is at work on the segment or the loss is no number any more
    (the last save stays), and `SystemExit` after saving where it was asked to stop.
    """
    with checkpoints.hold(output):
        packed, vocabulary = PackedTokens(tokens), read_vocabulary(vocab)
        check(recipe, packed, vocabulary, to)
        torch.use_deterministic_algorithms(not torch.cuda.is_available())
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        work = Pretraining(recipe, packed, vocabulary)
        known = facts(work, checkpoints.fingerprints(packed, vocab, start, version))
        progress = resume(work, output, to, start, known)
        train(work, progress, to, output, known, save_minutes)


def resume(work: Pretraining, output: Path, to: int, start: Path | None, known: dict[str, Any]) -> Progress:
    """Put `work` where it stood: at the segment's own last save, else at `start`, else at the beginning."""
    own = checkpoints.latest_partial(output)
    if own and (others := checkpoints.other_work(own, known)):
        say(f"{own} belongs to other work (differing: {', '.join(others)}): discarded, beginning anew")
        checkpoints.remove_partial(output)
        own = None
    source = own or start
    if source is None:
        return Progress()
    progress = checkpoints.load(source, work.model, work.optimizer, known["recipe"])
    if progress.step > to or (progress.step == to and own is None):
        raise PubmillError(f"{source} is at step {progress.step} already, --to is {to}")
    warn_of_changes(read_json(source / "state.json"), known)
    return progress


def warn_of_changes(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Say so where the result will not be bit for bit that of an undisturbed run."""
    for group, names in DECIDING.items():
        for name in names:
            old, new = before.get(group, {}).get(name), now[group].get(name)
            if old != new:
                say(f"{name} was {old}, is now {new}: last digits may differ")


def train(
    work: Pretraining,
    progress: Progress,
    to: int,
    output: Path,
    known: dict[str, Any],
    save_minutes: float,
) -> None:
    """Do the updates from `progress` up to step `to`, saving on the way, and write the checkpoint."""
    reported = saved = time.monotonic()
    with stop_requests() as stops:
        while progress.step < to:
            line = advance(work, progress, output)
            now = time.monotonic()
            if stops or (now - saved >= 60 * save_minutes and progress.step < to):
                made = checkpoints.save_partial(output, work.model, work.optimizer, progress, known)
                saved = time.monotonic()
                if stops:
                    say(f"asked to stop; saved {made}; the same command goes on")
                    raise SystemExit(128 + stops[0])
            if now - reported > REPORT_SECONDS:
                reported = now
                report(line, work.recipe.steps, to, progress)
        checkpoints.save(output, work.model, work.optimizer, progress, known)
    checkpoints.remove_partial(output)


def advance(work: Pretraining, progress: Progress, output: Path) -> dict[str, Any]:
    """Do one update and count it; return the line of the log as it stands, kept where one is due."""
    began = time.monotonic()
    try:
        sums = work.update(progress.step)
    except FloatingPointError as error:
        raise lost(error, progress.step, output) from None
    sums["seconds"] = time.monotonic() - began
    progress.step += 1
    progress.tokens += int(sums["tokens"])
    progress.seconds += sums["seconds"]
    progress.pending = {key: progress.pending.get(key, 0.0) + sums[key] for key in SUMS}
    steps = work.recipe.steps
    line = log_line(progress, learning_rate(work.recipe.optimisation, progress.step - 1, steps))
    if progress.step % max(1, steps // LOG_LINES) == 0 or progress.step == steps:
        progress.log.append(line)
        progress.pending = {}
    return line


def lost(error: FloatingPointError, step: int, output: Path) -> PubmillError:
    """What to tell when the training has diverged."""
    good = checkpoints.latest_partial(output) or "the checkpoint it started from"
    return PubmillError(
        f"step {step + 1}: {error}; nothing of it was kept. Last good save: {good}. Lower "
        "optimisation.learning_rate or lengthen warmup; `precision: float32` excludes rounding as the cause"
    )


def report(line: dict[str, Any], steps: int, to: int, progress: Progress) -> None:
    """Say how far it is."""
    left = (to - progress.step) * progress.seconds / progress.step
    say(
        f"step {progress.step}/{to} (of {steps})  loss {line['loss']:.3f}  "
        f"{line['tokens_per_second']:,.0f} tokens/s  {left / 60:.0f} min left"
    )


def say(text: str) -> None:
    """Print on stderr; where nobody listens any more (a closed pipe), go on in silence."""
    with suppress(OSError):
        print(f"pretrain: {text}", file=sys.stderr, flush=True)
