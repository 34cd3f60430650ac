"""Relations: what the encoder sees of two mentions and of a long text, and where the head reads."""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedModel

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.finetuning.encoders import add_tokens, load_encoder, load_encoder_tokenizer
from pubmill.finetuning.heads import BiLstm, pooled
from pubmill.finetuning.inputs import Instance, collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.relations import MARKS, Mention, remaining, written_tokens
from pubmill.finetuning.tasks.texts import Sequences
from pubmill.recipes import Dummies, FinetuningRecipe

KINDS = ["ine", "long", "mab"]
RECIPE = FinetuningRecipe(
    task="sequence", metric="accuracy", learning_rate=4e-3, batch_size=16, epochs=4, dropout=0.0,
    dummies=Dummies(types=dict(zip(KINDS, ("@gene$", "@drug$", "@cell$"), strict=True)), overlap="@{}-{}$"),
    head_dropout=0.0, precision="float32",
)  # fmt: skip
BILSTM: dict[str, Any] = {"head": "bilstm", "head_sizes": [16]}
CPU = torch.device("cpu")


def relation(name: str, text: str, entities: list[Entity], label: str = "no") -> SequenceExample:
    return SequenceExample(id=name, document=None, text=text, label=label, entities=entities)


def entity(text: str, mention: str, kind: str = "ine") -> Entity:
    return Entity(start=text.index(mention), end=text.index(mention) + len(mention), type=kind)


def task(model: Path, max_length: int = 64, **settings: Any) -> Sequences:
    recipe = replace(RECIPE, **settings)
    segments: Literal["separate", "none"] = "none" if model.name == "roberta" else "separate"
    reader = Reader(load_encoder_tokenizer(model), max_length, segments, marks=written_tokens(recipe))
    if recipe.entities == "markers":
        add_tokens(reader.tokenizer, load_encoder(model, 0.0, CPU), written_tokens(recipe))
    return Sequences(recipe, reader, ["ine", "long"])


def shown(made: Sequences, instance: Instance) -> tuple[list[str], list[str]]:
    tokens = list(made.reader.tokenizer.convert_ids_to_tokens(instance.ids))
    return tokens, [tokens[place] for place in instance.places]


TEXT = "Ba ineco fu longdi."
BOTH = [("longdi", "long"), ("ineco", "ine")]
DUMMIES = "[CLS] ba @ gene $ fu @ drug $ [UNK] [SEP]"
MARKED = "[CLS] ba [E2-START] ine ##co [E2-END] fu [E1-START] long ##di [E1-END] [UNK] [SEP]"


@pytest.mark.parametrize(
    ("entities", "how", "text", "mentions", "tokens", "read"),
    [
        ("dummies", {"pooling": "cls"}, TEXT, BOTH, DUMMIES, "[CLS]"),
        ("dummies", {"pooling": "mention-max"}, TEXT, BOTH, DUMMIES, "@ drug $ @ gene $"),
        ("dummies", BILSTM, TEXT, BOTH, DUMMIES, DUMMIES),
        (
            "original", {"pooling": "mention-max"}, TEXT, BOTH,
            "[CLS] ba ine ##co fu long ##di [UNK] [SEP]", "long ##di ine ##co",
        ),
        ("original", {"pooling": "cls"}, TEXT, BOTH, "[CLS] ba ine ##co fu long ##di [UNK] [SEP]", "[CLS]"),
        ("markers", {"pooling": "cls"}, TEXT, BOTH, MARKED, "[CLS]"),
        ("markers", {"pooling": "entity-start"}, TEXT, BOTH, MARKED, "[E1-START] [E2-START]"),
        ("markers", {"pooling": "mention-average"}, TEXT, BOTH, MARKED, "long ##di ine ##co"),
        # nested mentions have marks of their own, overlapping dummies are read twice
        (
            "markers", {"pooling": "entity-start"}, "ba fu co", [("ba", "ine"), ("ba fu", "ine")],
            "[CLS] [E2-START] [E1-START] ba [E1-END] fu [E2-END] co [SEP]", "[E1-START] [E2-START]",
        ),
        (
            "dummies", {"pooling": "mention-max"}, "ba ineco fu", [("ineco", "ine"), ("co", "long")],
            "[CLS] ba @ gene - drug $ fu [SEP]", "@ gene - drug $ @ gene - drug $",
        ),
        # a mention without subwords is read at what follows, or at the first token
        ("original", {"pooling": "mention-max"}, "ba \u200d fu", [("\u200d", "ine"), ("ba", "ine")],
         "[CLS] ba fu [SEP]", "fu ba"),
        ("original", {"pooling": "mention-max"}, "\u200d", [("\u200d", "ine"), ("\u200d", "ine")],
         "[CLS] [SEP]", "[CLS] [CLS]"),
    ],
)  # fmt: skip
def test_what_is_seen_and_where_it_is_read(
    models: dict[str, Path], entities: Any, how: dict[str, Any], text: str, mentions: list[tuple[str, str]],
    tokens: str, read: str,
) -> None:  # fmt: skip
    """The example's first entity comes first in the head's input, wherever it stands."""
    made = task(models["bert"], entities=entities, **how)
    encoded = made.encode([relation("1", text, [entity(text, *one) for one in mentions])])
    [instance] = encoded.instances
    assert shown(made, instance) == (tokens.split(), read.split())
    assert encoded.counts["mentions_without_subword"] == [one for one, _ in mentions].count("\u200d")


