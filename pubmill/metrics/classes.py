"""Accuracy and F1 of examples with one label, or with any number of labels; correlation of scores."""

import math
from collections.abc import Sequence
from functools import partial
from statistics import fmean

import numpy as np

from pubmill.metrics.contributions import Array, Scored, Totals
from pubmill.metrics.registry import (
    COUNTERS,
    NO_PREDICTION,
    Metric,
    mean_f1,
    pooled,
    quotient,
    ratio,
    register,
    scored,
    tallies,
    tally,
    totals_named,
)


def score_labels(
    gold: Sequence[str], predicted: Sequence[str], negative: str | None, units: Sequence[int] | None = None
) -> Scored:
    """Score examples with one label each.

    Micro scores leave `negative` out: a negative example predicted as positive is a false positive, but a
    correctly predicted negative does not count (ChemProt, DDI: BLUE and lewis2020 score so; gu2020 Table 3
    says micro F1 and no more). If it is None, all labels count, and micro F1 equals accuracy.

    The F1 of labels that are neither in the gold nor predicted is not defined, and not reported. For
    `NO_PREDICTION`, the example is wrong, and no label is predicted.
    Counts, of the labels that `micro_f1` includes: `gold`, `predicted`, `correct`; and `examples`.
    """
    pairs = list(zip(gold, predicted, strict=True))
    columns = {
        "examples": [1.0] * len(pairs),
        **tally(
            "class", [[({one} - {negative}, {other} - {negative, NO_PREDICTION})] for one, other in pairs]
        ),
        **tally("negative", [[({one} & {negative}, {other} & {negative})] for one, other in pairs]),
    }
    return scored("sequence", columns, units)


def micro_f1(totals: Totals) -> Array:
    """F1 over all labels together except the negative one."""
    return pooled(tallies(totals, "class"), totals).f1()


def micro_precision(totals: Totals) -> Array:
    """Precision over all labels except the negative one; defined where `micro_f1` is."""
    counts = pooled(tallies(totals, "class"), totals)
    return np.where(np.isnan(counts.f1()), np.nan, ratio(counts.correct, counts.predicted))


def micro_recall(totals: Totals) -> Array:
    """Recall over all labels except the negative one; defined where `micro_f1` is."""
    counts = pooled(tallies(totals, "class"), totals)
    return np.where(np.isnan(counts.f1()), np.nan, ratio(counts.correct, counts.gold))


def positive_f1(totals: Totals) -> Array:
    """F1 of the positive label, defined if there are two labels and one of them is the negative one."""
    none = np.zeros_like(totals["examples"])
    every, positive = (
        sum((one.present() for one in tallies(totals, *families)), none)
        for families in (("class", "negative"), ("class",))
    )
    return np.where((every == 2) & (positive == 1), micro_f1(totals), np.nan)


def macro_f1(totals: Totals) -> Array:
    """Mean F1 over the labels in the gold or the predictions."""
    every = tallies(totals, "class", "negative")
    return mean_f1(every, [one.present() for one in every], totals)


def accuracy(totals: Totals) -> Array:
    """Share of examples whose label is correct."""
    return quotient(pooled(tallies(totals, "class", "negative"), totals).correct, totals["examples"])


_of_labels = partial(Metric, kinds=("sequence",), version=1)
_of_both = partial(Metric, kinds=("sequence", "multilabel"), version=1)

register(
    _of_both("micro_f1", "micro F1",
             "F1 over all labels together, but for the one that says that there is nothing",
             "gu2020 Table 3, 4.5; the label left out as BLUE's `eval_rel.py`",
             micro_f1, chooses=micro_f1),
    _of_labels("micro_precision", "micro precision",
               "share of the predicted labels that are right, the one for nothing left out",
               "as `micro_f1`; shin2020 Table 1", micro_precision),
    _of_labels("micro_recall", "micro recall",
               "share of the labels that are found, the one for nothing left out",
               "as `micro_f1`; shin2020 Table 1", micro_recall),
    _of_labels("positive_f1", "F1 of the positive label", "F1 of the positive one of two labels", "GAD",
               positive_f1, chooses=micro_f1),  # also defined if dev has only positive examples
    _of_both("macro_f1", "macro F1", "F1 of each label, then the mean over labels", "scikit-learn",
             macro_f1, chooses=macro_f1),
    _of_labels("accuracy", "accuracy", "share of examples with the right label", "gu2020 4.6",
               accuracy, chooses=accuracy),
)  # fmt: skip


