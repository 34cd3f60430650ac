"""Every pair of settings, on every kind of task: each combination trains, predicts and can be scored."""

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.examples.kinds import (
    KINDS,
    Answer,
    Entity,
    Example,
    LabelledSentence,
    MentionsExample,
    MultilabelExample,
    RegressionExample,
    RelationsExample,
    SequenceExample,
    SpanExample,
    TokensExample,
    WordSpan,
    read_examples,
    write_examples,
)
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.run import finetune
from pubmill.metrics import SCORERS
from pubmill.metrics.records import read_predictions
from pubmill.recipes import Dummies, FinetuningRecipe
from pubmill.storage.files import write_jsonl_gz
from tests.unit.tiny_encoders import tiny_bert

WORDS = ["ba", "co", "di", "fu", "ge", "lo", "mi", "nu"]
BASE = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=1e-3, batch_size=8, epochs=1, max_length=24, stride=4
)
METRICS = {
    "tokens": "entity_f1",
    "sequence": "accuracy",
    "multilabel": "micro_f1",
    "regression": "pearson",
    "span": "f1",
    "relations": "relation_f1",
    "mentions": "entity_f1",
}
Setting = dict[str, Any]
HEADS: list[Setting] = [{}, {"head": "mlp", "head_sizes": [16]}]
POOLER: Setting = {"head": "pooler"}
BILSTM: Setting = {"head": "bilstm", "head_sizes": [8]}
WEIGHTS: list[Setting] = [{}, {"loss": "weighted"}]
LOSSES: list[Setting] = [*WEIGHTS, {"loss": "dice"}]
STABILISATION: list[Setting] = [
    {},
    {"bias_correction": False},
    {"adam_epsilon": 1e-6},
    {"frozen_layers": 0},
    {"frozen_layers": 1},
    {"layerwise_decay": 0.8},
    {"reinitialised_layers": 1},
    {"removed_layers": 1},
    {"train_on": "train+dev"},
    {"keep": "last"},
    {"evaluate_every": 2},
]
FACTORS: dict[str, list[list[Setting]]] = {
    "tokens": [
        [*HEADS, BILSTM],
        [{}, {"crf": True}],
        [{"tagging": scheme} for scheme in ("bio", "bioul", "io")],
        [{"labelled_subwords": which} for which in ("first", "all", "separate")],
        [{"words": how} for how in ("spaced", "alone")],
        LOSSES,
        STABILISATION,
    ],
    "sequence": [
        [*HEADS, POOLER, BILSTM],
        [{"entities": how} for how in ("dummies", "markers", "original")],
        [{"pooling": how} for how in ("cls", "entity-start", "mention-max", "mention-average")],
        [{}, {"oversample": True}],
        LOSSES,
        STABILISATION,
    ],
    "multilabel": [
        [*HEADS, POOLER],
        [{"unit": unit} for unit in ("document", "sentence")],
        WEIGHTS,
        STABILISATION,
    ],
    "regression": [HEADS, [{"segments": how} for how in ("separate", "single")], STABILISATION],
    "span": [HEADS, [{"segments": how} for how in ("separate", "single")], STABILISATION],
    "relations": [[{}, {"head_dropout": 0.0}], STABILISATION],
    "mentions": [HEADS, [{"max_mention_length": length} for length in (2, 8)], WEIGHTS[:1], STABILISATION],
}


def sound(task: Any, setting: Setting) -> bool:
    """Whether the settings mean something together, as the recipe and the tasks define it."""
    if setting.get("pooling") == "entity-start" and setting.get("entities") != "markers":
        return False
    try:
        replace(BASE, task=task, metric=METRICS[task], **setting)
    except ValueError:
        return False
    return True


def covering(task: str) -> list[Setting]:
    """Settings in which every sound pair of two factors' values stands at least once (greedy)."""
    numbers: dict[Any, int] = {}
    settings, pairs = [], []
    for choice in itertools.product(*(range(len(values)) for values in FACTORS[task])):
        merged = _merged(task, choice)
        if sound(task, merged):
            settings.append(merged)
            found = itertools.combinations(enumerate(choice), 2)
            pairs.append(sum(1 << numbers.setdefault(pair, len(numbers)) for pair in found))
    missing, chosen = (1 << len(numbers)) - 1, []
    while missing:
        best = max(range(len(pairs)), key=lambda number: (pairs[number] & missing).bit_count())
        missing &= ~pairs[best]
        chosen.append(settings[best])
    return chosen


