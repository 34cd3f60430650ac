"""Answers in a context are learnt, and a seed gives the same bits.

The question's word says which of the words is its answer; "none" has no answer.
"""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.examples.kinds import SpanExample, write_examples
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.run import finetune
from pubmill.metrics.answers import score_answers
from tests.unit.finetuning.toy_spans import RECIPE, learnable, make_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "tiny")


def dataset(folder: Path, unanswerable: float) -> tuple[Path, list[SpanExample]]:
    generator = random.Random(1)
    for split, number in (("train", 400), ("dev", 40)):
        examples = [learnable(generator, f"{split}-{one}", unanswerable) for one in range(number)]
        write_examples(folder / f"{split}.jsonl.gz", examples)
    return folder, examples


@pytest.mark.parametrize(("unanswerable", "labels"), [(0.0, 1), (0.3, 2)])
def test_it_learns_to_answer_and_when_not_to(
    model: Path, tmp_path: Path, unanswerable: float, labels: int
) -> None:
    folder, examples = dataset(tmp_path, unanswerable)
    made = finetune(FinetuningJob(replace(RECIPE, epochs=3), model, folder, 1, "dev"))
    assert [row["id"] for row in made.predictions] == [example.id for example in examples]
    tops = [row["answers"][0]["text"] for row in made.predictions]
    metrics, *_ = score_answers(examples, [[(top, 1.0)] for top in tops])
    assert metrics["f1"] == made.report["dev"]["best"]
    assert metrics["f1"] > 0.9
    assert made.report["failed"] is None and len(made.report["labels"]) == labels
    assert ("" in tops) == bool(unanswerable)
    for row in made.predictions:
        shares = [one["probability"] for one in row["answers"]]
        assert shares == sorted(shares, reverse=True) and len(shares) <= RECIPE.n_best
        assert sum(shares) <= 1 + 1e-9
