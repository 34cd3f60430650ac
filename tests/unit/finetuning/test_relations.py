"""Relations: what the encoder sees of two mentions, and where the head reads."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.examples.kinds import Entity, SequenceExample, read_examples, write_examples
from pubmill.finetuning.encoders import load_encoder, load_encoder_tokenizer
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.heads import SequenceBiLstm, TaskModel
from pubmill.finetuning.inputs import Instance, collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.run import finetune
from pubmill.finetuning.tasks.texts import Sequences
from tests.unit.finetuning.toy_relations import (
    CPU,
    KINDS,
    RECIPE,
    SYLLABLES,
    entity,
    relation,
    shown,
    task,
    write_models,
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_models(tmp_path_factory.mktemp("models"))


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


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, generator = tmp_path_factory.mktemp("dataset"), random.Random(1)
    for split, sentences in (("train", 300), ("dev", 25), ("test", 25)):
        examples = [example for number in range(sentences) for example in related(generator, number)]
        write_examples(folder / f"{split}.jsonl.gz", examples)
    return folder


POOLINGS = {
    "dummies": ("mention-max", "cls", "mention-average"),
    "markers": ("mention-max", "cls", "entity-start", "mention-average"),
    "original": ("mention-max", "mention-average"),
}
"""By what is made of the mentions. Every tokenizer has the first; the others differ only after it."""


@pytest.mark.parametrize(
    ("model", "entities", "pooling"),
    [
        *(("bert", entities, pooling) for entities, of in POOLINGS.items() for pooling in of),
        *(("roberta", entities, of[0]) for entities, of in POOLINGS.items()),
        *(
            pytest.param("roberta", entities, pooling, marks=pytest.mark.long)
            for entities, of in POOLINGS.items()
            for pooling in of[1:]
        ),
    ],
)
def test_a_relation_is_learnt(
    models: dict[str, Path], dataset: Path, model: str, entities: Any, pooling: Any
) -> None:
    """Half of the labels are right by chance. To look from one token to the next is learnt late."""
    epochs = {"cls": 10, "entity-start": 5}.get(pooling, 2)
    recipe = replace(RECIPE, entities=entities, pooling=pooling, epochs=epochs)
    run = finetune(FinetuningJob(recipe, models[model], dataset, 1, "test"))
    examples = list(read_examples(dataset / "test.jsonl.gz", SequenceExample))
    gold = {example.id: example.label for example in examples}
    assert [row["id"] for row in run.predictions] == list(gold)
    right = [row["label"] == gold[row["id"]] for row in run.predictions]
    assert sum(right) / len(right) > 0.75 and run.report["failed"] is None


@pytest.mark.parametrize(
    ("model", "entities"), [("bert", "dummies"), ("bert", "markers"), ("roberta", "dummies")]
)
def test_a_bilstm_over_all_tokens_learns_a_relation(
    models: dict[str, Path], dataset: Path, model: str, entities: Any
) -> None:
    epochs = 2 if entities == "dummies" else 10
    recipe = replace(RECIPE, entities=entities, head="bilstm", head_sizes=[16], epochs=epochs)
    run = finetune(FinetuningJob(recipe, models[model], dataset, 1, "test"))
    gold = [example.label for example in read_examples(dataset / "test.jsonl.gz", SequenceExample)]
    right = [row["label"] == label for row, label in zip(run.predictions, gold, strict=True)]
    assert sum(right) / len(right) > 0.75 and run.report["failed"] is None


def test_the_first_token_of_the_original_text_does_not_know_the_arguments(
    models: dict[str, Path], dataset: Path
) -> None:
    """Two relations of a sentence are then one and the same input (gu2020 Table 12)."""
    run = finetune(FinetuningJob(replace(RECIPE, entities="original"), models["bert"], dataset, 1, "test"))
    assert run.report["dev"]["scores"] == [0.5] * 4


BILSTM: dict[str, Any] = {"head": "bilstm", "head_sizes": [16]}
HEADS: list[dict[str, Any]] = [
    *({"pooling": pooling} for pooling in ("entity-start", "mention-max", "mention-average")),
    BILSTM,
]


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


@pytest.mark.parametrize("head", [{}, *HEADS], ids=str)
def test_padded_equals_alone(models: dict[str, Path], dataset: Path, head: dict[str, Any]) -> None:
    made = Sequences(
        replace(RECIPE, entities="markers", **head),
        Reader(load_encoder_tokenizer(models["bert"]), 64, "separate"),
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
