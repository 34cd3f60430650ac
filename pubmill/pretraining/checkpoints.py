"""Checkpoints of a pretraining: folders that are written as a whole and read back exactly.

    model.safetensors, config.json   the weights in float32, as transformers reads them
    auxiliary.safetensors            weights that are trained beside the model's (ELECTRA's generator, a
                                     distillation's projection); often none
    optimizer.safetensors            NAME.STATE of every weight, for each state of the optimiser
    log.jsonl                        a line for every stretch of steps
    state.json                       step, recipe, inputs, sums not yet logged, held-out losses, packages,
                                     hardware, in float16 the scale of the loss and the number of skipped
                                     steps, and the SHA-256 of the other files

The random numbers of a step come from (seed, step), so there is no state of a generator to keep.
While a segment runs, it saves itself in a hidden folder beside its output, which keeps the last two saves. A
save is continued only if its inputs and recipe match.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from pubmill.errors import PubmillError
from pubmill.optimisers import COUNT, OPTIMISERS
from pubmill.recipes.objectives import Term
from pubmill.recipes.pretraining import MEMORY_ONLY
from pubmill.recipes.reading import as_values
from pubmill.storage.files import REMAKE, read_json, sealed, sha256, write_json, writing_folder
from pubmill.storage.result_paths import CHECKPOINT_FILES
from pubmill.storage.training_reports import MadeWith

if TYPE_CHECKING:
    from pubmill.pretraining.engine import Pretraining

Line = dict[str, float | int | None]
Log = list[Line]
GENERATIONS = 2
"""Number of saves of a running segment to keep: if the last one is damaged, the one before is used."""

SCALING = "loss_scaling"
WEIGHTS, AUXILIARY, OPTIMIZER = (f"{name}.safetensors" for name in ("model", "auxiliary", "optimizer"))
MODEL = "model."
"""Prefix of the exported model's weights among all trained weights."""


class WeightsOrigin(MadeWith):
    """Entries of state.json. `recipe`: values of a `PretrainingRecipe`; `inputs`: what determines a segment
    besides it, the SHA-256 of files and the stage's version."""

    recipe: dict[str, object]
    inputs: dict[str, object]
    instances_per_epoch: int


class FinishedOrigin(WeightsOrigin):
    """Entries of a finished segment's state.json. `held_out`: masking -> losses on held-out documents."""

    held_out: dict[str, Line] | None


@dataclass
class PretrainingProgress:
    """Number of steps, log lines, and sums over the steps since the last line (`pending`). `tokens`,
    `seconds`, `operations` and `processor_seconds` (of the first process) cover the whole pretraining so far.
    `average` is the running average of the masked tokens' loss, `lowest` its lowest value so far."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    operations: float = 0.0
    processor_seconds: float = 0.0
    log: Log = field(default_factory=list)
    pending: dict[str, float] = field(default_factory=dict)
    average: float | None = None
    lowest: float | None = None

    def count(self, sums: dict[str, float], averaged: int, limit: float, watched: Term) -> None:
        """Add a step; raise `FloatingPointError` if the average loss, over about `averaged` steps, is more
        than `limit` above its lowest value. `skipped` steps, whose loss may not be finite, are left out."""
        if "skipped" not in sums:
            loss = sums[f"{watched.name}_loss"] / max(1.0, sums[watched.per])
            weight = 1 / min(self.step + 1, averaged)
            self.average = loss if self.average is None else (1 - weight) * self.average + weight * loss
            self.lowest = self.average if self.lowest is None else min(self.lowest, self.average)
            if self.average > self.lowest + limit:
                raise FloatingPointError(
                    f"the loss of masked tokens has risen from {self.lowest:.2f} to {self.average:.2f}"
                )
            self.pending = {key: self.pending.get(key, 0.0) + value for key, value in sums.items()}
        self.step += 1
        self.tokens += int(sums["tokens"])
        self.seconds += sums["seconds"]
        self.operations += sums["flops"]
        self.processor_seconds += sums["processor_seconds"]

    def suspicious(self, limit: float) -> bool:
        """Return whether the loss has risen so far that the current weights should not replace a save."""
        return self.average is not None and self.lowest is not None and self.average > self.lowest + limit


STOOD = [part.name for part in fields(PretrainingProgress) if part.name != "log"]
"""Fields of a `PretrainingProgress` that state.json contains."""


class DamagedCheckpointError(PubmillError):
    """A checkpoint lacks a file or has a damaged one; the message names it."""


def _damage_error(path: Path, fault: object) -> DamagedCheckpointError:
    return DamagedCheckpointError(f"{path} is damaged: {fault}. {REMAKE}")


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A checkpoint in memory. `config`: the model's; `tensors`: file -> name -> tensor; `state`: content of
    state.json without the digests of the files."""

    config: Any
    tensors: dict[str, dict[str, torch.Tensor]]
    log: Log
    state: dict[str, object]


