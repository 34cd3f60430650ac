"""A relation's mentions: where they stand in subwords, what stays of a long text, marks in the vocabulary."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedModel

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.finetuning.encoders import load_encoder, load_encoder_tokenizer
from pubmill.finetuning.heads import pooled
from pubmill.finetuning.reader import Subwords
from pubmill.finetuning.tasks.relations import Argument, Mention, add_marks, located, remaining
from pubmill.finetuning.tasks.texts import Sequences
from pubmill.recipes import Dummies
from tests.unit.finetuning.toy_relations import (
    CPU,
    KINDS,
    RECIPE,
    entity,
    relation,
    shown,
    task,
    write_models,
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_models(tmp_path_factory.mktemp("models"))


def test_characters_of_several_subwords_and_subwords_of_several_characters() -> None:
    """As byte-level tokenizers split a character, and others join words."""
    subwords = Subwords([1, 2, 3, 4], [(0, 2), (3, 4), (3, 4), (4, 9)])
    arguments = [Argument(3, 4), Argument(1, 2), Argument(5, 6), Argument(2, 3), Argument(9, 10)]
    found = [Mention(1, 3), Mention(0, 1), Mention(3, 4), Mention(1, 2), Mention(3, 4)]
    assert located(subwords, arguments) == (found, 2)


@pytest.mark.parametrize(
    ("mentions", "kept"),
    [
        ([(1, 2), (4, 6)], [0, 1, 2, 3, 4, 5]),  # the beginning
        ([(3, 4), (6, 7)], [2, 3, 4, 5, 6, 7]),  # around both
        ([(15, 16), (18, 19)], [14, 15, 16, 17, 18, 19]),  # the end
        ([(18, 19), (15, 16)], [14, 15, 16, 17, 18, 19]),
        ([(3, 4), (13, 14)], [2, 3, 4, 12, 13, 14]),  # around each
        ([(0, 1), (19, 20)], [0, 1, 2, 17, 18, 19]),
        ([(2, 12), (15, 17)], [2, 3, 4, 5, 15, 16]),  # one too long
        ([(2, 12), (12, 20)], [2, 3, 4, 12, 13, 14]),  # both
        ([(2, 12), (9, 18)], [2, 3, 4, 9, 10, 11]),  # crossing
        ([], [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_stays_of_a_long_text(mentions: list[tuple[int, int]], kept: list[int]) -> None:
    assert list(remaining(20, 6, [Mention(*span) for span in mentions])) == kept


def test_marks_stay_with_what_their_mention_begins_with() -> None:
    mentions = [Mention(2, 12, (1, 12)), Mention(15, 17, (14, 17))]
    assert list(remaining(20, 8, mentions)) == [1, 2, 3, 12, 14, 15, 16, 17]
    with pytest.raises(PubmillError, match=r"room for 3 subwords.*need 4; raise max_length"):
        remaining(20, 3, mentions)


WORDS = ["ba", "codi", "fugelo" * 3, "gene", "\u200d", "."]


@pytest.fixture(scope="module", params=["bert", "roberta"])
def cutters(models: dict[str, Path], request: pytest.FixtureRequest) -> dict[str, list[Sequences]]:
    """For each transform, what cuts to 12 subwords and what cuts nothing; `starts` reads the markers."""
    model = models[request.param]
    kinds: list[Any] = ["original", "dummies", "markers"]
    made = {
        kind: [
            task(model, replace(RECIPE, entities=kind, pooling="mention-max"), length)
            for length in (12, 10_000)
        ]
        for kind in kinds
    }
    starts = replace(RECIPE, entities="markers", pooling="entity-start")
    return {**made, "starts": [task(model, starts, 12)]}


@st.composite
def relations(draw: st.DrawFn) -> SequenceExample:
    text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40)))
    starts = [draw(st.integers(0, len(text) - 1)) for _ in "ab"]
    ends = [draw(st.integers(start + 1, len(text))) for start in starts]
    spans = zip(starts, ends, KINDS, strict=False)
    return relation("1", text, [Entity(start=start, end=end, type=kind) for start, end, kind in spans])


@given(relations(), st.sampled_from(["original", "dummies", "markers"]))
def test_no_mention_is_lost_to_the_length(
    cutters: dict[str, list[Sequences]], example: SequenceExample, kind: str
) -> None:
    """Each mention's beginning stands where the instance says, and nothing is too long for the encoder."""
    (short,), (whole,) = (made.encode([example]).instances for made in cutters[kind])
    assert len(short.ids) == min(12, len(whole.ids))
    assert short.groups and whole.groups and len(short.groups) == len(whole.groups) == 2
    assert len(short.places) == sum(short.groups)
    for part, full in ((0, 0), (short.groups[0], whole.groups[0])):
        assert short.ids[short.places[part]] == whole.ids[whole.places[full]]
    if kind == "markers":
        [reader] = cutters["starts"]
        [instance] = reader.encode([example]).instances
        assert shown(reader, instance)[1] == ["[E1-START]", "[E2-START]"]


