"""Without padding, the networks give what transformers and the padded forward pass give."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from pubmill.pretraining import rotary_layers, unpadded
from pubmill.pretraining.cross_entropy import cross_entropy
from pubmill.pretraining.forward import embed, encode
from pubmill.pretraining.instances import UNLABELLED
from pubmill.pretraining.unpadded import Projection, SeededDropout, SequenceBounds, draw_seeds, keep_mask
from tests.unit.pretraining.flash_reference import attention, use_own_cache
from tests.unit.pretraining.test_forward import FAMILIES, PRESENT, ROWS, build, inputs, same
from tests.unit.pretraining.toy_interrupts import WEEKLY

BOUNDS = torch.tensor([0, 12, 21, 28, 31], dtype=torch.int32)  # the last three positions are padding
FLAT_ROWS = torch.tensor([0, 12, 21, 3, 15, 27])
"""`ROWS` in the concatenated sequences."""


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (unpadded, rotary_layers):
        monkeypatch.setattr(module, "flash_attention", attention)


def flat(batch: torch.Tensor) -> torch.Tensor:
    """Concatenated sequences with three positions of padding."""
    return F.pad(batch[PRESENT], (0, 3)).int().unsqueeze(0)


def encode_flat(
    name: str, model: Any, rows: torch.Tensor | None, recompute: bool = False, compiled: bool = False
) -> torch.Tensor:
    ids, segments = inputs(name)
    positions = flat(torch.arange(12).expand(3, 12))
    embedded = embed(model, flat(ids), flat(segments), positions)
    return encode(model, embedded, SequenceBounds(BOUNDS, 12, compiled), rows, recompute)


def gradients(model: Any, vectors: torch.Tensor) -> list[torch.Tensor]:
    vectors.square().sum().backward()
    found = [weight.grad for weight in model.base_model.parameters() if weight.grad is not None]
    model.zero_grad()
    return found


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_gradients_are_those_of_the_padded_pass(name: str, recompute: bool) -> None:
    """In float64: a sum of squares after LayerNorm has gradients near zero, in float32 only rounding."""
    model, (ids, segments) = build(name).double(), inputs(name)
    theirs = gradients(model, encode(model, embed(model, ids, segments), PRESENT, ROWS))
    ours = gradients(model, encode_flat(name, model, FLAT_ROWS, recompute))
    assert len(ours) > 10
    for left, right in zip(ours, theirs, strict=True):
        torch.testing.assert_close(left, right, atol=1e-11, rtol=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_recomputing_repeats_dropout(name: str) -> None:
    found = []
    for recompute in (False, True):
        model = build(name).train()
        torch.manual_seed(5)
        found.append(gradients(model, encode_flat(name, model, FLAT_ROWS, recompute)))
    assert all(torch.equal(left, right) for left, right in zip(*found, strict=True))


def test_one_product_for_query_key_and_value_has_the_gradients_of_three() -> None:
    """Attention ignores the keys' bias: its gradient is 0."""
    shapes = [(5, 4), *[(4, 4)] * 3, *[(4,)] * 3]
    seeded = torch.Generator().manual_seed(1)
    given = [torch.randn(shape, generator=seeded, dtype=torch.float64).requires_grad_() for shape in shapes]

    def attended(*tensors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        *three, hidden = Projection.apply(*tensors)
        return F.scaled_dot_product_attention(*three), hidden

    assert torch.autograd.gradcheck(attended, given)
    torch.stack([part.square().sum() for part in attended(*given)]).sum().backward()
    assert given[5].grad is not None and not given[5].grad.any()


class Compiler:
    """Stand for torch.compile with a backend that needs no C++ compiler; count the graphs."""

    def __init__(self) -> None:
        self.graphs, self.compile = 0, torch.compile

    def __call__(self, function: Callable[..., Any], **settings: Any) -> Any:
        from torch._dynamo.backends.debugging import aot_eager

        def backend(*given: Any, **named: Any) -> Any:
            self.graphs += 1
            return aot_eager(*given, **named)

        return self.compile(function, backend=backend, **settings)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    found = Compiler()
    monkeypatch.setattr(torch, "compile", found)
    use_own_cache(monkeypatch)
    torch._dynamo.reset()
    return found


@pytest.mark.parametrize(
    "name", ["bert", *(pytest.param(name, marks=WEEKLY) for name in ("megatron-bert", "albert"))]
)
def test_all_layers_are_one_compiled_function(name: str, compiler: Compiler) -> None:
    """A whole layer, which has the same shapes in three layers, and the last one, for any number of rows."""
    model = build(name).eval()
    theirs = gradients(model, encode_flat(name, model, FLAT_ROWS))
    ours = gradients(model, encode_flat(name, model, FLAT_ROWS, compiled=True))
    for left, right in zip(ours, theirs, strict=True):
        torch.testing.assert_close(left, right, atol=1e-5, rtol=1e-4)
    gradients(model, encode_flat(name, model, FLAT_ROWS[:4], compiled=True))
    assert compiler.graphs == 2


@pytest.mark.parametrize("name", FAMILIES)
def test_compiled_embeddings_are_those_of_transformers(name: str, compiler: Compiler) -> None:
    """Megatron's have no LayerNorm, ModernBERT's nothing to add: they are not compiled."""
    model, (ids, segments) = build(name).eval(), inputs(name)
    positions = flat(torch.arange(12).expand(3, 12))
    theirs, ours = (
        embed(model, flat(ids), flat(segments), positions, compiled) for compiled in (False, True)
    )
    same(ours, theirs)
    for left, right in zip(gradients(model, ours), gradients(model, theirs), strict=True):
        torch.testing.assert_close(left, right, atol=1e-5, rtol=1e-4)
    assert compiler.graphs == (name not in ("megatron-bert", "modernbert"))


def test_compiled_embeddings_have_dropout(compiler: Compiler) -> None:
    model, (ids, segments) = build("bert").train(), inputs("bert")
    given = model, flat(ids), flat(segments), flat(torch.arange(12).expand(3, 12))
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(embed(*given, compiled=True))
    first, again, other = found
    assert first.equal(again) and not first.equal(other)
    assert 0.02 < first.eq(0).double().mean() < 0.3
    kept = first.ne(0)
    plain = embed(model.eval(), *given[1:])
    torch.testing.assert_close(first[kept], plain[kept] / (1 - model.config.hidden_dropout_prob))


@pytest.mark.parametrize("name", ["bert", pytest.param("megatron-bert", marks=WEEKLY)])
def test_compiled_dropout_is_repeatable_and_recomputed(name: str, compiler: Compiler) -> None:
    """By the generator of random numbers alone, with other masks in each layer and at each time."""
    found = []
    for seed, recompute in ((5, False), (5, True), (6, False)):
        model = build(name).train()
        torch.manual_seed(seed)
        found.append(gradients(model, encode_flat(name, model, FLAT_ROWS, recompute, compiled=True)))
    same, other = (all(map(torch.equal, found[0], rest)) for rest in found[1:])
    assert same and not other
    graphs = compiler.graphs
    gradients(model, encode_flat(name, model, FLAT_ROWS[:4], compiled=True))
    assert compiler.graphs == graphs  # for any number of rows


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_compiled_cross_entropy_is_torchs(kind: torch.dtype, compiler: Compiler) -> None:
    for count in (7, 5):
        logits = torch.randn(count, 30, generator=torch.Generator().manual_seed(2)).to(kind).requires_grad_()
        labels = torch.arange(count)
        labels[0], labels[2] = int(logits[0].argmax()), UNLABELLED
        loss, right = cross_entropy(logits, labels, compiled=True)
        (slope,) = torch.autograd.grad(3 * loss, logits)
        theirs = F.cross_entropy(logits.float(), labels, reduction="sum")
        torch.testing.assert_close(loss, theirs)
        assert right == (logits.argmax(-1) == labels).sum() >= 1
        torch.testing.assert_close(slope, torch.autograd.grad(3 * theirs, logits)[0])
        assert slope.dtype == kind
    assert compiler.graphs == 2


HIGH, WIDE = 512, 384
COUNT = HIGH * WIDE


def masks(number: int, rate: float = 0.25) -> torch.Tensor:
    """Masks of so many seeds (number, HIGH, WIDE), as float."""
    torch.manual_seed(4)
    values = torch.empty(HIGH, WIDE)
    seeds = draw_seeds(number, device=values.device)
    return torch.stack([keep_mask(values, rate, seed) for seed, _ in seeds]).double()


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.9])
def test_elements_rows_and_columns_are_kept_at_the_rate(rate: float) -> None:
    (mask,) = masks(1, rate)
    deviation = (rate * (1 - rate)) ** 0.5
    for mean, count in ((mask.mean(), COUNT), (mask.mean(0), HIGH), (mask.mean(1), WIDE)):
        assert (mean - (1 - rate)).abs().max() < 5 * deviation / count**0.5


def test_masks_are_not_correlated() -> None:
    """Neither those of two seeds, shifted or not, nor the neighbours in one."""
    first, second = masks(2) - 0.75
    pairs = {
        "seeds": (first, second), "next column": (first[:, :-1], first[:, 1:]),
        "next row": (first[:-1], first[1:]), "seeds, next row": (first[:-1], second[1:]),
        "far rows": (first[:256], first[256:]),
    }  # fmt: skip
    for name, (left, right) in pairs.items():
        correlation = (left * right).mean() / (0.25 * 0.75)
        assert correlation.abs() < 5 / left.numel() ** 0.5, name


def test_the_gradient_has_the_mask_of_the_values() -> None:
    torch.manual_seed(1)
    (seed,) = draw_seeds(1, device=torch.device("cpu"))
    values = torch.rand(HIGH, WIDE, dtype=torch.float64).add(1).requires_grad_()
    kept = SeededDropout.apply(values, 0.25, seed)
    (slope,) = torch.autograd.grad(kept.sum(), values)
    torch.testing.assert_close(slope * values, kept)
    assert set(slope.unique().tolist()) == {0.0, 1 / 0.75}
    assert torch.equal(kept, SeededDropout.apply(values, 0.25, seed))
