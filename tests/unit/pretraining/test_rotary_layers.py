"""ModernBERT's pass is that of transformers: windows, blocks, long sequences, padding, causal sequences."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModel, ModernBertForMaskedLM
from transformers.models.modernbert.modeling_modernbert import ModernBertForMaskedLM as Theirs

from pubmill.errors import PubmillError
from pubmill.pretraining import rotary_layers
from pubmill.pretraining.architectures import build_model, load_model, make_config
from pubmill.pretraining.forward import embed, encode, masked_lm_logits
from pubmill.pretraining.unpadded import SequenceBounds
from pubmill.recipes import Architecture, Objective, RotaryAttention
from pubmill.storage.files import read_json, write_json
from tests.unit.pretraining.flash_reference import attention
from tests.unit.pretraining.toy_pretraining import SPECIAL

OBJECTIVE = Objective(masking="subword", pairs="none")
VOCABULARY = 50


def architecture(window: int = 128, **more: Any) -> Architecture:
    sizes: dict[str, Any] = {"layers": 4, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 24}
    return Architecture(
        family="modernbert", max_positions=2048, rotary=RotaryAttention(window=window), **sizes | more
    )


def build(window: int = 128, **more: Any) -> Any:
    model: Any = build_model(architecture(window, **more), OBJECTIVE, VOCABULARY, SPECIAL, 3).eval()
    model.config._attn_implementation = "eager"
    return model


def batch(lengths: list[int]) -> tuple[Tensor, Tensor]:
    present = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    ids = torch.randint(5, VOCABULARY, present.shape, generator=torch.Generator().manual_seed(1))
    return ids.masked_fill(~present, SPECIAL["pad"]), present


def logits(model: Any, ids: Tensor, mask: Any, rows: Tensor, causal: Tensor | None = None) -> Tensor:
    return masked_lm_logits(model, encode(model, embed(model, ids, ids * 0), mask, rows, False, causal))


def gradients(model: Any, values: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(values.square().mean(), list(model.parameters())))


# Windows inside of plain attention, blocks with padding after them, blocks and the fused kernel.
@pytest.mark.parametrize(("window", "lengths"), [(4, [12, 9, 5]), (128, [401, 397, 128]), (64, [1030, 700])])
def test_logits_and_gradients_are_those_of_transformers(window: int, lengths: list[int]) -> None:
    model, (ids, present) = build(window), batch(lengths)
    rows = present.flatten().nonzero()[:, 0]
    theirs = model(input_ids=ids, attention_mask=present.long()).logits.flatten(0, 1)[rows]
    ours = logits(model, ids, present, rows)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    for left, right in zip(gradients(model, ours), gradients(model, theirs), strict=True):
        torch.testing.assert_close(left, right, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("length", [20, 400])
def test_a_causal_sequence_sees_nothing_ahead_and_another_everything(length: int) -> None:
    model, (ids, present) = build(8), batch([length, length - 3])
    rows = present.flatten().nonzero()[:, 0]
    changed = ids.clone()
    changed[:, length // 2] = 5 + (changed[:, length // 2] - 4) % 40
    causal = torch.tensor([True, False])
    ours, other = (logits(model, one, present, rows, causal) for one in (ids, changed))
    moved = (ours - other).abs().amax(-1) > 1e-7
    assert not moved[: length // 2].any() and moved[length // 2]
    assert moved[length : length + length // 2].any()


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_concatenated_sequences_give_what_padded_ones_give(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotary_layers, "flash_attention", attention)
    model, (ids, present) = build(8), batch([12, 9, 7, 5])
    rows = present.flatten().nonzero()[:, 0]
    causal = torch.arange(4) < count
    expected = logits(model, ids, present, rows, causal)
    bounds = torch.tensor([0, 12, 21, 28, 33], dtype=torch.int32)
    flat = SequenceBounds(bounds, 12, causal=(count, int(bounds[count])))
    found = logits(model, ids[present][None].int(), flat, torch.arange(33))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_initial_weights_are_megatrons_and_embeddings_tied() -> None:
    model = build(hidden_size=64, intermediate_size=96)
    assert type(model) is ModernBertForMaskedLM is Theirs
    assert model.decoder.weight is model.model.embeddings.tok_embeddings.weight
    deviations = {name: weight.std().item() / 0.02 for name, weight in model.named_parameters()}
    cut = 0.8796  # the standard deviation of a normal number between -2 and 2
    less = cut / 8**0.5
    for name, expected in (("attn.Wqkv", cut), ("mlp.Wi", cut), ("attn.Wo", less), ("mlp.Wo", less)):
        for layer in range(4):
            assert deviations[f"model.layers.{layer}.{name}.weight"] == pytest.approx(expected, rel=0.06)
    assert deviations["model.embeddings.tok_embeddings.weight"] == pytest.approx(cut, rel=0.06)
    assert [name for name in deviations if name.endswith("bias")] == ["decoder.bias"]


def test_dropout_is_after_attention_only_and_not_in_the_configuration(tmp_path: Path) -> None:
    model = build(dropout=0.25)
    assert {module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)} == {0.0, 0.25}
    model.save_pretrained(tmp_path)
    assert AutoModel.from_pretrained(tmp_path).config.attention_dropout == 0.0
    again: Any = load_model(tmp_path, architecture(dropout=0.5), OBJECTIVE, VOCABULARY, SPECIAL, 1)
    assert again.model.layers[0].attn.out_drop.p == 0.5


def test_each_layer_of_so_many_sees_the_whole_text() -> None:
    config = make_config(architecture(layers=8), VOCABULARY, SPECIAL)
    assert [number for number in range(8) if config.layer_types[number] == "full_attention"] == [0, 3, 6]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("layer_types", ["full_attention"] * 4),
        ("rope_parameters", {"full_attention": {"rope_type": "default", "rope_theta": 1.0}}),
        ("local_attention", 64), ("hidden_activation", "relu"), ("norm_bias", True), ("mlp_bias", True),
    ],
)  # fmt: skip
def test_a_start_that_computes_otherwise_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    build().save_pretrained(tmp_path)
    write_json(tmp_path / "config.json", read_json(tmp_path / "config.json") | {name: value})
    with pytest.raises(PubmillError, match=f"its {name} is .*, the recipe and the vocabulary need "):
        load_model(tmp_path, architecture(), OBJECTIVE, VOCABULARY, SPECIAL, 1)


def test_the_rotation_is_one_graph_with_the_same_results_and_gradients() -> None:
    """As the compiled layers of a GPU have it; by a backend that needs no C++ compiler."""
    product = torch.randn(12, 3 * 8, dtype=torch.float64, requires_grad=True)
    turned = rotary_layers.angles(torch.arange(12), torch.tensor([1.0, 0.1])).double()
    compiled = torch.compile(rotary_layers.turn, fullgraph=True, dynamic=False, backend="aot_eager")
    found = [function(product, turned, 2) for function in (rotary_layers.turn, compiled)]
    slopes = [torch.autograd.grad(torch.cat(parts).sin().sum(), product) for parts in found]
    torch.testing.assert_close(found[0], found[1], atol=1e-12, rtol=0)
    torch.testing.assert_close(slopes[0], slopes[1], atol=1e-12, rtol=0)
    assert [tuple(part.shape) for part in found[1]] == [(12, 2, 4)] * 3