def score_label_sets(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], units: Sequence[int] | None = None
) -> Scored:
    """Score documents with any number of labels.

    `example_f1` is BLUE's score for HoC (`blue/eval_hoc.py`, which lewis2020 adopted). In BLUE every document
    has a label, and the script divides by the number of labels, so if any gold document has none, the metric
    is not defined and not reported. The precision of a document without predictions is 0.

    The F1 of labels that are neither in the gold nor predicted is not defined, and not reported.
    Counts: `gold`, `predicted`, `correct` (labels of documents), `examples`, and `without_gold` (documents).
    """
    pairs = [({*true}, {*predicted}) for true, predicted in zip(gold, predicted, strict=True)]
    columns = {
        "examples": [1.0] * len(pairs),
        "without_gold": [float(not true) for true, _ in pairs],
        "precision": [len(true & predicted) / (len(predicted) or 1) for true, predicted in pairs],
        "recall": [len(true & predicted) / (len(true) or 1) for true, predicted in pairs],
        **tally("class", [[pair] for pair in pairs]),
    }
    return scored("multilabel", columns, units)


def example_f1(totals: Totals) -> Array:
    """F1 of the mean precision and the mean recall over documents, defined if each has a gold label."""
    return np.where(totals["without_gold"] > 0, np.nan, labelled_example_f1(totals))


def labelled_example_f1(totals: Totals) -> Array:
    """F1 of the mean precision and the mean recall over the documents that have a gold label. It chooses
    weights, as some documents of development sets have no gold label."""
    labelled = totals["examples"] - totals["without_gold"]
    precision, recall = (quotient(totals[name], labelled) for name in ("precision", "recall"))
    return ratio(2 * precision * recall, precision + recall)


register(
    Metric("example_f1", "F1 over examples", "F1 of mean precision and mean recall over documents",
           "BLUE's `eval_hoc.py`; lewis2020", example_f1, chooses=labelled_example_f1,
           kinds=("multilabel",), version=1)
)  # fmt: skip


def label_counts(totals: Totals) -> dict[str, Array]:
    """Return the counts of labels in the totals."""
    return {**pooled(tallies(totals, "class"), totals)._asdict(), "examples": totals["examples"]}


COUNTERS["sequence"] = label_counts
COUNTERS["multilabel"] = lambda totals: {**label_counts(totals), "without_gold": totals["without_gold"]}
COUNTERS["regression"] = totals_named("examples")


ROUNDING = 1e-12
"""A variance below this share of the mean square is due to rounding and counts as 0."""


def score_correlation(
    gold: Sequence[float], predicted: Sequence[float], units: Sequence[int] | None = None
) -> Scored:
    """Score pairs of texts with `pearson` (-1..1) (BIOSSES: gu2020 section 4.4).

    It is 0 if all predicted scores are equal; not defined, and not reported, if all gold scores are equal
    or if there are fewer than two pairs. Count: `examples`.
    """
    x, y = np.array(_standardise(gold)), np.array(_standardise(predicted))
    products = {"xx": x * x, "yy": y * y, "xy": x * y}
    columns = {"examples": np.ones(len(x)), "x": x, "y": y, **products}
    return scored("regression", columns, units)


def pearson(totals: Totals) -> Array:
    """Pearson correlation from totals of scores and of their products. Equal predictions, for which it is not
    defined, say nothing of the gold scores; they count as 0, so that a collapsed run stays in the mean."""
    n, x, y = (totals[name] for name in ("examples", "x", "y"))
    variances = [_variance(n * totals[name], total * total) for name, total in (("xx", x), ("yy", y))]
    correlation = quotient(n * totals["xy"] - x * y, np.sqrt(variances[0]) * np.sqrt(variances[1]))
    correlation = np.where((variances[0] > 0) & (variances[1] == 0), 0.0, correlation)
    # Rounding can make it slightly larger than 1.
    return np.clip(correlation, -1.0, 1.0)


register(
    Metric("pearson", "Pearson correlation",
           "Pearson's correlation with the experts' scores; 0 if all predictions are equal", "gu2020 4.4",
           pearson, chooses=pearson, kinds=("regression",), version=2)
)  # fmt: skip


def _variance(squares: Array, square: Array) -> Array:
    return np.where(squares - square > ROUNDING * squares, squares - square, 0.0)


def _standardise(values: Sequence[float]) -> list[float]:
    """Standardise scores to mean 0 and standard deviation 1; the correlation does not change. Sums of
    products are then precise enough, and the scores of two models can be exchanged."""
    scaled = _scale_to_one(values)
    mean = fmean(scaled)
    centred = _scale_to_one([value - mean for value in scaled])
    deviation = math.sqrt(fmean(value * value for value in centred)) or 1.0
    return [value / deviation for value in centred]


def _scale_to_one(values: Sequence[float]) -> list[float]:
    largest = max(map(abs, values)) or 1.0
    return [value / largest for value in values]
