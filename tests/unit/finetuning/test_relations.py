"""Relations: what the encoder sees of two mentions, and where the head reads."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.examples.kinds import Entity, SequenceExample, read_examples, write_examples
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.heads import BiLstm
from pubmill.finetuning.inputs import Instance, collate
from pubmill.finetuning.run import finetune
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


BILSTM: dict[str, Any] = {"head": "bilstm", "head_sizes": [16]}


@pytest.mark.parametrize(
    ("model", "entities", "how", "epochs"),
    [
        ("bert", "dummies", {"pooling": "cls"}, 10),
        ("bert", "markers", {"pooling": "entity-start"}, 5),
        ("bert", "original", {"pooling": "mention-average"}, 2),
        ("bert", "dummies", BILSTM, 2),
        ("roberta", "markers", {"pooling": "mention-max"}, 2),
        pytest.param("roberta", "dummies", BILSTM, 2, marks=pytest.mark.long),
    ],
)
def test_a_relation_is_learnt(
    models: dict[str, Path], dataset: Path, model: str, entities: Any, how: dict[str, Any], epochs: int
) -> None:
    """Half of the labels are right by chance. To look from one token to the next is learnt late."""
    recipe = replace(RECIPE, entities=entities, epochs=epochs, **how)
    run = finetune(FinetuningJob(recipe, models[model], dataset, 1, "test"))
    examples = list(read_examples(dataset / "test.jsonl.gz", SequenceExample))
    gold = {example.id: example.label for example in examples}
    assert [row["id"] for row in run.predictions] == list(gold)
    right = [row["label"] == gold[row["id"]] for row in run.predictions]
    assert sum(right) / len(right) > 0.75 and run.report["failed"] is None


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
    made = task(models["bert"], replace(RECIPE, entities=entities, **how))
    encoded = made.encode([relation("1", text, [entity(text, *one) for one in mentions])])
    [instance] = encoded.instances
    assert shown(made, instance) == (tokens.split(), read.split())
    assert encoded.counts["mentions_without_subword"] == [one for one, _ in mentions].count("\u200d")


def test_marks_leave_no_blanks_in_byte_level_subwords(models: dict[str, Path]) -> None:
    made = task(models["roberta"], replace(RECIPE, entities="markers", pooling="mention-max"))
    text = "ba co di-fu"
    [instance] = made.encode([relation("1", text, [entity(text, "co"), entity(text, "di")])]).instances
    tokens, read = shown(made, instance)
    assert "".join(tokens).startswith("<s>Ġba[E1-START]Ġco[E1-END][E2-START]Ġdi[E2-END]")
    assert "".join(read) == "codi" and sum(instance.groups or []) == len(read)


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
    head = BiLstm(6, 2, replace(RECIPE, **{**BILSTM, "head_sizes": [4]}), whole=True).eval()
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