def save(folder: Path, work: "Pretraining", progress: PretrainingProgress, origin: WeightsOrigin) -> None:
    """Write a checkpoint from the first process; all must call this. `origin` is copied into state.json."""
    if snapshot := take_snapshot(work, progress, origin):
        write_snapshot(folder, snapshot)


def take_snapshot(
    work: "Pretraining", progress: PretrainingProgress, origin: WeightsOrigin
) -> Snapshot | None:
    """Return a checkpoint of the current state; its tensors are not copied, and the next step changes them.
    All processes must call this; all but the first get None."""
    optimiser = gather_state(work)
    if not work.world.first:
        return None
    weights = {
        file: {name: weight.detach().contiguous() for name, weight in of_file.items()}
        for file, of_file in _weights_by_file(work.learner).items()
    }
    stood = {name: value for name, value in asdict(progress).items() if name in STOOD}
    ends = {
        "loss_start": progress.log[0]["loss"] if progress.log else None,
        "loss_end": progress.log[-1]["loss"] if progress.log else None,
    }
    scaling = {SCALING: kept} if (kept := work.scaling.state()) else {}
    return Snapshot(
        config=work.model.config,
        tensors={**weights, OPTIMIZER: optimiser},
        log=list(progress.log),
        state={**stood, **ends, **scaling, **origin},
    )


def _weights_by_file(learner: nn.Module) -> dict[str, dict[str, nn.Parameter]]:
    """Return file -> name -> weight: the exported model's weights, and all others. Shared weights (embeddings
    and output) are there once, as transformers writes them."""
    files = dict[str, dict[str, nn.Parameter]]({WEIGHTS: {}, AUXILIARY: {}})
    for name, weight in learner.named_parameters():
        files[WEIGHTS if name.startswith(MODEL) else AUXILIARY][name.removeprefix(MODEL)] = weight
    return files


def write_snapshot(folder: Path, snapshot: Snapshot) -> None:
    """Write a checkpoint."""
    with writing_folder(folder) as temporary:
        snapshot.config.save_pretrained(temporary)
        for name, tensors in snapshot.tensors.items():
            save_file(tensors, temporary / name, {"format": "pt"} if name == WEIGHTS else None)
        lines = (json.dumps(line, sort_keys=True) + "\n" for line in snapshot.log)
        (temporary / "log.jsonl").write_text("".join(lines), encoding="utf-8")
        digests = {"files": {path.name: sha256(path) for path in sorted(temporary.iterdir())}}
        write_json(temporary / "state.json", sealed(snapshot.state | digests))


def gather_state(work: "Pretraining") -> dict[str, torch.Tensor]:
    """Return the optimiser's state by weight name, gathered from all processes if it is sharded."""
    if work.sharded:
        work.optimiser.consolidate_state_dict(0)  # type: ignore[attr-defined]
    if not work.world.first:
        return {}
    kept = work.optimiser.state_dict()["state"]
    return {
        f"{name}.{key}": kept[number][key].contiguous()
        for number, (name, _, entries) in enumerate(_state_entries(work))
        if number in kept
        for key in entries
    }