def test_marks_leave_no_blanks_in_byte_level_subwords(models: dict[str, Path]) -> None:
    made = task(models["roberta"], entities="markers", pooling="mention-max")
    text = "ba co di-fu"
    [instance] = made.encode([relation("1", text, [entity(text, "co"), entity(text, "di")])]).instances
    tokens, read = shown(made, instance)
    assert "".join(tokens).startswith("<s>Ġba[E1-START]Ġco[E1-END][E2-START]Ġdi[E2-END]")
    assert "".join(read) == "codi" and sum(instance.groups or []) == len(read)


def test_a_relation_is_read_off_the_last_state_of_each_direction() -> None:
    """After the last token from the left and the first one from the right; instances in any order."""
    torch.manual_seed(3)
    head = BiLstm(6, 2, replace(RECIPE, **{**BILSTM, "head_sizes": [4]}), whole=True).eval()
    rows, lengths = torch.randn(9, 6), [3, 5, 1]
    places = [list(range(length)) for length in lengths]
    instances = [Instance(example=0, ids=own, segments=None, places=own) for own in places]
    last = [head.lstm(own)[1][0].flatten() for own in torch.split(rows, lengths)]
    torch.testing.assert_close(head(rows, collate(instances, 0, CPU)), head.linear(torch.stack(last)))


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
    made = {
        kind: [task(model, length, entities=kind, pooling="mention-max") for length in (12, 10_000)]
        for kind in ("original", "dummies", "markers")
    }
    return {**made, "starts": [task(model, 12, entities="markers", pooling="entity-start")]}


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
    made = task(models["bert"], 8, entities="original", pooling="mention-max")
    long = " ba" * 20
    texts = [f"ine long{long}", f"{long} ine long", f"ine{long} long", f"{'ine' * 9} long", "ine long"]
    first = ["ine", "ine", "ine", "ine" * 9, "ine"]
    arguments = [[entity(text, one), entity(text, "long")] for text, one in zip(texts, first, strict=True)]
    examples = [relation("1", *both) for both in zip(texts, arguments, strict=True)]
    assert made.encode(examples).counts == {
        "texts_shortened": 4, "beginnings_left_out": 1, "middles_left_out": 2, "mentions_shortened": 1,
        "mentions_without_subword": 0,
    }  # fmt: skip


TWO = "example 7 has {} entities; markers, and a pooling other than cls, are for 2; use pooling cls"


@pytest.mark.parametrize(
    ("settings", "mentions", "message"),
    [
        ({"dummies": None}, 2, "example 7 has entities, but the recipe has no `dummies`"),
        ({"dummies": Dummies(types={"ine": "@ine$"}, overlap="")}, 2, "example 7: no dummy .* type long"),
        ({"entities": "markers"}, 3, TWO.format(3)),
        ({"pooling": "mention-max"}, 3, TWO.format(3)),
        ({"pooling": "mention-average"}, 0, TWO.format(0)),
        ({"entities": "markers", "pooling": "entity-start", "max_length": 5}, 2, "example 7: .* 3 subwords"),
    ],
)
def test_settings_that_cannot_be_followed_are_refused(
    models: dict[str, Path], settings: dict[str, Any], mentions: int, message: str
) -> None:
    text = "ineba longco mabdi"
    three = [entity(text, "ineba"), entity(text, "longco", "long"), entity(text, "mabdi", "mab")]
    with pytest.raises(PubmillError, match=message):
        made = task(models["bert"], **settings)
        made.encode([relation("7", text, three[:mentions])])


def rows_of(encoder: PreTrainedModel) -> torch.Tensor:
    weight = encoder.get_input_embeddings().weight
    assert isinstance(weight, torch.Tensor)
    return weight.detach().clone()


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_marks_are_new_rows_that_depend_on_the_seed_alone(models: dict[str, Path], name: str) -> None:
    def rows(seed: int) -> torch.Tensor:
        tokenizer, encoder = load_encoder_tokenizer(models[name]), load_encoder(models[name], 0.0, CPU)
        before = rows_of(encoder)
        torch.manual_seed(seed)
        add_tokens(tokenizer, encoder, [*chain.from_iterable(MARKS)])
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
    add_tokens(tokenizer, encoder, [*chain.from_iterable(MARKS)])
    after = rows_of(encoder)
    assert after.shape == before.shape and not after.equal(before)
    assert after[-6:].equal(before[-6:]) and after[:-10].equal(before[:-10])
    add_tokens(tokenizer, encoder, [*chain.from_iterable(MARKS)])
    assert rows_of(encoder).equal(after)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.sampled_from(["max", "average"]))
def test_pooling_is_what_a_loop_gives(lengths: list[int], how: Literal["max", "average"]) -> None:
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
