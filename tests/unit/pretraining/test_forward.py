"""Forward passes, padded or not, and losses are those of transformers and torch; models load as they were."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import AutoModel, AutoModelForMaskedLM

from pubmill.errors import PubmillError
from pubmill.pretraining import cross_entropy as losses_in_parts
from pubmill.pretraining import rotary_layers, unpadded
from pubmill.pretraining.architectures import build_generator, build_model, load_model
from pubmill.pretraining.cross_entropy import cross_entropy, cross_entropy_at_once
from pubmill.pretraining.forward import embed, encode, masked_lm_logits, pair_logits
from pubmill.pretraining.instances import UNLABELLED
from pubmill.pretraining.unpadded import Projection, SeededDropout, SequenceBounds, draw_seeds, keep_mask
from pubmill.recipes import Architecture, Generator, Objective, RotaryAttention
from tests.unit.pretraining.flash_reference import attention, use_own_cache
from tests.unit.pretraining.toy_interrupts import WEEKLY
from tests.unit.pretraining.toy_pretraining import SPECIAL

VOCABULARY = 30
SHAPE: dict[str, Any] = {
    "layers": 3, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 24, "max_positions": 16
}  # fmt: skip
GENERATOR = Generator(hidden_size=8, attention_heads=1, intermediate_size=12)


def form(
    family: Any, pairs: Any = "none", generator: Generator | None = None, **more: Any
) -> tuple[Architecture, Objective]:
    objective = Objective(masking="subword", pairs=pairs, generator=generator)
    return Architecture(family=family, **SHAPE, **more), objective


FAMILIES = {
    "bert": form("bert", "next-sentence"), "bert alone": form("bert"), "roberta": form("roberta"),
    "megatron-bert": form("megatron-bert", "sentence-order"),
    "albert": form("albert", "sentence-order", embedding_size=6),
    "electra": form("electra", generator=GENERATOR, embedding_size=6),
    "modernbert": form("modernbert", rotary=RotaryAttention(global_every=2, window=8)),
}  # fmt: skip
LENGTHS = torch.tensor([[12], [9], [7]])
PRESENT = torch.arange(12) < LENGTHS
ROWS = torch.tensor([0, 12, 24, 3, 15, 30])


def build(name: str, seed: int = 3) -> Any:
    return build_model(*FAMILIES[name], VOCABULARY, SPECIAL, seed).eval()


def inputs(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(5, VOCABULARY, (3, 12), generator=torch.Generator().manual_seed(1))
    ids = ids.masked_fill(~PRESENT, SPECIAL["pad"])
    segments = (torch.arange(12) > 6).long().expand(3, 12)
    return ids, segments if name != "roberta" else torch.zeros_like(segments)


def same(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_vectors_and_predictions_are_those_of_transformers(name: str) -> None:
    model, (ids, segments) = build(name), inputs(name)
    given = {"input_ids": ids, "token_type_ids": segments, "attention_mask": PRESENT.long()}
    vectors = model.base_model(**given).last_hidden_state.flatten(0, 1)[ROWS]
    embedded = embed(model, ids, segments)
    ours = encode(model, embedded, PRESENT, ROWS)
    same(ours, vectors)
    same(encode(model, embedded, PRESENT, None).flatten(0, 1)[ROWS], vectors)
    if name == "electra":
        return
    theirs = model(**given)
    logits = theirs.get("prediction_logits", theirs.get("logits")).flatten(0, 1)[ROWS]
    same(masked_lm_logits(model, ours), logits)
    pairs = theirs.get("seq_relationship_logits", theirs.get("sop_logits"))
    if FAMILIES[name][1].pairs != "none":
        same(pair_logits(model, ours[:3]), pairs)


def test_electras_two_networks_are_those_of_transformers() -> None:
    model, (ids, segments) = build("electra"), inputs("electra")
    made = build_generator(GENERATOR, model, seed=1).eval()
    assert made.electra.embeddings is model.electra.embeddings
    assert made.generator_lm_head.weight is model.electra.embeddings.word_embeddings.weight
    assert made.config.hidden_size == 8 and made.config.num_attention_heads == 1
    given = {"input_ids": ids, "token_type_ids": segments, "attention_mask": PRESENT.long()}
    ours = encode(made, embed(made, ids, segments), PRESENT, ROWS)
    same(masked_lm_logits(made, ours), made(**given).logits.flatten(0, 1)[ROWS])
    ours = encode(model, embed(model, ids, segments), PRESENT, ROWS)
    same(model.discriminator_predictions(ours), model(**given).logits.flatten()[ROWS])


@pytest.mark.parametrize("name", FAMILIES)
def test_a_saved_model_loads_and_is_gone_on_with(name: str, tmp_path: Path) -> None:
    model = build(name)
    model.save_pretrained(tmp_path)
    loaded = AutoModel.from_pretrained(tmp_path).eval()
    ids, segments = inputs(name)
    given = {"input_ids": ids, "token_type_ids": segments, "attention_mask": PRESENT.long()}
    same(loaded(**given).last_hidden_state, model.base_model(**given).last_hidden_state)
    if name != "electra":
        whole = AutoModelForMaskedLM.from_pretrained(tmp_path)
        assert isinstance(whole.get_output_embeddings(), torch.nn.Linear)
    again = load_model(tmp_path, *FAMILIES[name], VOCABULARY, SPECIAL, seed=9)
    expected = dict(model.named_parameters())
    assert all(torch.equal(weight, expected[key]) for key, weight in again.named_parameters())


def test_heads_that_a_start_lacks_are_new_and_seeded(tmp_path: Path) -> None:
    build("bert alone").save_pretrained(tmp_path)
    first, second = (
        dict(load_model(tmp_path, *FAMILIES["bert"], VOCABULARY, SPECIAL, seed).named_parameters())
        for seed in (1, 2)
    )
    new = {"bert.pooler.dense.weight", "cls.seq_relationship.weight"}
    assert {name for name in first if not torch.equal(first[name], second[name])} == new


@pytest.mark.parametrize(
    "change, reported",
    [
        ({}, "its vocab_size is 30, the recipe and the vocabulary need 31"),
        ({"layers": 2}, "num_hidden_layers is 3, the recipe and the vocabulary need 2"),
        ({"hidden_size": 32}, "hidden_size is 16"),
        ({"max_positions": 32}, "max_position_embeddings is 16"),
    ],
)
def test_a_start_of_another_form_is_refused(tmp_path: Path, change: dict[str, Any], reported: str) -> None:
    build("bert").save_pretrained(tmp_path)
    other = Architecture(family="bert", **(SHAPE | change))
    with pytest.raises(PubmillError, match=reported):
        load_model(tmp_path, other, FAMILIES["bert"][1], VOCABULARY + (not change), SPECIAL, 1)
    with pytest.raises(PubmillError, match="can't load this model folder"):
        load_model(tmp_path / "none", *FAMILIES["bert"], VOCABULARY, SPECIAL, 1)


def test_scaled_initialisation_divides_the_weights_before_residual_additions() -> None:
    """Shoeybi et al. 2019: two additions in each of 3 layers; all other weights stay."""
    plain, objective = FAMILIES["megatron-bert"]
    scaled = Architecture(family="megatron-bert", scaled_initialisation=True, **SHAPE)
    before, after = (
        build_model(one, objective, VOCABULARY, SPECIAL, seed=1).state_dict() for one in (plain, scaled)
    )
    for name in before:
        factor = 6**0.5 if name.endswith("output.dense.weight") else 1
        assert torch.equal(after[name], before[name] / factor), name
    assert sum(not torch.equal(after[name], before[name]) for name in before) == 6


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


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("name", FAMILIES)
def test_recomputing_gives_the_same_gradients(name: str, padded: bool) -> None:
    """Dropout is recomputed with the same random numbers."""
    found = []
    for recompute in (False, True):
        model, (ids, segments) = build(name).train(), inputs(name)
        torch.manual_seed(5)
        if padded:
            vectors = encode(model, embed(model, ids, segments), PRESENT, ROWS, recompute)
        else:
            vectors = encode_flat(name, model, FLAT_ROWS, recompute)
        found.append(gradients(model, vectors))
    assert len(found[0]) == len(found[1]) > 10 and all(map(torch.equal, *found))


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
        logits = torch.randn(count, 30, generator=torch.Generator().manual_seed(2)).to(kind)
        labels = torch.arange(count)
        labels[0], labels[2] = int(logits[0].argmax()), UNLABELLED
        found = computed(partial(cross_entropy, compiled=True), logits, labels)
        torch.testing.assert_close(found, computed(theirs, logits, labels))
        assert found[1] >= 1 and found[2].dtype == kind
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


def theirs(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return F.cross_entropy(logits.float(), labels, reduction="sum"), (logits.argmax(-1) == labels).sum()


def computed(function: Callable[..., Any], logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Any]:
    """The loss, the number of right choices, and the gradient of a third of the loss."""
    given = logits.clone().requires_grad_()
    loss, right = function(given, labels)
    (loss / 3).backward()
    return loss, right, given.grad


@pytest.mark.parametrize("few", [1, 40, 1 << 18, 0], ids=["one at a time", "two", "all", "on a GPU"])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_loss_gradient_and_right_choices(
    kind: torch.dtype, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(losses_in_parts, "IN_CACHE", few)
    torch.manual_seed(1)
    logits, labels = (torch.randn(9, 17) * 5).to(kind), torch.randint(17, (9,))
    labels[3], labels[[1, 4]] = logits[3].argmax(), UNLABELLED
    found = computed(cross_entropy if few else cross_entropy_at_once, logits, labels)
    torch.testing.assert_close(found, computed(theirs, logits, labels))
    assert found[1] >= 1 and (found[0].dtype, found[2].dtype) == (torch.float32, kind)


def test_without_compilation_another_device_computes_all_positions_at_once() -> None:
    loss, right = cross_entropy(torch.zeros(9, 17, device="meta"), torch.zeros(9, device="meta").long())
    assert loss.is_meta and right.is_meta


def test_odd_logits_have_a_loss_too() -> None:
    """Of equal logits the first is the choice; an impossible label costs what it does, not infinity; no
    positions have no loss, and what is no number is reported."""
    logits = torch.tensor([[0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    assert cross_entropy(logits, torch.tensor([1, 2]))[1] == 1
    loss, right, gradient = computed(cross_entropy, torch.tensor([[1e4, -1e4, 0.0]]), torch.tensor([1]))
    assert loss == 2e4 and right == 0
    torch.testing.assert_close(gradient, torch.tensor([[1.0, -1.0, 0.0]]) / 3)
    loss, right, gradient = computed(cross_entropy, torch.zeros(0, 5), torch.zeros(0, dtype=torch.long))
    assert loss == 0 and right == 0 and gradient.shape == (0, 5)
    assert cross_entropy(torch.tensor([[float("nan"), 0.0]]), torch.tensor([1]))[0].isnan()