def _state_entries(work: "Pretraining") -> list[tuple[str, torch.Tensor, tuple[str, ...]]]:
    """Return each weight's name, the weight, and the names of its state, in the optimiser's order."""
    every = OPTIMISERS[work.recipe.optimisation.optimiser].state
    names = {id(weight): name for name, weight in work.learner.named_parameters()}
    return [
        (names[id(weight)], weight, every[:-1] if group.get("orthogonal") else every)
        for group in work.optimiser.param_groups
        for weight in group["params"]
    ]


def load(folder: Path, work: "Pretraining", same_recipe: bool = True) -> PretrainingProgress:
    """Load a checkpoint's weights and optimiser state into `work`; return its progress. Raises a
    `PubmillError` if it is damaged or of another recipe (unless `same_recipe`: another architecture)."""
    state, log = verified(folder)
    differing = differing_keys(state["recipe"], as_values(work.recipe))
    if same_recipe and differing:
        raise PubmillError(
            f"{folder} was made by another recipe (differing: {', '.join(differing)}); "
            "delete it, or give the recipe it was made by"
        )
    if not _same_weights(state["recipe"]["architecture"], as_values(work.recipe.architecture)):
        raise PubmillError(f"{folder} has another architecture, so this recipe cannot continue it")
    for file, weights in _weights_by_file(work.learner).items():
        tensors = _read_tensors(folder / file, {name: weight.shape for name, weight in weights.items()})
        if unknown := sorted(tensors.keys() - weights.keys()):
            raise PubmillError(f"{folder / file} has {unknown[0]}: it is of another model")
        for name, weight in weights.items():
            weight.data.copy_(tensors[name])
    work.scaling.restore(state.get(SCALING, {}))
    if work.scaling.skipped < state["step"]:  # Else no update was made, and LAMB has no state.
        _load_optimiser(folder / OPTIMIZER, work)
    stood = {name: state[name] for name in STOOD}
    if not same_recipe:
        # On another corpus, or with another masking, the loss may be higher.
        stood |= {"average": None, "lowest": None}
    return PretrainingProgress(log=log, **stood)


