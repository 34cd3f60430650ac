"""Metrics from totals of counts, for one test set or for many resamplings."""

from __future__ import annotations

from typing import Any, Callable, Mapping

import numpy as np

Numbers = np.ndarray[Any, Any]
Totals = Mapping[str, Numbers]
"""Name of a count -> its sums, all of the same shape."""
KEPT: dict[str, tuple[str, ...]] = {}
"""Metric -> the counts that it needs, by name, or by family if it ends with a colon."""
METRICS: dict[str, Callable[[Totals], Numbers]] = {}
OF_KIND: dict[str, tuple[str, ...]] = {
    "tokens": ("entity_", "relaxed_", "seqeval_", "subtoken_", "word_macro_f1", "layers_macro_f1"),
    "sequence": ("micro_", "positive_f1", "macro_f1", "accuracy"),
    "multilabel": ("micro_f1", "macro_f1", "example_f1"),
    "regression": ("pearson",),
    "relations": ("relation_",),
    "mentions": ("entity_",),
    "span": (
        "exact_match",
        "f1",
        "best_f1",
        "strict_accuracy",
        "lenient_accuracy",
        "mrr",
        "list_precision",
        "list_recall",
        "list_f1",
    ),
}
"""Kind of examples -> the names, or their beginnings, of all its metrics."""


def divided(part: Any, whole: Any, otherwise: float) -> Numbers:
    """Divide; `otherwise` where the denominator is 0."""
    found = np.full(np.shape(whole), otherwise)
    np.divide(part, whole, out=found, where=np.asarray(whole != 0))
    return found


def classes(totals: Totals, *families: str) -> Numbers:
    """Return gold, predicted and correct counts of each class [classes, 3, ...]."""
    found: dict[tuple[str, str], list[Any]] = {}
    none = np.zeros(np.shape(next(iter(totals.values()))))
    for name, total in totals.items():
        family, _, rest = name.partition(":")
        if family in families and rest:
            count, _, label = rest.partition(":")
            place = ("gold", "predicted", "correct").index(count)
            found.setdefault((family, label), [none] * 3)[place] = total
    ordered = [np.stack(found[key]) for key in sorted(found)]
    return np.stack(ordered) if ordered else np.zeros((0, 3, *none.shape))


def mean_of_classes(counts: Numbers, counted: Numbers) -> Numbers:
    """Return the mean F1 of the classes that are counted; nan if there are none."""
    scores = divided(2 * counts[:, 2], counts[:, 0] + counts[:, 1], 0.0)
    total = np.zeros(counts.shape[2:])
    for score, is_counted in zip(scores, counted):
        total = total + score * is_counted
    return divided(total, counted.sum(axis=0).astype(float), np.nan)


def f_score(gold: str, predicted: str, correct: str, part: str) -> Callable[[Totals], Numbers]:
    """Return the function for F1 (`f1`), precision or recall of counted mentions; 0 without a denominator."""

    def score(totals: Totals) -> Numbers:
        right = totals[correct]
        if part == "f1":
            return divided(2 * right, totals[gold] + totals[predicted], 0.0)
        return divided(right, totals[predicted if part == "precision" else gold], 0.0)

    return score


def where_known(score: Callable[[Totals], Numbers], *known: str) -> Callable[[Totals], Numbers]:
    """Return the score, which is not defined where one of the totals is 0."""

    def score_or_nan(totals: Totals) -> Numbers:
        found = score(totals)
        for name in known:
            found = np.where(totals[name] > 0, found, np.nan)
        return found

    return score_or_nan


def relaxed_f(totals: Totals) -> Numbers:
    precision = divided(totals["relaxed_correct"], totals["predicted"], 0.0)
    recall = divided(totals["relaxed_found"], totals["gold"], 0.0)
    return divided(2 * precision * recall, precision + recall, 0.0)


def of_subwords(part: str) -> Callable[[Totals], Numbers]:
    score = f_score("subtoken_gold", "subtoken_predicted", "subtoken_correct", part)
    return lambda totals: np.where(totals["subtoken_sentences"] > 0, score(totals), np.nan)


def mean_over_elements(family: str) -> Callable[[Totals], Numbers]:
    def score(totals: Totals) -> Numbers:
        counts = classes(totals, family)
        return mean_of_classes(counts, counts[:, 0] > 0)

    return score


def micro(part: str) -> Callable[[Totals], Numbers]:
    def score(totals: Totals) -> Numbers:
        gold, predicted, correct = classes(totals, "class").sum(axis=0)
        f1 = divided(2 * correct, gold + predicted, np.nan)
        if part == "f1":
            return f1
        share = divided(correct, predicted if part == "precision" else gold, 0.0)
        return np.where(np.isnan(f1), np.nan, share)

    return score


def macro(totals: Totals) -> Numbers:
    counts = classes(totals, "class", "negative")
    return mean_of_classes(counts, counts[:, 0] + counts[:, 1] > 0)


