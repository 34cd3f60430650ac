"""The flash kernel's attention on a processor, one sequence at a time."""

from functools import cache
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from pubmill.pretraining import engine, rotary_layers, unpadded
from pubmill.pretraining.forward import plain_attention
from pubmill.pretraining.methods import Methods
from pubmill.pretraining.unpadded import SequenceBounds


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sequences: SequenceBounds,
    dropout: float,
    half: int | None = None,
    causal: bool = False,
) -> Tensor:
    """Stand for `unpadded.flash_attention`; check that the kernel would accept its inputs."""
    bounds = sequences.bounds.tolist()
    assert sequences.bounds.dtype == torch.int32 and bounds[0] == 0 and bounds[-1] == len(query)
    found = []
    for begin, end in pairwise(bounds):
        assert 0 < end - begin <= sequences.longest
        ahead = torch.arange(end - begin)[None] - torch.arange(end - begin)[:, None]
        seen = (ahead.abs() <= (end if half is None else half)) & ((ahead <= 0) | (not causal))
        mask = None if half is None and not causal else seen[None, None]
        some = [tensor[begin:end].transpose(0, 1)[None] for tensor in (query, key, value)]
        found.append(plain_attention(some[0], some[1], some[2], mask, dropout)[0].transpose(0, 1))
    return torch.cat(found)


def use(monkeypatch: pytest.MonkeyPatch, methods: Methods) -> None:
    """Let the engine choose these methods on a processor."""
    for module in (unpadded, rotary_layers):
        monkeypatch.setattr(module, "flash_attention", attention)
    monkeypatch.setattr(engine, "fastest", lambda *given: methods)


def use_own_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the compiled functions of a test from others: they are made once for each process."""
    monkeypatch.setattr(unpadded, "_compile", cache(unpadded._compile.__wrapped__))


def compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda function, **settings: function)
    use_own_cache(monkeypatch)
