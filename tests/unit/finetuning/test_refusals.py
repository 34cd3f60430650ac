"""What cannot be learnt is refused, with the reason."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.finetuning.encoders import load_encoder_tokenizer
from pubmill.finetuning.finetuning_job import read_split
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks import TASKS
from pubmill.recipes import FinetuningRecipe
from tests.unit.toy_tasks import OURS, SPAN, TOKENS

NAMED: dict[str, Any] = {"id": "9", "document": None}
YES, NO = (kinds.SequenceExample(**NAMED, text="ba", label=label) for label in ("yes", "no"))
UNANSWERED = kinds.SpanExample(**NAMED, question="ba", context="co", answers=[], golds=["di"])
UNLABELLED = kinds.MultilabelExample(**NAMED, text="ba", labels=[])
RECIPES: dict[str, FinetuningRecipe] = {recipe.task: recipe for recipe in (TOKENS, SPAN, *OURS.values())}


@pytest.mark.parametrize(
    ("task", "examples", "settings", "message"),
    [
        ("tokens", [kinds.TokensExample(**NAMED, words=["a"], labels=["O"])], {}, "example has an ent"),
        ("mentions", [kinds.MentionsExample(**NAMED, words=["a"], mentions=[])], {}, "example has a mention"),
        (
            "relations", [kinds.RelationsExample(**NAMED, text="a", entities=[], pairs=[], relations=[])], {},
            "no training example has a relation",
        ),
        ("span", [UNANSWERED], {}, "no training example has an answer"),
        ("sequence", [YES], {}, "all training examples have the label yes"),
        ("sequence", [YES, NO], {"negative": "0"}, "label 0 is that of no training example.*no, yes"),
        ("multilabel", [UNLABELLED], {}, "no training example has a label"),
        ("multilabel", [UNLABELLED], {"unit": "sentence"}, "example 9 has no labelled sentences"),
    ],
)  # fmt: skip
def test_examples_that_teach_nothing(
    task: str, examples: list[Any], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        TASKS[task].labels_of(replace(RECIPES[task], **settings), examples)


@pytest.mark.parametrize("task", TASKS)
def test_a_dev_score_of_another_task(task: str, tiny: Path) -> None:
    metric = "pearson" if task != "regression" else "accuracy"
    reader = Reader(load_encoder_tokenizer(tiny), 24, "none")
    with pytest.raises(PubmillError, match=f"{metric} is no dev score of .*; there are "):
        TASKS[task](replace(RECIPES[task], metric=metric), reader, ["no", "yes"])


def test_a_split_that_is_missing_or_empty(tmp_path: Path) -> None:
    kinds.write_examples(tmp_path / "dev.jsonl.gz", [])
    for name, fault in (
        ("dev", "holds no example; convert the dataset again"),
        ("train", "does not exist; the stage convert makes it"),
    ):
        with pytest.raises(PubmillError, match=f"^{tmp_path}/{name}.jsonl.gz {fault}$"):
            read_split(tmp_path, name, kinds.RegressionExample)
