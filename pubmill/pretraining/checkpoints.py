"""Where a pretraining stands, as a folder: written whole, read back exactly.

    model.safetensors, config.json   the weights in float32, as transformers reads them
    optimizer.safetensors            NAME.exp_avg, NAME.exp_avg_sq and NAME.step of every weight
    state.json                       step, recipe, inputs, sums not yet logged, packages, hardware
    log.jsonl                        a line for every stretch of steps

The random numbers of a step come from (seed, step), so there is no state of a generator to keep.
While a segment runs, it saves itself in a hidden folder beside its output; such a save is gone on from only
by the same work, which `fingerprints` and the recipe tell.
"""

import json
import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from pubmill.errors import PubmillError
from pubmill.files import locked, read_json, sha256, write_json, writing_folder
from pubmill.pretraining.tokens import PackedTokens

Log = list[dict[str, Any]]


@dataclass
class Progress:
    """Updates done, lines of the log, and sums over the steps since its last line.

    `tokens` and `seconds` are those of the whole pretraining so far.
    """

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    log: Log = field(default_factory=list)
    pending: dict[str, float] = field(default_factory=dict)


def save(
    folder: Path, model: Any, optimizer: torch.optim.Optimizer, progress: Progress, facts: dict[str, Any]
) -> None:
    """Write a checkpoint; `facts` (recipe, inputs, hardware) go into state.json as they are."""
    with writing_folder(folder) as temporary:
        model.config.save_pretrained(temporary)
        # weights that are shared (embeddings and output) are written once, as transformers does
        weights = {name: weight.detach().contiguous() for name, weight in model.named_parameters()}
        save_file(weights, temporary / "model.safetensors", {"format": "pt"})
        save_file(_optimizer_tensors(model, optimizer), temporary / "optimizer.safetensors")
        lines = (json.dumps(line, sort_keys=True) + "\n" for line in progress.log)
        (temporary / "log.jsonl").write_text("".join(lines))
        state = {
            "step": progress.step,
            "tokens": progress.tokens,
            "seconds": progress.seconds,
            "pending": progress.pending,
            "loss_start": progress.log[0]["loss"] if progress.log else None,
            "loss_end": progress.log[-1]["loss"] if progress.log else None,
        }
        write_json(temporary / "state.json", state | facts)


def load(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, recipe: dict[str, Any]
) -> Progress:
    """Put a checkpoint's weights and optimiser into `model` and `optimizer`; return where it stood.

    Raises `PubmillError` where the checkpoint is not whole, or was made by another recipe.
    """
    missing = [
        name
        for name in ("state.json", "model.safetensors", "optimizer.safetensors", "log.jsonl")
        if not (folder / name).is_file()
    ]
    if missing:
        raise PubmillError(
            f"{folder} is no whole checkpoint: it lacks {', '.join(missing)}; delete it, run again"
        )
    state = read_json(folder / "state.json")
    if differing := _differing(state["recipe"], recipe):
        raise PubmillError(
            f"{folder} was made by another recipe (differing: {', '.join(differing)}); "
            "delete it, or give the recipe it was made by"
        )
    _load_weights(folder / "model.safetensors", model)
    _load_optimizer(folder / "optimizer.safetensors", model, optimizer)
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return Progress(state["step"], state["tokens"], state["seconds"], log, state["pending"])


def _load_weights(path: Path, model: nn.Module) -> None:
    tensors, weights = load_file(path), dict(model.named_parameters())
    if differing := sorted(tensors.keys() ^ weights.keys()):
        raise PubmillError(f"{path} is of another model: only one of them has {', '.join(differing[:3])}")
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(tensors[name])


def _optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    return {
        f"{name}.{key}": tensor.contiguous()
        for name, weight in model.named_parameters()
        for key, tensor in optimizer.state[weight].items()
    }


def _load_optimizer(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    tensors = load_file(path)
    for name, weight in model.named_parameters():
        try:
            state = {key: tensors[f"{name}.{key}"] for key in ("step", "exp_avg", "exp_avg_sq")}
        except KeyError as error:
            raise PubmillError(f"{path} lacks {error}: it is of another model") from None
        optimizer.state[weight] = {key: tensor.to(weight.device) for key, tensor in state.items()}


def fingerprints(packed: PackedTokens, vocab: Path, start: Path | None, version: int) -> dict[str, Any]:
    """What a segment was made from, beside its recipe: SHA-256 of its inputs, and the stage's version."""
    return {
        "tokens": packed.fingerprint(),
        "vocab": sha256(vocab / "vocab.txt"),
        "start": sha256(start / "model.safetensors") if start else None,
        "version": version,
    }


def other_work(folder: Path, facts: dict[str, Any]) -> list[str]:
    """In what the work that a save belongs to differs from this one; nothing if it is the same."""
    state = read_json(folder / "state.json")
    recipe = _differing(state["recipe"], facts["recipe"])
    return _differing(state.get("inputs", {}), facts["inputs"]) + [f"recipe.{key}" for key in recipe]


def _differing(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return sorted(
        key for key in before.keys() | now.keys() if key not in before or before[key] != now.get(key)
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


def save_partial(
    output: Path, model: Any, optimizer: torch.optim.Optimizer, progress: Progress, facts: dict[str, Any]
) -> Path:
    """Save a running segment; earlier saves go only after the new one is whole."""
    folder = partial_folder(output)
    made = folder / f"step-{progress.step}"
    save(made, model, optimizer, progress, facts)
    for path in folder.iterdir():
        if path != made:
            shutil.rmtree(path, ignore_errors=True)
    return made


def remove_partial(output: Path) -> None:
    """Remove the saves of a segment that is complete."""
    shutil.rmtree(partial_folder(output), ignore_errors=True)
