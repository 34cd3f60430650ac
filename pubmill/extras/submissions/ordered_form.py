"""Predictions without ids or texts, in the order of the dataset's export (`--order export`).

Scripts of the field write them: `predictions.txt` of transformers' `run_ner` (the labels of a sentence on
each line), `predict_results.txt` of `run_glue` (row numbers from 0 and labels), a JSON list of labels or of
lists of labels, and LinkBERT's `test_outputs.json`, whose logits are read and whose gold labels are not. A
label's number counts the dataset's labels in alphabetical order, as these scripts sort them.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.extras.submissions.rows import PredictionRow
from pubmill.formats.json_text import parse_json
from pubmill.recipes.submissions import SubmissionRecipe

LOGITS = ("logits", "predictions")
"""Keys of scores by example and label in a JSON object."""


def order_of(examples: Sequence[Any]) -> str:
    """Return a digest of the ids of examples in their order."""
    return hashlib.sha256("\n".join(one.id for one in examples).encode()).hexdigest()


def read(text: str, examples: Sequence[Any], recipe: SubmissionRecipe, where: str) -> list[PredictionRow]:
    """Return the row of each example; a `PubmillError` if there are more or fewer predictions."""
    if text.lstrip().startswith(("[", "{")):
        found = _json_values(parse_json(text, where, numbers_only=True), recipe, where)
        places = [f"{where}: item {number}" for number in range(1, len(found) + 1)]
    else:
        lines = text.removesuffix("\n").split("\n")
        found, first = _line_values(lines, recipe, where)
        places = [f"{where}:{number}" for number in range(first, first + len(found))]
    if len(found) != len(examples):
        raise PubmillError(
            f"{where}: {len(found)} predictions for the {len(examples)} examples of {recipe.dataset} "
            f"({recipe.split}); with --order export there must be one for each, in their order. Nothing was "
            "scored"
        )
    return [
        PredictionRow(where=place, id=one.id, key="prediction", value=value)
        for place, one, value in zip(places, examples, found, strict=True)
    ]


def _line_values(lines: Sequence[str], recipe: SubmissionRecipe, where: str) -> tuple[list[Any], int]:
    """Return the predictions, and the number of the line with the first."""
    if lines[0].split("\t") == ["index", "prediction"]:
        rows = [line.split("\t") for line in lines[1:]]
        for number, row in enumerate(rows):
            if len(row) != 2 or row[0] != str(number):
                raise PubmillError(
                    f"{where}:{number + 2}: expected the row number {number} and a prediction, as run_glue "
                    "writes them"
                )
        return [_label(row[1], recipe) for row in rows], 2
    return [line.split() if recipe.kind == "tokens" else _label(line, recipe) for line in lines], 1


def _json_values(content: Any, recipe: SubmissionRecipe, where: str) -> list[Any]:
    if isinstance(content, list):
        return [_label(one, recipe) for one in content]
    scores = next((content[key] for key in LOGITS if key in content), None)
    if not isinstance(scores, list) or recipe.kind == "tokens":
        raise PubmillError(
            f"{where}: expected a list of predictions, or an object with {' or '.join(LOGITS)} for "
            "texts; give labels of words as lists"
        )
    return [_by_scores(one, recipe, f"{where}: item {number}") for number, one in enumerate(scores, 1)]


def _by_scores(scores: Any, recipe: SubmissionRecipe, where: str) -> Any:
    """Return the label with the highest score, or the number of a regression."""
    numbers = scores if isinstance(scores, list) else [scores]
    if not numbers or any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        raise PubmillError(f"{where}: expected a list of numbers, one for each label")
    if recipe.kind == "regression" and len(numbers) == 1:
        return numbers[0]
    if len(numbers) != len(recipe.labels):
        raise PubmillError(
            f"{where}: {len(numbers)} scores for the {len(recipe.labels)} labels of {recipe.dataset}"
        )
    return sorted(recipe.labels)[numbers.index(max(numbers))]


def _label(value: Any, recipe: SubmissionRecipe) -> Any:
    """Return a label, also by its number where no label of the dataset is such a number."""
    if recipe.kind != "sequence" or str(value) in recipe.labels:
        return str(value) if recipe.kind == "sequence" else value
    number = int(value) if str(value).isdecimal() and len(str(value)) < 5 else len(recipe.labels)
    return sorted(recipe.labels)[number] if number < len(recipe.labels) else value
