"""The loop of transformers' Trainer for machines without accelerate, which the Trainer itself needs.

Like the Trainer with its default arguments: batches in random order, bfloat16 autocast on a GPU, gradients
clipped at 1, AdamW, a linear schedule, and no look at the loss.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from pubmill.recipes import FinetuningRecipe

Collate = Callable[[list[Any]], Any]
STEPS = 1_000_000
"""Length of the schedule of `train_for`."""
WARMING_STEPS = 3
"""Steps before those that are timed: compilers and libraries prepare other shapes in the second and third."""
WORKERS = 4
"""Processes that make batches of pretraining for a GPU."""


def train(
    model: Any, features: list[Any], collate: Collate, recipe: FinetuningRecipe, device: torch.device
) -> float:
    """Train for the recipe's epochs; return seconds, on a processor those of this process."""
    on_gpu = device.type == "cuda"
    data: Any = features
    loader: Any = DataLoader(data, recipe.batch_size, shuffle=True, collate_fn=collate, pin_memory=on_gpu)
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, weight_decay=0.0, fused=True)
    total = len(loader) * recipe.epochs
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / total)
    model.to(device).train()
    begun = _now(device)
    for _ in _steps(model, itertools.chain.from_iterable([loader] * recipe.epochs), optimiser, device):
        schedule.step()
    _wait(device)
    return _now(device) - begun


def train_for(
    seconds: float, model: Any, data: Any, collate: Collate, batch_size: int, device: torch.device
) -> tuple[int, float]:
    """Train for at least `seconds` after the first steps; return the number of steps and their seconds."""
    on_gpu = device.type == "cuda"
    loader: Any = DataLoader(
        data,
        batch_size,
        shuffle=True,
        collate_fn=collate,
        pin_memory=on_gpu,
        num_workers=WORKERS if on_gpu else 0,
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / STEPS)
    model.to(device).train()
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    begun = 0.0
    for step, _ in enumerate(_steps(model, batches, optimiser, device)):
        schedule.step()
        if step == WARMING_STEPS - 1:
            _wait(device)
            begun = _now(device)
        elif step >= WARMING_STEPS and _now(device) - begun >= seconds:
            break
    _wait(device)
    return step + 1 - WARMING_STEPS, _now(device) - begun


def _steps(
    model: Any, batches: Iterable[Any], optimiser: torch.optim.Optimizer, device: torch.device
) -> Iterator[None]:
    """Make a step with each batch; yield after each."""
    for batch in batches:
        inputs = {name: value.to(device, non_blocking=True) for name, value in batch.items()}
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            loss = model(**inputs).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        yield


def _now(device: torch.device) -> float:
    return time.perf_counter() if device.type == "cuda" else time.process_time()


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


@torch.inference_mode()
def predict(model: Any, features: list[Any], collate: Collate, device: torch.device) -> list[Any]:
    """Return the best class of each input, or of each of its tokens."""
    model.eval()
    found: list[Any] = []
    for start in range(0, len(features), 32):
        batch = collate(features[start : start + 32])
        inputs = {name: value.to(device) for name, value in batch.items() if name != "labels"}
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            found += list(np.asarray(model(**inputs).logits.float().cpu()).argmax(-1))
    return found
