"""FlashAttention-3, and dropout that is not there."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pubmill.pretraining import methods, rotary_layers, unpadded
from pubmill.pretraining.methods import COMPILED, FLASH_3, Methods, fastest, slower
from tests.unit.pretraining import flash_reference
from tests.unit.pretraining.test_methods import GPU, work
from tests.unit.pretraining.toy_pretraining import RECIPE, make_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


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


def kernel(monkeypatch: pytest.MonkeyPatch) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Stand for PyTorch's flash kernel, whose first result is its query; return what it is given."""
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def forward(query: Any, *rest: Any, **named: Any) -> tuple[Any, str]:
        given.append(((query, *rest), named))
        return query, "log of sums"

    monkeypatch.setattr(torch.ops.aten, "_flash_attention_forward", forward, raising=False)
    return given


BOUNDS = unpadded.SequenceBounds(torch.tensor([0, 3, 5], dtype=torch.int32), 4)
TENSORS = torch.zeros(5, 2, 8), torch.ones(5, 2, 8), torch.full((5, 2, 8), 2.0)


def test_the_flash_kernel_sees_each_sequence_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    given = kernel(monkeypatch)
    assert unpadded.flash_attention(*TENSORS, BOUNDS, 0.1) is TENSORS[0]
    [(found, named)] = given
    assert found == (*TENSORS, BOUNDS.bounds, BOUNDS.bounds, 4, 4, 0.1, False, False) and named == {}


@pytest.mark.parametrize(
    ("half", "causal", "left", "right"),
    [(None, False, -1, -1), (None, True, -1, 0), (3, False, 3, 3), (3, True, 3, 0), (0, False, 0, 0)],
)
def test_the_flash_kernel_sees_a_window(
    monkeypatch: pytest.MonkeyPatch, half: int | None, causal: bool, left: int, right: int
) -> None:
    given = kernel(monkeypatch)
    assert rotary_layers.flash_window(*TENSORS, BOUNDS, half, causal) is TENSORS[0]
    [(found, named)] = given
    assert found == (*TENSORS, BOUNDS.bounds, BOUNDS.bounds, 4, 4, 0.0, causal, False)
    assert named == {"window_size_left": left, "window_size_right": right}
