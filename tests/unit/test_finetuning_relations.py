"""Relations: what the encoder sees of two mentions, where the head reads, what stays of a long sentence."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedModel

from pubmill.errors import PubmillError
from pubmill.examples import Entity, SequenceExample, read_examples, write_examples
from pubmill.finetuning.encoders import load_encoder, load_tokenizer
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import Instance, collate
from pubmill.finetuning.pooling import pooled
from pubmill.finetuning.reader import Reader, Subwords
from pubmill.finetuning.recurrent import SequenceBiLstm
from pubmill.finetuning.run import finetune
from pubmill.finetuning.tasks.relations import Argument, Mention, add_marks, located, remaining
from pubmill.finetuning.tasks.sequence import Sequences
from pubmill.recipes import Dummies, FinetuningRecipe
from tests.unit.tiny_encoders import tiny_bert, tiny_roberta

SYLLABLES = ["ba", "co", "di", "fu", "ge", "lo"]
KINDS = ["ine", "long", "mab"]
RECIPE = FinetuningRecipe(
    task="sequence",
    metric="accuracy",
    dummies=Dummies(types=dict(zip(KINDS, ("@gene$", "@drug$", "@cell$"), strict=True)), overlap="@{}-{}$"),
    learning_rate=4e-3,
    batch_size=16,
    epochs=4,
    dropout=0.0,
    head_dropout=0.0,
    precision="float32",
)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    pieces = [*SYLLABLES, *KINDS, "gene", "drug", "cell", "@", "$", "-"]
    return {"bert": tiny_bert(folder / "bert", pieces), "roberta": tiny_roberta(folder / "roberta")}


def related(generator: random.Random, number: int) -> list[SequenceExample]:
    """A sentence with three mentions, as the relation of the first and as that of the second with the third;
    the label is the kind of the first argument. The text alone doesn't tell the two apart."""
    words = generator.choices(SYLLABLES, k=generator.randrange(3, 6))
    mentions = [kind + generator.choice(SYLLABLES) for kind in KINDS]
    for mention in generator.sample(mentions, 3):
        words.insert(generator.randrange(len(words) + 1), mention)
    text = " ".join(words)
    one, other, third = (
        Entity(start=text.index(mention), end=text.index(mention) + len(mention), type=kind)
        for mention, kind in zip(mentions, KINDS, strict=True)
    )
    return [relation(f"{number}.{e.type}", text, [e, third], label=e.type) for e in (one, other)]


def relation(name: str, text: str, entities: list[Entity], label: str = "no") -> SequenceExample:
    return SequenceExample(id=name, document=None, text=text, label=label, entities=entities)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, generator = tmp_path_factory.mktemp("dataset"), random.Random(1)
    for split, sentences in (("train", 300), ("dev", 25), ("test", 25)):
        examples = [example for number in range(sentences) for example in related(generator, number)]
        write_examples(folder / f"{split}.jsonl.gz", examples)
    return folder


def task(model: Path, recipe: FinetuningRecipe, max_length: int = 64) -> Sequences:
    """With the marks in its vocabulary, where the recipe has them."""
    segments: Literal["separate", "none"] = "none" if model.name == "roberta" else "separate"
    made = Sequences(recipe, Reader(load_tokenizer(model), max_length, segments), ["ine", "long"])
    made.extend(load_encoder(model, 0.0, CPU))
    return made


def shown(made: Sequences, instance: Instance) -> tuple[list[str], list[str]]:
    """The subwords of an instance, and those that the head reads."""
    tokens = list(made.reader.tokenizer.convert_ids_to_tokens(instance.ids))
    return tokens, [tokens[place] for place in instance.places]


def entity(text: str, mention: str, kind: str = "ine") -> Entity:
    return Entity(start=text.index(mention), end=text.index(mention) + len(mention), type=kind)