def positive(totals: Totals) -> Numbers:
    def present(*families: str) -> Numbers:
        counts = classes(totals, *families)
        number: Numbers = (counts[:, 0] + counts[:, 1] > 0).sum(axis=0)
        return number

    both = (present("class", "negative") == 2) & (present("class") == 1)
    return np.where(both, micro("f1")(totals), np.nan)


def share_correct(totals: Totals) -> Numbers:
    return divided(classes(totals, "class", "negative").sum(axis=0)[2], totals["examples"], np.nan)


def over_examples(totals: Totals) -> Numbers:
    labelled = totals["examples"] - totals["without_gold"]
    precision, recall = (divided(totals[name], labelled, np.nan) for name in ("precision", "recall"))
    found = divided(2 * precision * recall, precision + recall, 0.0)
    return np.where(totals["without_gold"] > 0, np.nan, found)


def correlation(totals: Totals) -> Numbers:
    """Return Pearson's correlation, 0 for equal predictions; a variance below 1e-12 of the mean square counts
    as 0."""
    n, x, y = (totals[name] for name in ("examples", "x", "y"))
    spreads = []
    for squares, total in ((n * totals["xx"], x), (n * totals["yy"], y)):
        rest = squares - total * total
        spreads.append(np.sqrt(np.where(rest > 1e-12 * squares, rest, 0.0)))
    found = divided(n * totals["xy"] - x * y, spreads[0] * spreads[1], np.nan)
    return np.clip(np.where((spreads[0] > 0) & (spreads[1] == 0), 0.0, found), -1.0, 1.0)


def over_questions(name: str, answerable: bool) -> Callable[[Totals], Numbers]:
    """Return the function for the mean of a normalised outcome over questions; if `answerable`, not defined
    where a question has no gold answer."""

    def score(totals: Totals) -> Numbers:
        mean = divided(totals[name], totals["questions"], np.nan)
        return np.where(totals["without_gold"] > 0, np.nan, mean) if answerable else mean

    return score


def add_metric(name: str, function: Callable[[Totals], Numbers], *kept: str) -> None:
    METRICS[name], KEPT[name] = function, kept


for _part in ("f1", "precision", "recall"):
    add_metric(
        f"entity_{_part}", f_score("gold", "predicted", "correct", _part),
        "gold", "predicted", "correct",
    )  # fmt: skip
    add_metric(
        f"subtoken_{_part}", of_subwords(_part),
        "subtoken_gold", "subtoken_predicted", "subtoken_correct", "subtoken_sentences",
    )  # fmt: skip
    add_metric(f"micro_{_part}", micro(_part), "class:")
    add_metric(
        f"relation_{_part}", f_score("gold", "predicted", "correct", _part),
        "gold", "predicted", "correct",
    )  # fmt: skip
for _level in ("pair", "novelty", "pair_novelty"):
    _gold, _predicted, _correct = (f"{_level}_{_count}" for _count in ("gold", "predicted", "correct"))
    _known = ("with_novelty",) if "novelty" in _level else ()
    add_metric(
        f"relation_{_level}_f1", where_known(f_score(_gold, _predicted, _correct, "f1"), *_known),
        _gold, _predicted, _correct, *_known,
    )  # fmt: skip
add_metric("relaxed_f1", relaxed_f, "gold", "predicted", "relaxed_correct", "relaxed_found")
add_metric("relaxed_precision", lambda totals: divided(totals["relaxed_correct"], totals["predicted"], 0.0))
add_metric("relaxed_recall", lambda totals: divided(totals["relaxed_found"], totals["gold"], 0.0))
add_metric(
    "seqeval_0_0_12_f1", f_score("seqeval_gold", "seqeval_predicted", "seqeval_correct", "f1"),
    "seqeval_gold", "seqeval_predicted", "seqeval_correct",
)  # fmt: skip
add_metric("word_macro_f1", mean_over_elements("word"), "word:")
add_metric("layers_macro_f1", mean_over_elements("layer"), "layer:")
add_metric("positive_f1", positive, "class:", "negative:", "examples")
add_metric("macro_f1", macro, "class:", "negative:")
add_metric("accuracy", share_correct, "class:", "negative:", "examples")
add_metric("example_f1", over_examples, "examples", "without_gold", "precision", "recall")
add_metric("pearson", correlation, "examples", "x", "y", "xx", "yy", "xy")
for _part in ("exact_match", "f1", "best_f1"):
    add_metric(_part, over_questions(_part, False), _part, "questions")
for _part in ("strict_accuracy", "lenient_accuracy", "mrr", "list_precision", "list_recall", "list_f1"):
    add_metric(_part, over_questions(_part, True), _part, "questions", "without_gold")


def metrics_of_kind(kind: str) -> list[str]:
    """Return the names of the metrics that each run on examples of a kind has."""
    return [name for name in METRICS if name.startswith(OF_KIND[kind])]


def columns_read(metric: str, names: list[str]) -> list[int]:
    """Return the places of the counts that a metric needs, in order of their names."""
    kept = KEPT[metric]
    families = tuple(one for one in kept if one.endswith(":"))
    return [place for _, place in sorted(
        (name, place)
        for place, name in enumerate(names)
        if name in kept or (families and name.startswith(families))
    )]  # fmt: skip
