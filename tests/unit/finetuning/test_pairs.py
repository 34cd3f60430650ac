"""Every value of every setting, on every kind of task, with others: it trains, predicts and can be scored."""

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.examples.kinds import KINDS, read_examples
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.run import finetune
from pubmill.metrics import SCORERS
from pubmill.metrics.records import read_predictions
from pubmill.recipes import FinetuningRecipe
from pubmill.storage.files import write_jsonl_gz
from tests.unit.toy_tasks import DUMMIES, write_dataset

BASE = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=1e-3, batch_size=8, epochs=1, max_length=16, stride=2
)
METRICS = {
    "tokens": "entity_f1", "sequence": "accuracy", "multilabel": "micro_f1", "regression": "pearson",
    "span": "f1", "relations": "relation_f1", "mentions": "entity_f1",
}  # fmt: skip
Setting = dict[str, Any]
HEADS: list[Setting] = [{}, {"head": "mlp", "head_sizes": [16]}]
POOLER: Setting = {"head": "pooler"}
BILSTM: Setting = {"head": "bilstm", "head_sizes": [8]}
WEIGHTS: list[Setting] = [{}, {"loss": "weighted"}]
LOSSES: list[Setting] = [*WEIGHTS, {"loss": "dice"}]
STABILISATION: list[Setting] = [
    {}, {"bias_correction": False, "adam_epsilon": 1e-6}, {"frozen_layers": 1}, {"layerwise_decay": 0.8},
    {"reinitialised_layers": 1}, {"removed_layers": 1, "frozen_layers": 0}, {"train_on": "train+dev"},
    {"keep": "last"}, {"evaluate_every": 2},
]  # fmt: skip
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
        [*HEADS, POOLER], [{"unit": unit} for unit in ("document", "sentence")], WEIGHTS, STABILISATION,
    ],
    "regression": [HEADS, [{"segments": how} for how in ("separate", "single")], STABILISATION],
    "span": [HEADS, [{"segments": how} for how in ("separate", "single")], STABILISATION],
    "relations": [[{}, {"head_dropout": 0.0}], STABILISATION],
    "mentions": [HEADS, [{"max_mention_length": length} for length in (2, 8)], WEIGHTS[:1], STABILISATION],
}  # fmt: skip


def drawn(task: Any) -> Iterator[tuple[str, FinetuningRecipe]]:
    """Sound recipes, with their names, until each value of each factor has stood in one; mostly of values
    that have not yet."""
    draw, left = random.Random(task), [list(factor) for factor in FACTORS[task]]
    while any(left):
        both = zip(left, FACTORS[task], strict=True)
        chosen = [draw.choice(new if new and draw.random() < 0.9 else every) for new, every in both]
        merged = {key: of_key for setting in chosen for key, of_key in setting.items()}
        with suppress(ValueError):
            made = replace(BASE, task=task, metric=METRICS[task], dummies=DUMMIES, **merged)
            left = [[one for one in new if one != value] for new, value in zip(left, chosen, strict=True)]
            yield ",".join([task, *(f"{key}={value}" for key, value in merged.items())]), made


CASES = dict(case for task in FACTORS for case in drawn(task))


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Few examples of the toy tasks; some are longer than the encoder's input."""
    folder = tmp_path_factory.mktemp("datasets")
    for task in FACTORS:
        write_dataset(folder / task, task, train=24)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_a_combination_trains_predicts_and_is_scored(
    tiny: Path, datasets: Path, tmp_path: Path, name: str
) -> None:
    recipe, task = CASES[name], CASES[name].task
    made = finetune(FinetuningJob(recipe, tiny, datasets / task, 1, "test"))
    assert made.report["failed"] in (None, "constant predictions")
    assert made.report["steps"] > 0 and made.report["recipe"]["task"] == task
    path = tmp_path / "predictions.jsonl.gz"
    write_jsonl_gz(path, made.predictions)
    gold = list(read_examples(datasets / task / "test.jsonl.gz", KINDS[task]))
    predicted = read_predictions(path, gold)
    metrics, *_ = SCORERS[task](gold, predicted, None)
    assert METRICS[task] in metrics or task == "regression"