@pytest.mark.parametrize("model", ["bert", "roberta"])
@pytest.mark.parametrize(
    ("entities", "pooling"),
    [
        *(("dummies", pooling) for pooling in ("cls", "mention-max", "mention-average")),
        *(("markers", pooling) for pooling in ("cls", "entity-start", "mention-max", "mention-average")),
        *(("original", pooling) for pooling in ("mention-max", "mention-average")),
    ],
)
def test_a_relation_is_learnt(
    models: dict[str, Path], dataset: Path, model: str, entities: Any, pooling: Any
) -> None:
    """Half of the labels are right by chance. To look from one token to the next is learnt late."""
    looks = pooling in ("cls", "entity-start")
    recipe = replace(RECIPE, entities=entities, pooling=pooling, epochs=10 if looks else RECIPE.epochs)
    run = finetune(recipe, models[model], dataset, 1, "test")
    examples = list(read_examples(dataset / "test.jsonl.gz", SequenceExample))
    gold = {example.id: example.label for example in examples}
    assert [row["id"] for row in run.predictions] == list(gold)
    right = [row["label"] == gold[row["id"]] for row in run.predictions]
    assert sum(right) / len(right) > 0.75 and run.account["failed"] is None


@pytest.mark.parametrize(
    ("model", "entities"), [("bert", "dummies"), ("bert", "markers"), ("roberta", "dummies")]
)
def test_a_bilstm_over_all_tokens_learns_a_relation(
    models: dict[str, Path], dataset: Path, model: str, entities: Any
) -> None:
    recipe = replace(RECIPE, entities=entities, head="bilstm", head_sizes=[16], epochs=10)
    run = finetune(recipe, models[model], dataset, 1, "test")
    gold = [example.label for example in read_examples(dataset / "test.jsonl.gz", SequenceExample)]
    right = [row["label"] == label for row, label in zip(run.predictions, gold, strict=True)]
    assert sum(right) / len(right) > 0.75 and run.account["failed"] is None


def test_the_first_token_of_the_original_text_does_not_know_the_arguments(
    models: dict[str, Path], dataset: Path
) -> None:
    """Two relations of a sentence are then one and the same input (gu2020 Table 12)."""
    run = finetune(replace(RECIPE, entities="original"), models["bert"], dataset, 1, "test")
    assert run.account["dev"]["scores"] == [0.5] * 4


BILSTM: dict[str, Any] = {"head": "bilstm", "head_sizes": [16]}
HEADS: list[dict[str, Any]] = [
    *({"pooling": pooling} for pooling in ("entity-start", "mention-max", "mention-average")),
    BILSTM,
]


@pytest.mark.parametrize("head", HEADS, ids=str)
def test_a_seed_gives_the_same_bits(models: dict[str, Path], dataset: Path, head: dict[str, Any]) -> None:
    recipe = replace(RECIPE, entities="markers", epochs=1, dropout=0.1, head_dropout=0.1, **head)
    first, second = (finetune(recipe, models["bert"], dataset, 7, "test") for _ in range(2))
    assert first.predictions == second.predictions
    assert first.account["loss_by_epoch"] == second.account["loss_by_epoch"]
    other = finetune(recipe, models["bert"], dataset, 8, "test")
    assert first.account["loss_by_epoch"] != other.account["loss_by_epoch"]


TEXT = "Ba ineco fu longdi."


@pytest.mark.parametrize(
    ("entities", "pooling", "tokens", "read"),
    [
        ("dummies", "cls", "ba @ gene $ fu @ drug $ [UNK]", "[CLS]"),
        ("dummies", "mention-max", "ba @ gene $ fu @ drug $ [UNK]", "@ drug $ @ gene $"),
        ("original", "mention-max", "ba ine ##co fu long ##di [UNK]", "long ##di ine ##co"),
        ("markers", "cls", "ba [E2-START] ine ##co [E2-END] fu [E1-START] long ##di [E1-END] [UNK]", "[CLS]"),
        (
            "markers",
            "entity-start",
            "ba [E2-START] ine ##co [E2-END] fu [E1-START] long ##di [E1-END] [UNK]",
            "[E1-START] [E2-START]",
        ),
        (
            "markers",
            "mention-average",
            "ba [E2-START] ine ##co [E2-END] fu [E1-START] long ##di [E1-END] [UNK]",
            "long ##di ine ##co",
        ),
    ],
)
def test_what_is_seen_and_where_it_is_read(
    models: dict[str, Path], entities: Any, pooling: Any, tokens: str, read: str
) -> None:
    """The example's first entity comes first in the head's input, wherever it stands."""
    made = task(models["bert"], replace(RECIPE, entities=entities, pooling=pooling))
    both = [entity(TEXT, "longdi", "long"), entity(TEXT, "ineco")]
    [instance] = made.encode([relation("1", TEXT, both)]).instances
    assert shown(made, instance) == (["[CLS]", *tokens.split(), "[SEP]"], read.split())


