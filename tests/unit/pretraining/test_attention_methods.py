"""FlashAttention-3, and dropout that is not there."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pubmill.pretraining import methods
from pubmill.pretraining.methods import COMPILED, FLASH_3, Methods, fastest, slower
from tests.unit.pretraining import flash_reference
from tests.unit.pretraining.test_methods import GPU, work
from tests.unit.pretraining.toy_pretraining import RECIPE


def test_flash_attention_3_is_for_networks_without_dropout(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Hopper, where its package is installed; not where determinism is required."""
    pytest.importorskip("torch.nn.attention._registry")
    capability: list[Any] = [(9, 0)]
    dropout: list[Any] = [0.0]
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability[0])

    def chosen() -> Methods:
        names = {"model_type": "bert", "hidden_size": 768, "num_attention_heads": 12, "hidden_act": "gelu"}
        config = SimpleNamespace(**names, attention_probs_dropout_prob=dropout[0])
        return fastest({"model": SimpleNamespace(config=config)}, True, GPU)

    assert chosen() == COMPILED
    monkeypatch.setattr(methods, "FLASH_3_PACKAGE", "json")
    assert chosen() == FLASH_3 and slower(FLASH_3) == COMPILED
    for values, other in ((capability, (8, 0)), (capability, (10, 0)), (dropout, 0.1)):
        before, values[0] = values[0], other
        assert chosen() == COMPILED
        values[0] = before
    monkeypatch.setenv("PUBMILL_DETERMINISTIC", "1")
    assert chosen() == COMPILED


def test_a_package_that_is_not_there_is_a_fault(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch.nn.attention._registry")
    flash_reference.use(monkeypatch, FLASH_3)
    flash_reference.compile_nothing(monkeypatch)
    made, _ = work(data, RECIPE, steps=0)
    assert made.computation.methods == COMPILED
    assert (
        made.computation.refused
        and "ModuleNotFoundError: No module named 'flash_attn" in made.computation.refused
    )