def test_what_was_cut_is_counted(models: dict[str, Path]) -> None:
    made = task(models["bert"], replace(RECIPE, entities="original", pooling="mention-max"), 8)
    long = ["ba"] * 20
    texts = [["ine", "long", *long], [*long, "ine", "long"], ["ine", *long, "long"]]
    texts += [["ine" * 9, "long"], ["ine", "long"]]
    examples = []
    for number, words in enumerate(texts):
        text = " ".join(words)
        first = next(word for word in words if word.startswith("ine"))
        examples.append(relation(str(number), text, [entity(text, first), entity(text, "long")]))
    assert made.encode(examples).counts == {
        "texts_shortened": 4,
        "beginnings_left_out": 1,
        "middles_left_out": 2,
        "mentions_shortened": 1,
        "mentions_without_subword": 0,
    }


def test_settings_that_cannot_be_followed_are_refused(models: dict[str, Path]) -> None:
    bert, text = models["bert"], "ineba longco mabdi"
    three = [entity(text, "ineba"), entity(text, "longco", "long"), entity(text, "mabdi", "mab")]
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({"dummies": None}, 2, "example 7 has entities, but the recipe has no `dummies`"),
        ({"dummies": Dummies(types={"ine": "@ine$"}, overlap="")}, 2, "example 7: no dummy .* type long"),
        (
            {"entities": "markers"},
            3,
            "example 7 has 3 entities; markers, and a pooling other than cls, are for 2",
        ),
        ({"pooling": "mention-max"}, 3, "example 7 has 3 entities; .* use pooling cls"),
        ({"pooling": "mention-average"}, 0, "example 7 has 0 entities"),
    ]
    for changes, number, message in refused:
        made = task(bert, replace(RECIPE, **changes))
        with pytest.raises(PubmillError, match=message):
            made.encode([relation("7", text, three[:number])])
    tight = task(bert, replace(RECIPE, entities="markers", pooling="entity-start"), 5)
    with pytest.raises(PubmillError, match="example 7: a text has room for 3 subwords"):
        tight.encode([relation("7", text, three[:2])])
    # The recipe itself may refuse it as well.
    with pytest.raises((PubmillError, ValueError), match="entity-start"):
        task(bert, replace(RECIPE, entities="dummies", pooling="entity-start"))


def rows_of(encoder: PreTrainedModel) -> torch.Tensor:
    """A copy of the embeddings of the vocabulary."""
    weight = encoder.get_input_embeddings().weight
    assert isinstance(weight, torch.Tensor)
    return weight.detach().clone()


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_marks_are_new_rows_that_depend_on_the_seed_alone(models: dict[str, Path], name: str) -> None:
    def rows(seed: int) -> torch.Tensor:
        tokenizer, encoder = load_encoder_tokenizer(models[name]), load_encoder(models[name], 0.0, CPU)
        before = rows_of(encoder)
        torch.manual_seed(seed)
        add_marks(tokenizer, encoder)
        weight = rows_of(encoder)
        assert len(weight) == len(before) + 4 == encoder.config.vocab_size and weight[:-4].equal(before)
        assert tokenizer.convert_tokens_to_ids(["[E1-START]", "[E1-END]", "[E2-START]", "[E2-END]"]) == [
            len(before) + number for number in range(4)
        ]
        return weight[-4:]

    assert rows(1).equal(rows(1)) and not rows(1).equal(rows(2))
    assert 0.07 < rows(1).std().item() < 0.13  # initializer_range is 0.1


def test_spare_rows_are_used_and_a_kept_model_is_left_as_it_is(models: dict[str, Path]) -> None:
    tokenizer, encoder = load_encoder_tokenizer(models["bert"]), load_encoder(models["bert"], 0.0, CPU)
    encoder.resize_token_embeddings(len(tokenizer) + 10, mean_resizing=False)
    before = rows_of(encoder)
    add_marks(tokenizer, encoder)
    after = rows_of(encoder)
    assert after.shape == before.shape and not after.equal(before)
    assert after[-6:].equal(before[-6:]) and after[:-10].equal(before[:-10])
    add_marks(tokenizer, encoder)
    assert rows_of(encoder).equal(after)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.sampled_from(["max", "average"]))
def test_pooling_is_what_a_loop_gives(lengths: list[int], how: Literal["max", "average"]) -> None:
    """Values and gradients."""
    generator = torch.Generator().manual_seed(sum(lengths))
    rows = torch.randn(sum(lengths), 3, generator=generator, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(len(lengths), 3, generator=generator, dtype=torch.float64)
    runs = torch.split(rows, lengths)
    expected = torch.stack([run.max(0).values if how == "max" else run.mean(0) for run in runs])
    made = pooled(rows, lengths, how)
    torch.testing.assert_close(made, expected)
    [gradient] = torch.autograd.grad((made * weights).sum(), rows)
    [wanted] = torch.autograd.grad((expected * weights).sum(), rows)
    torch.testing.assert_close(gradient, wanted)
