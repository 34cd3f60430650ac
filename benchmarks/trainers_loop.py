"""The loop of transformers' Trainer for machines without accelerate, which the Trainer itself needs.

Like the Trainer with its default arguments: batches in random order, bfloat16 autocast on a GPU, gradients
clipped at 1, AdamW, a linear schedule, and no look at the loss.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from pubmill.recipes import FinetuningRecipe

Collate = Callable[[list[Any]], Any]


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
    clock = time.perf_counter if on_gpu else time.process_time
    begun = clock()
    for _ in range(recipe.epochs):
        for batch in loader:
            inputs = {name: value.to(device, non_blocking=True) for name, value in batch.items()}
            with torch.autocast(device.type, torch.bfloat16, enabled=on_gpu):
                loss = model(**inputs).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
    if on_gpu:
        torch.cuda.synchronize()
    return clock() - begun


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
