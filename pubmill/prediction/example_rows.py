"""Predict JSON lines in the form of a dataset's examples (`pubmill.examples.kinds`), labelled or not."""

from collections.abc import Iterator
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kind_facts import FACTS
from pubmill.examples.kinds import Example
from pubmill.finetuning.tasks.task import Task
from pubmill.formats.json_text import read_rows
from pubmill.formats.text_files import check_characters
from pubmill.prediction.annotating import Annotator
from pubmill.recipes import build

TOGETHER = 1000


def predict_rows(annotator: Annotator, path: Path) -> Iterator[dict[str, object]]:
    """Yield a line of predictions for each row, in order."""
    task = annotator.predictor.task
    rows = read_rows(path)
    while some := [example_of(row, task, where) for where, row in islice(rows, TOGETHER)]:
        for example, (predicted, confidence) in zip(some, annotator.predict(some), strict=True):
            row = task.row(example, predicted)
            yield row if confidence is None else {**row, "confidence": confidence}


def example_of(row: dict[str, Any], task: Task[Any], where: str) -> Example:
    """Return the example in a row; any labels in the row are ignored."""
    kind = task.recipe.task
    values = {"document": None, **row, **_placeholder_labels(row, task)}
    try:
        if "sentences" in values:
            values["sentences"] = [{"labels": [], **item} for item in values["sentences"]]
        example = build(task.kind, values, where)
    except (PubmillError, TypeError, AttributeError):  # whose messages may contain text
        raise PubmillError(f"{where}: a row for this model ({kind}) needs {FACTS[kind].row}") from None
    fault = example.fault()
    if fault:
        raise PubmillError(f"{where}: {fault}")
    check_characters(repr(values), where)
    return example


def _placeholder_labels(row: dict[str, Any], task: Task[Any]) -> dict[str, Any]:
    """Placeholder labels, which the example classes require."""
    words = row.get("words")
    missing: dict[str, Any] = {
        "label": task.labels[0] if task.labels else "",
        "labels": ["O"] * len(words) if isinstance(words, list) else [],
        "score": 0.0,
        **{name: [] for name in ("answers", "relations", "mentions")},
        "layers": {},
    }
    return {one.name: missing[one.name] for one in fields(task.kind) if one.name in missing}