def test_a_bilstm_reads_all_tokens_of_both_texts(models: dict[str, Path]) -> None:
    made = task(models["bert"], replace(RECIPE, **BILSTM))
    example = replace(relation("1", TEXT, [entity(TEXT, "ineco")]), text_pair="di")
    [instance] = made.encode([example]).instances
    tokens = "[CLS] ba @ gene $ fu long ##di [UNK] [SEP] di [SEP]".split()
    assert shown(made, instance) == (tokens, tokens) and instance.groups is None


def test_marks_leave_no_blanks_in_byte_level_subwords(models: dict[str, Path]) -> None:
    made = task(models["roberta"], replace(RECIPE, entities="markers", pooling="mention-max"))
    text = "ba co di-fu"
    [instance] = made.encode([relation("1", text, [entity(text, "co"), entity(text, "di")])]).instances
    tokens, read = shown(made, instance)
    assert "".join(tokens).startswith("<s>Ġba[E1-START]Ġco[E1-END][E2-START]Ġdi[E2-END]")
    assert "".join(read) == "codi" and sum(instance.groups or []) == len(read)


def test_nested_mentions_have_marks_of_their_own(models: dict[str, Path]) -> None:
    made = task(models["bert"], replace(RECIPE, entities="markers", pooling="entity-start"))
    text = "ba fu co"
    both = [entity(text, "ba"), entity(text, "ba fu")]
    [instance] = made.encode([relation("1", text, both)]).instances
    tokens, read = shown(made, instance)
    assert " ".join(tokens) == "[CLS] [E2-START] [E1-START] ba [E1-END] fu [E2-END] co [SEP]" and read == [
        "[E1-START]",
        "[E2-START]",
    ]


def test_overlapping_dummies_are_read_twice(models: dict[str, Path]) -> None:
    made = task(models["bert"], replace(RECIPE, pooling="mention-max"))
    text = "ba ineco fu"
    both = [entity(text, "ineco"), entity(text, "co", "long")]
    [instance] = made.encode([relation("1", text, both)]).instances
    assert shown(made, instance)[1] == ["@", "gene", "-", "drug", "$"] * 2 and instance.groups == [5, 5]


@pytest.mark.parametrize("pooling", ["mention-max", "entity-start"])
def test_a_mention_without_subwords_is_counted_and_read_at_what_follows(
    models: dict[str, Path], pooling: Any
) -> None:
    entities: Any = "markers" if pooling == "entity-start" else "original"
    made = task(models["bert"], replace(RECIPE, entities=entities, pooling=pooling))
    text = "ba \u200d fu"
    encoded = made.encode([relation("1", text, [entity(text, "\u200d"), entity(text, "ba")])])
    assert encoded.counts["mentions_without_subword"] == 1
    read = ["[E1-START]", "[E2-START]"] if pooling == "entity-start" else ["fu", "ba"]
    assert shown(made, encoded.instances[0])[1] == read


def test_a_text_without_subwords_is_read_at_its_first_token(models: dict[str, Path]) -> None:
    made = task(models["bert"], replace(RECIPE, entities="original", pooling="mention-max"))
    both = [Entity(start=at, end=at + 1, type="ine") for at in (0, 1)]
    encoded = made.encode([relation("1", "\u200d\u200d", both)])
    assert shown(made, encoded.instances[0])[1] == ["[CLS]", "[CLS]"]
    assert encoded.counts["mentions_without_subword"] == 2 and encoded.instances[0].groups == [1, 1]


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
        ({"entities": "markers"}, 3, "example 7 has 3 entities; there are markers for 2"),
        ({"pooling": "mention-max"}, 3, "example 7 has 3 entities; pooling mention-max reads 2"),
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