def _merged(task: str, choice: tuple[int, ...]) -> Setting:
    return {
        key: value
        for values, number in zip(FACTORS[task], choice, strict=True)
        for key, value in values[number].items()
    }


def _named(task: str, setting: Setting) -> str:
    return ",".join([task, *(f"{key}={value}" for key, value in setting.items())])


CASES = [(task, setting) for task in FACTORS for setting in covering(task)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", [*WORDS, "gene", "drug", "@", "$", "long"])


def example(task: str, number: int, generator: random.Random) -> Example:
    """A made-up example: short ones, and some that are longer than the encoder's input."""
    words = [generator.choice(WORDS) for _ in range(generator.choice([4, 7, 30]))]
    text, name = " ".join(words), str(number)
    positive = number % 3 == 0
    if task == "tokens":
        labels = ["B" if word == "ba" else "I" if before == "ba" else "O" for before, word in
                  zip(["", *words], words, strict=False)]  # fmt: skip
        return TokensExample(id=name, document=None, words=words, labels=["B", *labels[1:]])
    if task == "sequence":
        entities = [
            Entity(start=0, end=2, type="GENE"),
            Entity(start=len(text) - 2, end=len(text), type="DRUG"),
        ]
        label = "yes" if positive else "no"
        return SequenceExample(id=name, document=None, text=text, label=label, entities=entities)
    if task == "multilabel":
        middle = text.index(" ", 4)
        labels = ["a", "b"] if positive else ["b"]
        sentences = [
            LabelledSentence(start=0, end=middle, labels=labels),
            LabelledSentence(start=middle + 1, end=len(text), labels=[]),
        ]
        return MultilabelExample(id=name, document=None, text=text, labels=labels, sentences=sentences)
    if task == "regression":
        return RegressionExample(
            id=name, document=None, text=text, text_pair=text[:8], score=float(number % 5)
        )
    if task == "mentions":
        mentions = [WordSpan(0, 1, "x"), WordSpan(0, 3, "y")] if positive else []
        return MentionsExample(id=name, document=None, words=words, mentions=mentions)
    if task == "relations":
        entities = [
            Entity(start=0, end=2, type="GENE", id="g"),
            Entity(start=len(text) - 2, end=len(text), type="DRUG", id="d"),
        ]
        stated = [["g", "d", "binds", "Novel"]] if positive else []
        return RelationsExample(
            id=name, document=name, text=text, entities=entities, pairs=[["g", "d"]], relations=stated
        )
    answers = [Answer(text=words[-1], start=len(text) - 2)] if positive else []
    return SpanExample(id=name, document=None, question="co di", context=text, answers=answers)


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, generator = tmp_path_factory.mktemp("datasets"), random.Random(1)
    for task, (split, number) in itertools.product(FACTORS, (("train", 24), ("dev", 9), ("test", 9))):
        rows = [example(task, number, generator) for number in range(number)]
        write_examples(folder / task / f"{split}.jsonl.gz", rows)
    return folder


@pytest.mark.parametrize(("task", "setting"), CASES, ids=[_named(*case) for case in CASES])
def test_a_combination_trains_predicts_and_is_scored(
    model: Path, datasets: Path, tmp_path: Path, task: Any, setting: Setting
) -> None:
    dummies = Dummies(types={"GENE": "@GENE$", "DRUG": "@DRUG$"}, overlap="@GENE-DRUG$")
    recipe = replace(BASE, task=task, metric=METRICS[task], dummies=dummies, **setting)
    made = finetune(FinetuningJob(recipe, model, datasets / task, 1, "test"))
    assert made.report["failed"] in (None, "constant predictions")
    assert made.report["steps"] > 0 and made.report["recipe"]["task"] == task
    path = tmp_path / "predictions.jsonl.gz"
    write_jsonl_gz(path, made.predictions)
    gold = list(read_examples(datasets / task / "test.jsonl.gz", KINDS[task]))
    predicted = read_predictions(path, gold)
    metrics, *_ = SCORERS[task](gold, predicted, None)
    assert METRICS[task] in metrics or task == "regression"
