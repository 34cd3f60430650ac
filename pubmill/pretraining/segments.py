"""A segment of a pretraining: from packed tokens and a checkpoint to the next checkpoint."""

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.hardware.provenance import provenance
from pubmill.hardware.torch_setup import (
    STRICT,
    configure_cuda,
    cuda_settings,
    leave_uninitialized_memory,
    measured_rate,
)
from pubmill.messages.progress import report_progress
from pubmill.pretraining import checkpoints
from pubmill.pretraining.checkpoints import BackgroundSaves, Line, PretrainingProgress, WeightsOrigin
from pubmill.pretraining.distributed import World, join
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.masking import Vocabulary, read_vocabulary
from pubmill.pretraining.methods import Methods
from pubmill.pretraining.packed_tokens import HELD_OUT, PackedTokens
from pubmill.recipes import PretrainingRecipe
from pubmill.recipes.objectives import Term
from pubmill.recipes.reading import as_values
from pubmill.storage.files import locked, read_json, sha256

LOG_LINES, REPORT_SECONDS = 200, 5.0
# The loss of masked tokens, averaged over about this many steps, may rise this far (in nats) above its lowest
# value; while it is suspiciously high, no save is replaced.
AVERAGED_STEPS, DIVERGED, SUSPICIOUS = 50, 1.0, 0.5
# Fields of state.json's environment that the last digits depend on.
DECIDING = {
    "hardware": (
        *("cpu", "gpus", "device", "processes", "threads", "precision", "deterministic", "tf32"),
        *(field.name for field in fields(Methods)),
    ),
    "packages": ("torch", "transformers", "numpy"),
}
Evaluation = Callable[[Pretraining, Path], dict[str, Line] | None]
"""Losses of a finished segment on the held-out documents in a folder, if it has any."""


class DivergedError(PubmillError):
    """The loss of a training is not finite, or has risen too far above its lowest value."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Inputs and end of a segment. `previous`: the previous checkpoint of the same recipe. A first segment
    may have `model`, a Hugging Face folder with its initial weights, or `other`, a checkpoint of another
    recipe to continue (weights, optimiser and steps). `teacher`: the folder of a distillation's teacher."""

    tokens: Path
    vocab: Path
    output: Path
    to: int
    previous: Path | None = None
    model: Path | None = None
    other: Path | None = None
    teacher: Path | None = None
    save_minutes: float = 10.0
    version: int | list[int] = 0


def pretrain(recipe: PretrainingRecipe, segment: Segment, evaluate: Evaluation | None = None) -> None:
    """Pretrain up to step `segment.to` and write the checkpoint `segment.output`. `evaluate` returns
    `held_out` of its state.json (default: `held_out_losses`).

    A segment that was interrupted continues from its own last save, made every `save_minutes` (0: after each
    step), unless that belongs to other work: another recipe, other inputs or another `version` of the stage.
    Raises `PubmillError` if another process works on the segment, `DivergedError` if the loss diverges (the
    last good save stays), and `StopRequestedError`, after saving, if a signal asked it to stop.
    """
    world = join()
    # Else an orphan of a killed workflow would write to the same saves as its successor.
    with locked(segment.output.with_name(f".{segment.output.name}.lock")) if world.first else nullcontext():
        packed = PackedTokens(segment.tokens)
        packed.check_parts()
        if world.first:
            packed.verify()
        vocabulary = read_vocabulary(segment.vocab, packed.special)
        check(recipe, packed, vocabulary, segment, world)
        if world.device.type == "cuda":
            configure_cuda(deterministic=False)
        else:
            torch.use_deterministic_algorithms(True)
            leave_uninitialized_memory()
        work = Pretraining(recipe, packed, vocabulary, world, segment.model, segment.teacher)
        origin = origin_of(work, segment, packed)
        progress = resume(work, segment, origin)
        train(work, progress, segment, origin, evaluate or held_out_losses)


def check(
    recipe: PretrainingRecipe, packed: PackedTokens, vocabulary: Vocabulary, segment: Segment, world: World
) -> None:
    """Raise a `PubmillError`, before any computation, for inputs that cannot be trained."""
    if packed.vocab_size != vocabulary.size:
        raise PubmillError(
            f"the tokens were packed with a vocabulary of {packed.vocab_size}, --vocab has "
            f"{vocabulary.size}: give the vocabulary they were packed with, or pack again"
        )
    if not 0 < segment.to <= recipe.steps:
        raise PubmillError(f"--to {segment.to}: the recipe has {recipe.steps} steps")
    if world.size > recipe.batch_size:
        raise PubmillError(f"{world.size} processes for batches of {recipe.batch_size}: start fewer")