def _same_weights(before: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """Return whether two architectures have the same weights. ModernBERT's `rotary` and `max_positions` have
    none, so they may differ between phases of a training."""
    modern = before["family"] == now["family"] == "modernbert"
    free = {"rotary", "max_positions"} if modern else set()
    return {**before, **dict.fromkeys(free)} == {**now, **dict.fromkeys(free)}


def verified(folder: Path) -> tuple[dict[str, Any], Log]:
    """Return the state and log of a checkpoint after comparing all files with their digests. Raises a
    `DamagedCheckpointError` with the name of the missing or damaged file."""
    _check_complete(folder, CHECKPOINT_FILES)
    try:
        state = read_json(folder / "state.json")
    except PubmillError as error:
        raise DamagedCheckpointError(str(error)) from None
    if absent := {"recipe", "inputs", "files", *STOOD} - set(state):
        raise _damage_error(folder / "state.json", f"it is without {', '.join(sorted(absent))}")
    _check_complete(folder, state["files"])
    for name, digest in state["files"].items():
        if sha256(folder / name) != digest:
            raise _damage_error(folder / name, "it has another SHA-256 than state.json says")
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return state, [json.loads(line) for line in lines]


def _check_complete(folder: Path, names: Iterable[str]) -> None:
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise _damage_error(folder, f"it lacks {', '.join(missing)}")


def _read_tensors(path: Path, shapes: Mapping[str, torch.Size]) -> dict[str, torch.Tensor]:
    """Return the tensors of a file. Raises a `PubmillError` if it is damaged, or if one of `shapes` is absent
    or has another type or shape, such as (1, n), which would be broadcast to (m, n)."""
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        raise _damage_error(path, error) from None
    if lacking := sorted(shapes.keys() - tensors.keys()):
        raise PubmillError(f"{path} lacks {lacking[0]}: it is of another model")
    for name, expected in shapes.items():
        tensor = tensors[name]
        if tensor.shape != expected or tensor.dtype != torch.float32:
            raise PubmillError(
                f"{path}: {name} is {tensor.dtype} of shape {list(tensor.shape)}, expected float32 of shape "
                f"{list(expected)}: it is damaged, or of another model"
            )
    return tensors


def _load_optimiser(path: Path, work: "Pretraining") -> None:
    entries = _state_entries(work)
    shapes = {
        f"{name}.{key}": torch.Size() if key == COUNT else weight.shape
        for name, weight, keys in entries
        for key in keys
    }
    tensors = _read_tensors(path, shapes)
    state = [{key: tensors[f"{name}.{key}"] for key in keys} for name, _, keys in entries]
    numbers = count()
    groups = [
        group | {"params": [next(numbers) for _ in group["params"]]} for group in work.optimiser.param_groups
    ]
    work.optimiser.load_state_dict({"state": dict(enumerate(state)), "param_groups": groups})


def differing_keys(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Return the keys of two recipes or inputs whose values differ, except those that only concern memory."""
    return sorted(
        key
        for key in (before.keys() | now.keys()) - set(MEMORY_ONLY)
        if key not in before or before[key] != now.get(key)
    )


def partial_folder(output: Path) -> Path:
    """Return the folder in which a running segment saves."""
    return output.with_name(f".{output.name}.partial")


def partials(output: Path) -> list[Path]:
    """Return the saves of an interrupted segment, latest first."""
    saves = partial_folder(output).glob("step-*")
    return sorted(saves, key=lambda path: int(path.name.removeprefix("step-")), reverse=True)


def write_partial(output: Path, snapshot: Snapshot) -> None:
    """Write a save of a running segment; once it is complete, remove all but the last two."""
    folder = partial_folder(output)
    write_snapshot(folder / f"step-{snapshot.state['step']}", snapshot)
    kept = partials(output)[:GENERATIONS]
    for path in folder.iterdir():
        if path not in kept:
            shutil.rmtree(path, ignore_errors=True)


def remove_partial(output: Path) -> None:
    """Remove the saves of a finished segment."""
    shutil.rmtree(partial_folder(output), ignore_errors=True)


class BackgroundSaves:
    """Context manager for the saves of the running segment `output`, which are written one at a time. Until a
    save is complete, the previous one stays. Leaving the context waits for the last save."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self._thread = ThreadPoolExecutor(1, "save")
        self._copies: dict[tuple[str, str], torch.Tensor] = {}
        self._pending: Future[None] | None = None

    def __enter__(self) -> "BackgroundSaves":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()
        if error is None:
            self.wait()

    def save(self, work: "Pretraining", progress: PretrainingProgress, origin: WeightsOrigin) -> Path:
        """Copy the state, which the next step may then change, and begin to write it; return the save's
        folder. All processes must call this. Waits for the save before; raises its error."""
        self.wait()
        if snapshot := take_snapshot(work, progress, origin):
            copied, ready = self._copy(snapshot)

            def write() -> None:
                ready()
                write_partial(self.output, copied)

            self._pending = self._thread.submit(write)
        return partial_folder(self.output) / f"step-{progress.step}"

    def check(self) -> None:
        """Raise the error of a save that could not be written, if there is one."""
        if self._pending and self._pending.done():
            self.wait()

    def wait(self) -> None:
        """Wait until the last save is written; raise its error."""
        pending, self._pending = self._pending, None
        if pending:
            pending.result()

    def _copy(self, snapshot: Snapshot) -> tuple[Snapshot, Callable[[], object]]:
        """Return a copy in the host's memory, and a function that waits until it is complete. A GPU copies
        between this step and the next into pinned memory, which the next save uses again."""
        on_gpu = False
        for file, tensors in snapshot.tensors.items():
            for name, tensor in tensors.items():
                on_gpu |= tensor.is_cuda
                if (file, name) not in self._copies:
                    made = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.is_cuda)
                    self._copies[file, name] = made
                self._copies[file, name].copy_(tensor, non_blocking=True)
        copies = {file: {key: self._copies[file, key] for key in of} for file, of in snapshot.tensors.items()}
        if not on_gpu:
            return replace(snapshot, tensors=copies), lambda: None
        copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
        copied.record()
        return replace(snapshot, tensors=copies), copied.synchronize