def test_dummies_take_any_number_of_mentions(models: dict[str, Path]) -> None:
    text = "ineba longco mabdi"
    three = [entity(text, "ineba"), entity(text, "longco", "long"), entity(text, "mabdi", "mab")]
    made = task(models["bert"], RECIPE)
    [instance] = made.encode([relation("1", text, three)]).instances
    assert " ".join(shown(made, instance)[0]) == "[CLS] @ gene $ @ drug $ @ cell $ [SEP]"


def rows_of(encoder: PreTrainedModel) -> torch.Tensor:
    """A copy of the embeddings of the vocabulary."""
    weight = encoder.get_input_embeddings().weight
    assert isinstance(weight, torch.Tensor)
    return weight.detach().clone()


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_marks_are_new_rows_that_depend_on_the_seed_alone(models: dict[str, Path], name: str) -> None:
    def rows(seed: int) -> torch.Tensor:
        tokenizer, encoder = load_tokenizer(models[name]), load_encoder(models[name], 0.0, CPU)
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
    tokenizer, encoder = load_tokenizer(models["bert"]), load_encoder(models["bert"], 0.0, CPU)
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


@pytest.mark.parametrize("head", [{}, *HEADS], ids=str)
def test_padded_equals_alone(models: dict[str, Path], dataset: Path, head: dict[str, Any]) -> None:
    made = Sequences(
        replace(RECIPE, entities="markers", **head),
        Reader(load_tokenizer(models["bert"]), 64, "separate"),
        ["ine", "long"],
    )
    encoder = load_encoder(models["bert"], 0.0, CPU)
    made.extend(encoder)
    model = TaskModel(encoder, made.head(32)).eval()
    examples = list(read_examples(dataset / "dev.jsonl.gz", SequenceExample))
    instances = made.encode(examples).instances
    with torch.inference_mode():
        together = model(collate(instances, 0, CPU))
        alone = torch.cat([model(collate([instance], 0, CPU)) for instance in instances])
    assert together.shape == (len(examples), 2)
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


def last_state(rows: torch.Tensor, weights: dict[str, torch.Tensor], direction: str) -> torch.Tensor:
    """An LSTM (Hochreiter & Schmidhuber 1997, with forget gate) step by step, after the last row."""
    size = weights[f"weight_hh_l0{direction}"].shape[1]
    state, cell = torch.zeros(size), torch.zeros(size)
    for row in rows:
        gates = weights[f"weight_ih_l0{direction}"] @ row + weights[f"bias_ih_l0{direction}"]
        gates = gates + weights[f"weight_hh_l0{direction}"] @ state + weights[f"bias_hh_l0{direction}"]
        enter, forget, candidate, leave = gates.split(size)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(candidate)
        state = torch.sigmoid(leave) * torch.tanh(cell)
    return state


def test_a_relation_is_read_off_the_last_state_of_each_direction(models: dict[str, Path]) -> None:
    """After the last token from the left and the first one from the right; instances in any order."""
    torch.manual_seed(3)
    head = SequenceBiLstm(6, 2, replace(RECIPE, **{**BILSTM, "head_sizes": [4]})).eval()
    instances = [
        Instance(example=0, ids=[0] * length, segments=None, places=list(range(length)))
        for length in (3, 5, 1)
    ]
    rows = torch.randn(9, 6)
    weights = {name: value.detach() for name, value in head.lstm.named_parameters()}
    expected = []
    for own in torch.split(rows, [3, 5, 1]):
        states = last_state(own, weights, ""), last_state(own.flip(0), weights, "_reverse")
        expected.append(head.linear(torch.cat(states)))
    torch.testing.assert_close(head(rows, collate(instances, 0, CPU)), torch.stack(expected))
