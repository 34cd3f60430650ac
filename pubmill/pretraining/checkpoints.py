"""Where a pretraining stands, as a folder: written whole, read back exactly.

    model.safetensors, config.json   the weights in float32, as transformers reads them
    auxiliary.safetensors            weights that are trained beside the model's (ELECTRA's generator, a
                                     distillation's projection); often none
    optimizer.safetensors            NAME.STATE of every weight, for each state of the optimiser
    state.json                       step, recipe, inputs, sums not yet logged, held-out losses, packages,
                                     hardware
    log.jsonl                        a line for every stretch of steps

The random numbers of a step come from (seed, step), so there is no state of a generator to keep.
While a segment runs, it saves itself in a hidden folder beside its output; such a save is gone on from only
by the same work, which `fingerprints` and the recipe tell.
"""

import json
import shutil
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from pubmill.errors import PubmillError
from pubmill.files import locked, read_json, sha256, write_json, writing_folder
from pubmill.optimisers import OPTIMISERS
from pubmill.pretraining.objectives import Term
from pubmill.pretraining.tokens import PackedTokens
from pubmill.recipes.pretraining import MEMORY_ONLY

if TYPE_CHECKING:
    from pubmill.pretraining.engine import Pretraining

Log = list[dict[str, Any]]
CHECKPOINT_FILES = (
    "state.json",
    "model.safetensors",
    "auxiliary.safetensors",
    "optimizer.safetensors",
    "log.jsonl",
)
MODEL = "model."
"""What the names of the exported model's weights begin with, among those of all that is trained."""


@dataclass
class Progress:
    """Updates done, lines of the log, and sums over the steps since its last line.

    `tokens` and `seconds` are those of the whole pretraining so far. `average` is the loss of masked tokens
    over the last steps, `lowest` the lowest that this has been.
    """

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    log: Log = field(default_factory=list)
    pending: dict[str, float] = field(default_factory=dict)
    average: float | None = None
    lowest: float | None = None

    def count(self, sums: dict[str, float], averaged: int, limit: float, watched: Term) -> None:
        """Add a step. Raises `FloatingPointError` where the average over about `averaged` steps has risen by
        more than `limit` above its lowest."""
        loss = sums[f"{watched.name}_loss"] / max(1.0, sums[watched.per])
        weight = 1 / min(self.step + 1, averaged)
        self.average = loss if self.average is None else (1 - weight) * self.average + weight * loss
        self.lowest = self.average if self.lowest is None else min(self.lowest, self.average)
        if self.average > self.lowest + limit:
            raise FloatingPointError(
                f"the loss of masked tokens has risen from {self.lowest:.2f} to {self.average:.2f}"
            )
        self.step += 1
        self.tokens += int(sums["tokens"])
        self.seconds += sums["seconds"]
        self.pending = {key: self.pending.get(key, 0.0) + value for key, value in sums.items()}

    def suspicious(self, limit: float) -> bool:
        """Whether the loss has risen so far that its weights should not replace a save."""
        return self.average is not None and self.lowest is not None and self.average > self.lowest + limit


def save(folder: Path, work: "Pretraining", progress: Progress, facts: dict[str, Any]) -> None:
    """Write a checkpoint, from the first process; all take part. `facts` (recipe, inputs, hardware) go into
    state.json as they are."""
    state = gathered(work)
    if not work.world.first:
        return
    with writing_folder(folder) as temporary:
        work.model.config.save_pretrained(temporary)
        # weights that are shared (embeddings and output) are written once, as transformers does
        weights = {name: weight.detach().contiguous() for name, weight in work.learner.named_parameters()}
        model = {
            name.removeprefix(MODEL): weights.pop(name) for name in list(weights) if name.startswith(MODEL)
        }
        save_file(model, temporary / "model.safetensors", {"format": "pt"})
        save_file(weights, temporary / "auxiliary.safetensors")
        save_file(state, temporary / "optimizer.safetensors")
        lines = (json.dumps(line, sort_keys=True) + "\n" for line in progress.log)
        (temporary / "log.jsonl").write_text("".join(lines))
        stood = {name: value for name, value in asdict(progress).items() if name != "log"}
        ends = {
            "loss_start": progress.log[0]["loss"] if progress.log else None,
            "loss_end": progress.log[-1]["loss"] if progress.log else None,
        }
        write_json(temporary / "state.json", stood | ends | facts)


def gathered(work: "Pretraining") -> dict[str, torch.Tensor]:
    """What the optimiser keeps, by the names of the weights; from other processes, where they have it."""
    if work.sharded:
        work.optimiser.consolidate_state_dict(0)  # type: ignore[attr-defined]
    if not work.world.first:
        return {}
    kept = work.optimiser.state_dict()["state"]
    return {
        f"{name}.{key}": kept[number][key].contiguous()
        for number, name in enumerate(_in_order(work))
        if number in kept
        for key in _kept_of_each(work)
    }


def _kept_of_each(work: "Pretraining") -> tuple[str, ...]:
    """Names of what the optimiser keeps of each weight."""
    return OPTIMISERS[work.recipe.optimisation.optimiser].state


