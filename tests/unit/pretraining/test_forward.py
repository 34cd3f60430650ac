"""The forward passes are those of transformers, and models of every family come back as they were."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModel, AutoModelForMaskedLM

from pubmill.errors import PubmillError
from pubmill.pretraining.architectures import build_generator, build_model, load_model
from pubmill.pretraining.forward import embed, encode, masked_lm_logits, pair_logits
from pubmill.recipes import Architecture, Generator, Objective, RotaryAttention
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
    "bert": form("bert", "next-sentence"),
    "bert alone": form("bert"),
    "roberta": form("roberta"),
    "megatron-bert": form("megatron-bert", "sentence-order"),
    "albert": form("albert", "sentence-order", embedding_size=6),
    "electra": form("electra", generator=GENERATOR, embedding_size=6),
    "modernbert": form("modernbert", rotary=RotaryAttention(global_every=2, window=8)),
}
LENGTHS = torch.tensor([[12], [9], [7]])
PRESENT = torch.arange(12) < LENGTHS
ROWS = torch.tensor([0, 12, 24, 3, 15, 30])


def build(name: str, seed: int = 3) -> Any:
    return build_model(*FAMILIES[name], VOCABULARY, SPECIAL, seed).eval()


def inputs(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids with padding behind them, and segments."""
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
def test_recomputing_gives_the_same_gradients(name: str) -> None:
    gradients = []
    for recompute in (False, True):
        model, (ids, segments) = build(name).train(), inputs(name)
        torch.manual_seed(5)  # dropout is recomputed with the same random numbers
        encode(model, embed(model, ids, segments), PRESENT, ROWS, recompute).square().sum().backward()
        gradients.append([weight.grad for weight in model.base_model.parameters() if weight.grad is not None])
    assert len(gradients[0]) == len(gradients[1]) > 10
    assert all(torch.equal(left, right) for left, right in zip(*gradients, strict=True))


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