def origin_of(work: Pretraining, segment: Segment, packed: PackedTokens) -> WeightsOrigin:
    """Return the origin of a segment's weights: recipe, inputs, packages and hardware."""
    made_with = provenance()
    hardware = {
        **made_with["hardware"],
        "device": work.world.device.type,
        "processes": work.world.size,
        "threads": torch.get_num_threads(),
        "precision": work.precision,
    } | cuda_settings(work.world.device)
    if work.world.device.type == "cuda":
        hardware |= asdict(work.computation.methods) | {"methods_refused": work.computation.refused}
    folders = {name: getattr(segment, name) for name in ("previous", "model", "other", "teacher")}
    weights = {name: folder / "model.safetensors" if folder else None for name, folder in folders.items()}
    return {
        **made_with,
        "hardware": hardware,
        "recipe": as_values(work.recipe),
        "inputs": {
            "tokens": packed.fingerprint(),
            "vocab": sha256(segment.vocab / "tokenizer.json"),
            **{name: sha256(file) if file else None for name, file in weights.items()},
            "version": segment.version,
        },
        "instances_per_epoch": len(work.batches.instances),
    }


def resume(work: Pretraining, segment: Segment, origin: WeightsOrigin) -> PretrainingProgress:
    """Restore `work` from the segment's last save, else from the checkpoint before it, if any; return the
    progress."""
    own = work.world.decide(lambda: own_save(segment.output, origin))
    source = own or segment.previous or segment.other
    if source is None:
        return PretrainingProgress()
    progress = checkpoints.load(source, work, same_recipe=source != segment.other)
    if progress.step > segment.to or (progress.step == segment.to and own is None):
        raise PubmillError(f"{source} is at step {progress.step} already, --to is {segment.to}")
    if work.world.first:
        if own:
            report_progress(f"going on from the last save, step {progress.step}")
            if origin["hardware"].get("deterministic", "required") != "required":
                report_progress(f"without {STRICT}=1 the last digits may differ from an undisturbed run's")
        before: Mapping[str, Any] = read_json(source / "state.json")
        now: Mapping[str, Any] = origin
        for group, names in DECIDING.items():
            for name in names:
                old, new = before.get(group, {}).get(name), now[group].get(name)
                if old != new:
                    report_progress(f"{name} was {old}, is now {new}: last digits may differ")
    return progress


def own_save(output: Path, origin: Mapping[str, Any]) -> Path | None:
    """Return the last complete save of this segment; remove saves of other work."""
    for own in checkpoints.partials(output):
        try:
            state, _ = checkpoints.verified(own)
        except checkpoints.DamagedCheckpointError as error:
            report_progress(f"{error} Now the save before it is continued, if there is one.")
            continue
        recipe = checkpoints.differing_keys(state["recipe"], origin["recipe"])
        others = checkpoints.differing_keys(state["inputs"], origin["inputs"])
        if others := [*others, *(f"recipe.{key}" for key in recipe)]:
            fault = f"{own} belongs to other work (differing: {', '.join(others)})"
            report_progress(f"{fault}: discarded, beginning anew")
            checkpoints.remove_partial(output)
            return None
        return own
    return None


@contextmanager
def stop_requests() -> Iterator[list[int]]:
    """Collect requests to stop (SIGTERM, Ctrl-C) instead of ending within a step."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)

    earlier = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield received
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def train(
    work: Pretraining,
    progress: PretrainingProgress,
    segment: Segment,
    origin: WeightsOrigin,
    evaluate: Evaluation,
) -> None:
    """Make the updates from `progress` to the segment's end, with saves, and write the checkpoint."""
    peak = measured_rate(work.world.device, work.precision) * work.world.size
    events = segment.output.parent / "tensorboard"
    board = event_writer(events, progress.step + 1) if work.world.first else None
    reported = saved = time.monotonic()
    began = progress.step
    with stop_requests() as stops, BackgroundSaves(segment.output) as saves:
        work.stop_asked = lambda: len(stops) > 0
        try:
            while progress.step < segment.to:
                line, logged = advance(work, progress, saves, peak)
                saves.check()
                now = time.monotonic()
                due = now - saved >= 60 * segment.save_minutes and progress.step < segment.to
                save, stop = work.world.any(due and work.world.first, len(stops) > 0)
                if stop:
                    raise StopRequestedError
                if save and not progress.suspicious(SUSPICIOUS):
                    saves.save(work, progress, origin)
                    saved = time.monotonic()
                if board and line and logged:
                    write_events(board, line)
                if work.world.first and line and now - reported > REPORT_SECONDS:
                    reported = now
                    report_progress(progress_line(line, segment.to, work.recipe.steps, progress.seconds))
            held_out = evaluate(work, segment.tokens / HELD_OUT)
        except StopRequestedError:
            if progress.step == began:
                report_progress("asked to stop before another step was complete; the same command continues")
            else:
                made = saves.save(work, progress, origin)
                saves.wait()
                report_progress(f"asked to stop; saved {made}; the same command continues from there")
            raise StopRequestedError(stops[0] if stops else signal.SIGTERM) from None
        saves.wait()
        finished: checkpoints.FinishedOrigin = {**origin, "held_out": held_out}
        checkpoints.save(segment.output, work, progress, finished)
    if board:
        board.close()
    if work.world.first:
        checkpoints.remove_partial(segment.output)


