"""Predictions without ids or texts, in the order of the dataset's export (`--order export`).

Scripts of the field write them: `predictions.txt` of transformers' `run_ner` (the labels of a sentence on
each line), `predict_results.txt` of `run_glue` (row numbers from 0 and labels), a JSON list of labels or of
lists of labels, and LinkBERT's `test_outputs.json`, whose logits are read and whose gold labels are not
(for words, those of the first piece of each, by `word_ids`). A label's number counts the dataset's labels in
alphabetical order, as these scripts sort them.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.formats.json_text import parse_json
from pubmill.predictions.rows import PredictionRow
from pubmill.recipes.submissions import SubmissionRecipe

LOGITS = ("logits", "predictions")
"""Keys of scores by example and label in a JSON object."""


def order_of(examples: Sequence[Example]) -> str:
    """Return a digest of the ids of examples in their order."""
    return hashlib.sha256("\n".join(one.id for one in examples).encode()).hexdigest()


def read(text: str, examples: Sequence[Example], recipe: SubmissionRecipe, where: str) -> list[PredictionRow]:
    """Return the row of each example; a `PubmillError` if there are more or fewer predictions."""
    if text.lstrip().startswith(("[", "{")):
        content = parse_json(text, where, numbers_only=True)
        values = _json_values(content, recipe, where)
        rule = "scores" if isinstance(content, dict) else None
        places = [f"{where}: item {number}" for number in range(1, len(values) + 1)]
    else:
        lines, rule = text.removesuffix("\n").split("\n"), None
        values, first = _line_values(lines, recipe, where)
        places = [f"{where}:{number}" for number in range(first, first + len(values))]
    if len(values) != len(examples):
        raise PubmillError(
            f"{where}: {len(values)} predictions for the {len(examples)} examples of {recipe.dataset} "
            f"({recipe.split}); with --order export there must be one for each, in their order. Nothing was "
            "scored"
        )
    return [
        PredictionRow(where=place, id=one.id, key="prediction", value=value, rule=rule)
        for place, one, value in zip(places, examples, values, strict=True)
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
    logits = next((content[key] for key in LOGITS if key in content), None)
    tokens, words = recipe.kind == "tokens", content.get("word_ids")
    lists = isinstance(words, list) and all(isinstance(one, list) for one in words)
    if not isinstance(logits, list) or (tokens and not (lists and len(words) == len(logits))):
        raise PubmillError(
            f"{where}: expected a list of predictions, or an object with {' or '.join(LOGITS)}, and "
            "`word_ids` where words are labelled, as LinkBERT writes them"
        )
    rows = [(one, f"{where}: item {number}") for number, one in enumerate(logits, 1)]
    if tokens:
        return [_by_words(ids, *row, recipe) for ids, row in zip(words, rows, strict=True)]
    return [_by_scores(*row, recipe) for row in rows]


def _by_words(words: list[Any], scores: Any, where: str, recipe: SubmissionRecipe) -> list[str]:
    """Return the BIO label of each word: that of its first piece. Scores behind the last word belong to
    padding and are left out."""
    known = sorted({"O"} | {f"{tag}-{one}" if one else tag for one in recipe.labels for tag in "BI"})
    first: dict[int, Any] = {}
    for word, one in zip(words, scores if isinstance(scores, list) else [], strict=False):
        if type(word) is int:
            first.setdefault(word, one)
    return [_highest(_checked(one, known, recipe, where)) for _, one in sorted(first.items())]


def _by_scores(scores: Any, where: str, recipe: SubmissionRecipe) -> Any:
    """Return the label with the highest score, of several labels those above 0, or a regression's number."""
    if recipe.kind == "regression":
        return scores[0] if isinstance(scores, list) and len(scores) == 1 else scores
    logits = _checked(scores, sorted(recipe.labels), recipe, where)
    return [one for one in logits if logits[one] > 0] if recipe.kind == "multilabel" else _highest(logits)


def _highest(scores: dict[str, float]) -> str:
    return max(scores, key=lambda label: scores[label])


def _checked(scores: Any, known: Sequence[str], recipe: SubmissionRecipe, where: str) -> dict[str, float]:
    """Return the score of each label; a `PubmillError` if there is not one number for each."""
    are_numbers = isinstance(scores, list) and all(type(one) in (int, float) for one in scores)
    if not are_numbers or len(scores) != len(known):
        raise PubmillError(
            f"{where}: expected a list of {len(known)} numbers, one for each label of {recipe.dataset}"
        )
    return dict(zip(known, scores, strict=True))


def _label(value: Any, recipe: SubmissionRecipe) -> Any:
    """Return a label, also by its number where no label of the dataset is such a number."""
    if recipe.kind != "sequence" or str(value) in recipe.labels:
        return str(value) if recipe.kind == "sequence" else value
    number = int(value) if str(value).isdecimal() and len(str(value)) < 5 else len(recipe.labels)
    return sorted(recipe.labels)[number] if number < len(recipe.labels) else value
