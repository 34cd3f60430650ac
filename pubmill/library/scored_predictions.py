"""Metrics of predictions, in memory or in a file."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.library.loaded_datasets import converted_folder
from pubmill.messages.wording import unknown
from pubmill.metrics import SCORERS
from pubmill.predictions.scores import ScoredSubmission, score_submission
from pubmill.predictions.submission import recipe_of
from pubmill.recipes.submissions import System
from pubmill.storage.privacy import keep_private

_KIND_OF = {example: kind for kind, example in kinds.KINDS.items()}
_MARKS = {
    "relations": {"text", "pairs", "relations"}, "mentions": {"words", "mentions"},
    "span": {"question", "context"}, "regression": {"text_pair", "score"}, "tokens": {"words", "labels"},
    "multilabel": {"text", "labels"}, "sequence": {"text", "label"},
}  # fmt: skip
"""Kind -> columns by which its rows are recognised; the first kind that fits is taken."""


def score(y_true: Any, y_pred: Any, negative: str | None = None, kind: str | None = None) -> dict[str, float]:
    """Return every metric that is defined for these examples, as a fraction (0..1) or correlation.

    `y_true`: the examples (a split, a list, or the rows of a data frame or a Hugging Face `Dataset`), or gold
    alone: labels, lists of BIO labels, lists of any labels, or scores, in any of these containers.
    `y_pred`: one prediction for each, in their order: BIO labels of the words (tokens), a label (sequence),
    a list of labels (multilabel), a number (regression), or answers with probabilities, best first (span).
    `negative`: the label that micro F1 ignores. `kind`: kind of the examples, needed if gold alone would be
    misread: integers are taken for labels, other numbers for scores, and lists of BIO labels for words.
    docs/finetuning.md defines the metrics.
    """
    gold, predictions = _examples(y_true, kind), _plain(y_pred)
    if len(gold) != len(predictions):
        raise PubmillError(f"{len(gold)} examples but {len(predictions)} predictions; give one for each")
    types = {type(example) for example in gold}
    if len(types) != 1:
        raise PubmillError(f"examples of {len(types)} kinds; expected at least one example, all of one kind")
    own_kind = _KIND_OF[types.pop()]
    rows = [_prediction(own_kind, number, value) for number, value in enumerate(predictions)]
    return SCORERS[own_kind](gold, rows, negative).metrics


def score_predictions(
    predictions: str | Path,
    dataset: str,
    results: str | Path = "results/full",
    form: str | None = None,
    mapping: Mapping[str, str | None] | None = None,
    system: System | None = None,
    partial: bool = False,
) -> ScoredSubmission:
    """Score a file of predictions for a dataset converted in a results folder (docs/submissions.md).

    Raises `PubmillError` with the reason if the file is refused; then nothing of it is scored. `form`: by
    default recognised from the content. `mapping`: answer, label or type of the system -> label of the
    dataset, or None to leave a type out. `partial`: examples without a prediction are empty or wrong; by
    default a file that lacks some is refused. `system`: what predicted; required for credentialed
    datasets, with `local=True`. Texts with dummies, as in BLURB's tables of relations, are compared by
    `pubmill score` only, as the dummies are in the dataset's spec; here, leave the texts out.
    """
    folder = converted_folder(dataset, results)
    keep_private([folder])
    recipe = recipe_of(folder, system, form, dict(mapping or {}), partial=partial)
    return score_submission(Path(predictions), recipe, Path(results))


def _examples(y_true: Any, kind: str | None) -> list[kinds.Example]:
    if kind is not None and kind not in kinds.KINDS:
        raise PubmillError(unknown("kind", kind, kinds.KINDS))
    values = _plain(y_true)
    if all(isinstance(value, kinds.Example) for value in values):
        return values
    if all(isinstance(value, Mapping) for value in values):
        own_kind = kind or _kind_of_rows(values[0])
        return [_of_row(own_kind, row, number) for number, row in enumerate(values)]
    own_kind = kind or _kind_of_gold(values)
    return [_of_gold(own_kind, number, value) for number, value in enumerate(values)]


def _plain(values: Any) -> list[Any]:
    """Return what a container holds, as Python's own lists, numbers and texts; a frame's rows as mappings."""
    if hasattr(values, "to_dict") and hasattr(values, "columns"):
        values = values.to_dict("records")
    elif hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise PubmillError(
            f"expected a list, a split, a data frame, or the like, found {type(values).__name__}"
        )
    return [_bare(value) for value in values]


def _bare(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _bare(one) for name, one in value.items()}
    if isinstance(value, float) and math.isnan(value):
        return None  # how pandas writes a missing text
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_bare(one) for one in value] if isinstance(value, list | tuple | set | frozenset) else value


def _kind_of_rows(row: Mapping[str, Any]) -> str:
    for kind, columns in _MARKS.items():
        if columns <= row.keys():
            return kind
    wanted = "; ".join(f"{kind}: {', '.join(sorted(columns))}" for kind, columns in _MARKS.items())
    raise PubmillError(
        f"rows with the columns {', '.join(map(str, row))} are no examples; these have {wanted}"
    )


def _kind_of_gold(values: list[Any]) -> str:
    if all(isinstance(value, str | int) for value in values):
        return "sequence"
    if all(isinstance(value, int | float) for value in values):
        return "regression"
    if all(isinstance(value, list) for value in values):
        labels = [label for value in values for label in value]
        are_bio = all(isinstance(label, str) and kinds.BIO_LABEL.fullmatch(label) for label in labels)
        return "tokens" if are_bio and all(values) else "multilabel"
    names = sorted({type(value).__name__ for value in values})
    raise PubmillError(f"gold of the types {', '.join(names)}; expected labels, lists of labels, or numbers")


def _of_row(kind: str, row: Mapping[str, Any], number: int) -> kinds.Example:
    known = kinds.KINDS[kind].__dataclass_fields__
    values = {"id": str(number), "document": None} | {name: row[name] for name in row if name in known}
    if kind == "tokens" and isinstance(values.get("layers"), dict):
        values["layers"] = {name: layer for name, layer in values["layers"].items() if layer is not None}
    return kinds.from_row(kinds.KINDS[kind], values)


def _of_gold(kind: str, number: int, value: Any) -> kinds.Example:
    """Return an example of which only the gold is known."""
    try:
        match kind:
            case "tokens":
                gold = {"words": ["-"] * len(value), "labels": value}
            case "sequence":
                gold = {"text": "", "label": _label(value)}
            case "multilabel":
                gold = {"text": "", "labels": sorted(set(map(_label, value)))}
            case _:
                gold = {"text": "", "text_pair": "", "score": float(value)}
        return kinds.from_row(kinds.KINDS[kind], {"id": str(number), "document": None, **gold})
    except (TypeError, ValueError, PubmillError):
        shown = f"{value!r:.60} is none of kind {kind}; questions need their examples"
        raise PubmillError(f"gold {number}: {shown}") from None


def _label(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


_FORMS: dict[str, tuple[tuple[type, ...], str]] = {
    "regression": ((int, float), "number"),
    "sequence": ((str, int), "label"),
    "multilabel": ((list,), "list of labels"),
}
"""Kind -> types of its predictions, and their name."""


def _prediction(kind: str, number: int, value: Any) -> Any:
    fault = ""
    if kind == "tokens":
        wrong = [value]
        if isinstance(value, list):
            wrong = [one for one in value if not kinds.BIO_LABEL.fullmatch(str(one))]
        fault = f"{wrong[0]!r:.100} is none of O, B, I, B-TYPE, I-TYPE" if wrong else ""
    elif kind in _FORMS and not isinstance(value, _FORMS[kind][0]):
        fault = f"{value!r:.100} is no {_FORMS[kind][1]}"
    if fault:
        raise PubmillError(f"prediction {number}: {fault}")
    if kind == "multilabel":
        return sorted(set(map(str, value)))
    return str(value) if kind == "sequence" else value
