"""Counts of each document from labelled items: gold and predicted labels with their ids, without text."""

from __future__ import annotations

import math
import statistics
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from pubmill.extras.proof.verifier.container import RefusedError
from pubmill.extras.proof.verifier.forms import TEXT_OR_NONE, check_form
from pubmill.extras.proof.verifier.metrics import OF_KIND, Numbers

Item = Mapping[str, Any]
Counted = dict[str, list[float]]
"""Count -> its value for each item."""
LAYERS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}


def found_mentions(labels: Iterable[str]) -> set[tuple[int, int, str]]:
    """Return (first word, word after the last, type): B begins a mention, and so does an I that continues
    none of its type (conlleval)."""
    found, start, kind = set(), -1, ""
    for place, label in enumerate([*labels, "O"]):
        prefix, _, of = label.partition("-")
        if start >= 0 and (prefix != "I" or of != kind):
            found.add((start, place, kind))
            start = -1
        if prefix != "O" and start < 0:
            start, kind = place, of
    return found


def labels_behind(unplaced: Iterable[Sequence[Any]]) -> list[str]:
    """Return the labels of mentions [type, words] that have no place, each behind an O."""
    found = []
    for kind, words in unplaced:
        of = f"-{kind}" if kind else ""
        found += ["O", f"B{of}", *[f"I{of}"] * (words - 1)]
    return found


def joined_subwords(words: Sequence[Sequence[str]]) -> list[str]:
    """Return the labels of subwords, where X continues what stands before it in its word."""
    found: list[str] = []
    for subwords in words:
        found.append("O" if not subwords or subwords[0] == "X" else subwords[0])
        for label in subwords[1:]:
            before = found[-1]
            found.append(label if label != "X" else before if before == "O" else f"I{before[1:]}")
    return found


def overlapping(mentions: Iterable[tuple[int, int, str]], others: Iterable[tuple[int, int, str]]) -> int:
    words = {(kind, word) for start, end, kind in others for word in range(start, end)}
    return sum(any((kind, word) in words for word in range(start, end)) for start, end, kind in mentions)


def add_class(counted: Counted, size: int, place: int, family: str, gold: Any, predicted: Any) -> None:
    """Add the classes of one item to the counts of a family."""
    for count, names in (("gold", gold), ("predicted", predicted), ("correct", {*gold} & {*predicted})):
        for name in names:
            counted.setdefault(f"{family}:{count}:{name}", [0.0] * size)[place] += 1


def counts_of_labelled_words(gold: Sequence[Item], predicted: Sequence[Item], negative: Any) -> Counted:
    size = len(gold)
    names = ("gold", "predicted", "correct", "examples", "relaxed_correct", "relaxed_found")
    more = ("subtoken_gold", "subtoken_predicted", "subtoken_correct", "subtoken_sentences")
    counted: Counted = {name: [0.0] * size for name in (*names, *more)}
    for place, (item, answer) in enumerate(zip(gold, predicted)):
        labels = [*answer["labels"], *labels_behind(answer.get("unplaced", []))]
        true, found = found_mentions(item["labels"]), found_mentions(labels)
        values = [len(true), len(found), len(true & found), 1]
        values += [overlapping(found, true), overlapping(true, found)]
        subwords = answer.get("subword_labels")
        if subwords is None:
            values += [0, 0, 0, 0]
        else:
            joined = [[label, *["X"] * (len(one) - 1)] for label, one in zip(item["labels"], subwords)]
            true, found = (found_mentions(joined_subwords(one)) for one in (joined, subwords))
            values += [len(true), len(found), len(true & found), 1]
        for name, value in zip((*names, *more), values):
            counted[name][place] = float(value)
        for number, other in enumerate(labels):
            label = [*item["labels"][number : number + 1], "O"][0]
            answered = () if other == "O" else (other.partition("-")[2],)
            add_class(
                counted, size, place, "word", () if label == "O" else (label.partition("-")[2],), answered
            )
            if item.get("layers"):
                marked = [
                    LAYERS[name]
                    for name, marks in item["layers"].items()
                    if name in LAYERS and any(marks[number : number + 1])
                ]
                add_class(counted, size, place, "layer", marked, answered)
    return counted