def advance(
    work: Pretraining, progress: PretrainingProgress, saves: BackgroundSaves, peak: float
) -> tuple[Line | None, bool]:
    """Make one update and count it; return the current log line, and whether it was logged. None if all steps
    since the last line were skipped."""
    began, busy = time.monotonic(), time.process_time()
    try:
        sums = work.update(progress.step)
        sums["seconds"] = time.monotonic() - began
        sums["processor_seconds"] = time.process_time() - busy
        progress.count(sums, AVERAGED_STEPS, DIVERGED, work.terms[0])
    except FloatingPointError as error:
        saves.wait()
        good = next(iter(checkpoints.partials(saves.output)), "the checkpoint it started from")
        raise DivergedError(
            f"step {progress.step + 1}: {error}; nothing of it was kept. Last good save: {good}. Lower "
            "optimisation.learning_rate or lengthen warmup; `precision: float32` excludes rounding as the "
            "cause"
        ) from None
    steps = work.recipe.steps
    if not progress.pending:
        return None, False
    rate = work.optimiser.param_groups[0]["lr"]
    line = log_line(work.terms, progress.pending, progress.step, rate, peak)
    line |= {"tokens": progress.tokens, "seconds": progress.seconds}
    due = progress.step % max(1, steps // LOG_LINES) == 0 or progress.step == steps
    if due:
        progress.log.append(line)
        progress.pending = {}
    return line, due


def means(terms: Iterable[Term], sums: Mapping[str, float]) -> Line:
    """Return the mean loss of each term and, if it has labels, its accuracy; None without labels."""
    line: Line = {}
    for term in terms:
        count = sums[term.per]
        line[f"{term.name}_loss"] = sums[f"{term.name}_loss"] / count if count else None
        if term.chooses:
            line[f"{term.name}_accuracy"] = sums[f"{term.name}_correct"] / count if count else None
    return line


def log_line(terms: tuple[Term, ...], sums: Mapping[str, float], step: int, rate: float, peak: float) -> Line:
    """Return a log line: means over the steps of `sums`; `peak`: the device's operations per second."""
    averages, seconds = means(terms, sums), sums["seconds"]
    loss = sum(term.weight * (averages[f"{term.name}_loss"] or 0.0) for term in terms)
    return {
        **{"step": step, "loss": loss, **averages, "learning_rate": rate},
        "cut_tokens": int(sums["cut"]),
        "padding": 1 - sums["tokens"] / sums["padded"],
        "tokens_per_second": sums["tokens"] / seconds,
        "mfu": sums["flops"] / seconds / peak,
    }


def event_writer(folder: Path, step: int) -> Any:
    """Return a writer of TensorBoard events to a folder; None if TensorBoard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        report_progress("no TensorBoard here (pip install tensorboard): log.jsonl alone is written")
        return None
    return SummaryWriter(str(folder), purge_step=step)


def write_events(writer: Any, line: Line) -> None:
    """Write a line's numbers at its step."""
    for name, value in line.items():
        if name != "step" and value is not None:
            writer.add_scalar(name, value, line["step"])
    writer.flush()


def progress_line(line: Line, to: int, steps: int, seconds: float) -> str:
    """Return the progress as text; `seconds`: time spent so far."""
    step = int(line["step"] or 0)
    left = (to - step) * seconds / step
    return (
        f"step {step}/{to} (of {steps})  loss {line['loss']:.3f}  "
        f"{line['tokens_per_second']:,.0f} tokens/s  MFU {line['mfu']:.0%}  {left / 60:.0f} min left"
    )


def held_out_losses(work: Pretraining, folder: Path) -> dict[str, Line] | None:
    """Return losses on held-out documents with the recipe's masking and with single subwords, which makes
    recipes with the same vocabulary comparable. None without held-out documents."""
    if not (folder / "index.json").is_file():
        return None
    packed, losses = PackedTokens(folder), dict[str, Line]()
    packed.verify()
    for masking in dict.fromkeys((work.recipe.objective.masking, "subword")):
        sums = work.evaluate(packed, masking)
        if sums is None:
            return None
        terms = [term for term in work.terms if sums[f"{term.name}_loss"]]
        losses[masking] = means(terms, sums) | {"masked": int(sums["masked"])}
    return losses
