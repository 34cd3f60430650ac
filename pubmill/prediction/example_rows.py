"""JSON lines in the form of a dataset's own examples (`pubmill.annotation.examples`), labelled or not."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from pubmill.annotation.examples import Answer, Entity, Example, LabelledSentence
from pubmill.errors import PubmillError
from pubmill.finetuning.tasks.base import Task
from pubmill.prediction.annotating import Annotator
from pubmill.prediction.documents import check_characters, read_rows
from pubmill.recipes import build

TOGETHER = 1000
NESTED: dict[str, type[Any]] = {"entities": Entity, "sentences": LabelledSentence, "answers": Answer}
TEXTS = {
    "tokens": "id, words",
    "sequence": "id, text, and text_pair or entities where the dataset has them",
    "multilabel": "id, text, and sentences (start, end) where the model reads sentence by sentence",
    "regression": "id, text, text_pair",
    "span": "id, question, context, and group where several contexts are of one question",
}
"""What a row needs, by the kind of task."""


def predict_rows(annotator: Annotator, path: Path) -> Iterator[dict[str, Any]]:
    """A line of predictions for each row, in their order."""
    task = annotator.predictor.task
    rows = read_rows(path)
    while some := [example_of(row, task, where) for where, row in islice(rows, TOGETHER)]:
        for example, predicted in zip(some, annotator.predict(some), strict=True):
            yield task.row(example, predicted)


def example_of(row: dict[str, Any], task: Task[Any], where: str) -> Example:
    """The example that a row stands for; labels that it may have are not looked at."""
    kind = task.recipe.task
    values = {"document": None, **row, **_no_labels(row, task)}
    try:
        for key in NESTED.keys() & values.keys():
            items = [{"labels": [], **item} if key == "sentences" else item for item in values[key]]
            values[key] = [build(NESTED[key], item, where) for item in items]
        example = build(task.kind, values, where)
    except (PubmillError, TypeError, AttributeError):  # whose words may hold text
        raise PubmillError(
            f"{where}: a row for this model, which is of {kind}, needs {TEXTS[kind]}"
        ) from None
    fault = example.fault()
    if fault:
        raise PubmillError(f"{where}: {fault}")
    check_characters(repr(values), where)
    return example


def _no_labels(row: dict[str, Any], task: Task[Any]) -> dict[str, Any]:
    """Something in the place of what is to be predicted: examples can't be without."""
    words = row.get("words")
    missing: dict[str, dict[str, Any]] = {
        "tokens": {"labels": ["O"] * (len(words) if isinstance(words, list) else 0), "layers": {}},
        "sequence": {"label": task.labels[0] if task.labels else ""},
        "multilabel": {"labels": []},
        "regression": {"score": 0.0},
        "span": {"answers": []},
    }
    return missing[task.recipe.task]