def counts_of_labels(gold: Sequence[Item], predicted: Sequence[Item], negative: Any) -> Counted:
    counted: Counted = {"examples": [1.0] * len(gold)}
    for place, (item, answer) in enumerate(zip(gold, predicted)):
        for family, is_negative in (("class", False), ("negative", True)):
            both = [
                (one["label"],) if (one["label"] == negative) == is_negative else () for one in (item, answer)
            ]
            add_class(counted, len(gold), place, family, *both)
    return counted


def counts_of_label_sets(gold: Sequence[Item], predicted: Sequence[Item], negative: Any) -> Counted:
    pairs = [({*item["labels"]}, {*answer["labels"]}) for item, answer in zip(gold, predicted)]
    counted: Counted = {
        "examples": [1.0] * len(pairs),
        "without_gold": [float(not true) for true, _ in pairs],
        "precision": [len(true & found) / max(1, len(found)) for true, found in pairs],
        "recall": [len(true & found) / max(1, len(true)) for true, found in pairs],
    }
    for place, both in enumerate(pairs):
        add_class(counted, len(pairs), place, "class", *both)
    return counted


def counts_of_scores(gold: Sequence[Item], predicted: Sequence[Item], negative: Any) -> Counted:
    x, y = (standardised([item["score"] for item in side]) for side in (gold, predicted))
    columns = {"examples": np.ones(len(x)), "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    return {name: list(values) for name, values in columns.items()}


def standardised(values: Sequence[float]) -> Numbers:
    """Return scores with mean 0 and standard deviation 1; equal ones become 0."""
    largest = max(map(abs, values)) or 1.0
    scaled = [value / largest for value in values]
    mean = statistics.fmean(scaled)
    centred = [value - mean for value in scaled]
    largest = max(map(abs, centred)) or 1.0
    centred = [value / largest for value in centred]
    deviation = math.sqrt(statistics.fmean(value * value for value in centred)) or 1.0
    return np.array(centred) / deviation


LABELS = {"labels": [str]}
GOLD_FORMS: dict[str, Any] = {
    "tokens": {**LABELS, "layers?": {"*": [int]}},
    "sequence": {"label": str},
    "multilabel": LABELS,
    "regression": {"score": float},
}
BESIDE = {"subword_labels?": [[str]], "unplaced?": [list]}
PREDICTED_FORMS: dict[str, Any] = {**GOLD_FORMS, "tokens": {**LABELS, **BESIDE}}
SAME_IN_ALL = (
    "gold", "examples", "questions", "without_gold", "x", "xx", "with_novelty", "pair_gold", "novelty_gold",
    "pair_novelty_gold",
)  # fmt: skip
"""Counts of the gold labels alone, which all runs on a test set share."""
MOST = {
    "correct": ("gold", "predicted"), "relaxed_correct": ("predicted",), "relaxed_found": ("gold",),
    "subtoken_correct": ("subtoken_gold", "subtoken_predicted"), "subtoken_sentences": ("examples",),
    "precision": ("examples",), "recall": ("examples",),
    **dict.fromkeys(OF_KIND["span"], ("questions",)),
    **{f"{of}_correct": (f"{of}_gold", f"{of}_predicted") for of in ("pair", "novelty", "pair_novelty")},
}  # fmt: skip
"""Count -> counts that it cannot exceed."""
FAMILIES, CLASS_COUNTS = ("word", "layer", "class", "negative"), ("gold", "predicted", "correct")
COUNTS = {
    *SAME_IN_ALL, *MOST, "predicted", "subtoken_gold", "subtoken_predicted", "y", "yy", "xy",
    "pair_predicted", "novelty_predicted", "pair_novelty_predicted",
}  # fmt: skip
COUNTED_BY = {
    "tokens": counts_of_labelled_words,
    "sequence": counts_of_labels,
    "multilabel": counts_of_label_sets,
    "regression": counts_of_scores,
}
"""Kind of items -> function for their counts. Outcomes of `span` need the text of answers."""


def units_of_items(gold: Sequence[Item]) -> list[int]:
    """Return the number of the resampled unit of each item, its document, in order of first occurrence."""
    numbers: dict[tuple[bool, str], int] = {}
    keys = [(True, item["id"]) if item["document"] is None else (False, item["document"]) for item in gold]
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def check_items(kind: str, gold: Any, predicted: Any, where: str) -> None:
    """Refuse items of another form, or predictions that are not one for each gold item and each of its
    words."""
    check_form(gold, [{"id": str, "document": TEXT_OR_NONE, **GOLD_FORMS[kind]}], f"{where}, gold")
    check_form(predicted, [PREDICTED_FORMS[kind]], where)
    if len({item["id"] for item in gold}) < len(gold) or len(predicted) != len(gold):
        raise RefusedError(f"{where}: {len(predicted)} predictions for {len(gold)} items, each with an id")
    for item, answer in zip(gold, predicted):
        if kind == "multilabel" and any(len({*one["labels"]}) < len(one["labels"]) for one in (item, answer)):
            raise RefusedError(f"{where}: {item['id']} has a label twice")
        if kind != "tokens":
            continue
        marks = item.get("layers", {}).values()
        lists = [answer["labels"], answer.get("subword_labels", item["labels"]), *marks]
        if any([type(part) for part in one] != [str, int] for one in answer.get("unplaced", [])):
            raise RefusedError(f"{where}: {item['id']} has a mention without type or number of words")
        other_marks = {mark for of in marks for mark in of} - {0, 1}
        if other_marks or any(len(one) != len(item["labels"]) for one in lists):
            raise RefusedError(f"{where}: {item['id']} has other labels or marks than one for each word")


def is_constant(kind: str, predicted: Sequence[Item]) -> bool:
    """Return whether all predicted labels are the same, for words one label of a tagging scheme."""
    if kind != "tokens":
        return len({str(one.get("label", sorted(one.get("labels", [])))) for one in predicted}) == 1
    sentences = [one["labels"] for one in predicted if one["labels"]]
    first = sentences[0][0] if sentences else "O"
    inside = first if first == "O" else f"I{first[1:]}"
    return any(all(one == [first] + [rest] * (len(one) - 1) for one in sentences) for rest in (first, inside))


def implausible_counts(kind: str, names: Sequence[str], counts: Numbers) -> str:
    """Return what no predictions can give in counts [runs, units, names], such as more correct mentions than
    there are, or other gold counts than the first run's; empty if there is nothing."""
    by_name = {name: counts[:, :, place] for place, name in enumerate(names)}
    for name, found in by_name.items():
        family, count, label = [*name.split(":", 2), "", ""][:3]
        if not (name in COUNTS or (family in FAMILIES and count in CLASS_COUNTS)) or len(by_name) < len(
            names
        ):
            return f"{name} is no count or occurs twice"
        if not np.isfinite(found).all():
            return f"{name} is no number"
        gold = name in SAME_IN_ALL or count == "gold"
        if gold and not np.allclose(found, found[:1], rtol=1e-9, atol=1e-9):
            return f"{name} differs between runs"
        if kind != "regression" and (found < 0).any():
            return f"{name} is negative"
        most = MOST.get(name, ())
        if count == "correct":
            most = (f"{family}:gold:{label}", f"{family}:predicted:{label}")
        none = np.zeros(1)
        if any((found > by_name.get(one, none) + 1e-9).any() for one in most):
            return f"{name} is larger than {' or '.join(most)}"
    return ""


def counts_by_unit(
    kind: str, gold: Sequence[Item], predicted: Sequence[Item], negative: Any, names: Sequence[str]
) -> Numbers:
    """Return the counts [units, names] of a run's predictions; refuse a class that its family lacks in
    `names`."""
    counted = COUNTED_BY[kind](gold, predicted, negative)
    families = {name.partition(":")[0] for name in names if ":" in name}
    surplus = [name for name in counted if name not in names and name.partition(":")[0] in families]
    if surplus:
        raise RefusedError(f"its items have the counts {', '.join(surplus)}, which are not in the proof")
    none = [0.0] * len(gold)
    by_item = np.array([counted.get(name, none) for name in names]).T
    units = units_of_items(gold)
    values = np.zeros((max(units) + 1, len(names)))
    np.add.at(values, units, by_item)
    return values