def _in_order(work: "Pretraining") -> list[str]:
    """The names of the weights as the optimiser numbers them."""
    names = {id(weight): name for name, weight in work.learner.named_parameters()}
    return [names[id(weight)] for group in work.optimiser.param_groups for weight in group["params"]]


def load(folder: Path, work: "Pretraining", same_recipe: bool = True) -> Progress:
    """Put a checkpoint's weights and optimiser into `work`; return where it stood.

    Raises `PubmillError` where the checkpoint is not whole, or was made by another recipe; unless
    `same_recipe`, only its architecture has to be the same.
    """
    missing = [name for name in CHECKPOINT_FILES if not (folder / name).is_file()]
    if missing:
        raise PubmillError(
            f"{folder} is no whole checkpoint: it lacks {', '.join(missing)}; delete it, run again"
        )
    state, recipe = read_json(folder / "state.json"), asdict(work.recipe)
    differing = _differing(state["recipe"], recipe)
    if same_recipe and differing:
        raise PubmillError(
            f"{folder} was made by another recipe (differing: {', '.join(differing)}); "
            "delete it, or give the recipe it was made by"
        )
    if "architecture" in differing:
        raise PubmillError(f"{folder} has another architecture, so it can't be gone on with by this recipe")
    _load_weights(folder, work.learner)
    _load_optimiser(folder / "optimizer.safetensors", work)
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    stood = {name: state[name] for name in asdict(Progress()) if name != "log"}
    if not same_recipe:
        # on another corpus, or with other masks, the loss may well be higher
        stood |= {"average": None, "lowest": None}
    return Progress(log=log, **stood)


def _load_weights(folder: Path, learner: nn.Module) -> None:
    path = folder / "model.safetensors"
    tensors = {MODEL + name: tensor for name, tensor in load_file(path).items()}
    tensors |= load_file(folder / "auxiliary.safetensors")
    weights = dict(learner.named_parameters())
    if differing := sorted(tensors.keys() ^ weights.keys()):
        raise PubmillError(f"{path} is of another model: only one of them has {', '.join(differing[:3])}")
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(tensors[name])


def _load_optimiser(path: Path, work: "Pretraining") -> None:
    tensors, numbers = load_file(path), _in_order(work)
    try:
        state = {
            number: {key: tensors[f"{name}.{key}"] for key in _kept_of_each(work)}
            for number, name in enumerate(numbers)
        }
    except KeyError as error:
        raise PubmillError(f"{path} lacks {error}: it is of another model") from None
    counted, groups = 0, []
    for group in work.optimiser.param_groups:
        rest = {key: value for key, value in group.items() if key != "params"}
        groups.append(rest | {"params": list(range(counted, counted + len(group["params"])))})
        counted += len(group["params"])
    work.optimiser.load_state_dict({"state": state, "param_groups": groups})


def fingerprints(
    packed: PackedTokens, vocab: Path, folders: dict[str, Path | None], version: int
) -> dict[str, Any]:
    """What a segment was made from, beside its recipe: SHA-256 of its inputs, and the stage's version.

    `folders` are those of weights, by what they are for.
    """
    return {
        "tokens": packed.fingerprint(),
        "vocab": sha256(vocab / "tokenizer.json"),
        **{
            name: sha256(folder / "model.safetensors") if folder else None for name, folder in folders.items()
        },
        "version": version,
    }


def other_work(folder: Path, facts: dict[str, Any]) -> list[str]:
    """In what the work that a save belongs to differs from this one; nothing if it is the same."""
    state = read_json(folder / "state.json")
    recipe = _differing(state["recipe"], facts["recipe"])
    return _differing(state.get("inputs", {}), facts["inputs"]) + [f"recipe.{key}" for key in recipe]


def _differing(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return sorted(
        key
        for key in (before.keys() | now.keys()) - set(MEMORY_ONLY)
        if key not in before or before[key] != now.get(key)
    )


def hold(output: Path) -> AbstractContextManager[None]:
    """Have a segment to oneself while the block runs, or stop with a `PubmillError`.

    An orphan left by a killed workflow would else write to the same saves as its successor.
    """
    return locked(output.with_name(f".{output.name}.lock"))


def partial_folder(output: Path) -> Path:
    """Where a segment saves itself while it runs."""
    return output.with_name(f".{output.name}.partial")


def latest_partial(output: Path) -> Path | None:
    """The last whole save of an interrupted segment, if there is one."""
    saves = [path for path in partial_folder(output).glob("step-*") if (path / "state.json").is_file()]
    return max(saves, key=lambda path: int(path.name.removeprefix("step-")), default=None)


def save_partial(output: Path, work: "Pretraining", progress: Progress, facts: dict[str, Any]) -> Path:
    """Save a running segment; earlier saves go only after the new one is whole."""
    folder = partial_folder(output)
    made = folder / f"step-{progress.step}"
    save(made, work, progress, facts)
    if work.world.first:
        for path in folder.iterdir():
            if path != made:
                shutil.rmtree(path, ignore_errors=True)
    return made


def remove_partial(output: Path) -> None:
    """Remove the saves of a segment that is complete."""
    shutil.rmtree(partial_folder(output), ignore_errors=True)
