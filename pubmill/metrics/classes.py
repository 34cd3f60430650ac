"""Accuracy and F1 where an example has one label, or any number of them."""

from collections.abc import Sequence

import numpy as np

from pubmill.contributions import Array, Scored, Totals, scored
from pubmill.metrics.ratios import macro_f1, pooled, quotient, ratio, tallies, tally


def score_labels(
    gold: Sequence[str], predicted: Sequence[str], negative: str | None, units: Sequence[int] | None = None
) -> Scored:
    """Score one label an example.

    - `accuracy`: the share of examples whose label is right.
    - `micro_f1`: F1 over all labels taken together, without the label `negative`: a negative example that
      is predicted as positive is a false positive, but a negative that is found earns nothing (ChemProt,
      DDI: gu2020 section 4.3; BLUE and lewis2020 score so too). With `negative` None it is over all
      labels, and equals accuracy.
    - `micro_precision`, `micro_recall`: those of `micro_f1` (shin2020 Table 1); 0 without a denominator.
    - `positive_f1`: F1 of the positive label, where gold and predictions have two labels and one of these is
      `negative` (GAD); left out otherwise.
    - `macro_f1`: the mean of the F1 of each label that the gold or the predictions have, `negative`
      included, as scikit-learn's `f1_score(average="macro")`.

    An F1 of labels that are neither in the gold nor predicted isn't defined, and left out.
    Counts, of the labels that `micro_f1` is of: `gold`, `predicted`, `correct`; and `examples`.
    """
    pairs = list(zip(gold, predicted, strict=True))
    columns = {
        "examples": [1.0] * len(pairs),
        **tally("class", [[(_but(negative, a), _but(negative, b))] for a, b in pairs]),
        **tally("negative", [[(_only(negative, a), _only(negative, b))] for a, b in pairs]),
    }
    return scored(columns, label_metrics, _label_counts, units)


def label_metrics(totals: Totals) -> dict[str, Array]:
    """The metrics of one label an example from totals."""
    every, positive = tallies(totals, "class", "negative"), tallies(totals, "class")
    present = [one.present() for one in every]
    none = np.zeros_like(totals["examples"])
    binary = (sum(present, none) == 2) & (sum((one.present() for one in positive), none) == 1)
    together = pooled(positive, totals)
    f1 = together.f1()
    return {
        "accuracy": quotient(pooled(every, totals).correct, totals["examples"]),
        "micro_f1": f1,
        "micro_precision": np.where(np.isnan(f1), f1, ratio(together.correct, together.predicted)),
        "micro_recall": np.where(np.isnan(f1), f1, ratio(together.correct, together.gold)),
        "positive_f1": np.where(binary, f1, np.nan),
        "macro_f1": macro_f1(every, present, totals),
    }


def _label_counts(totals: Totals) -> dict[str, Array]:
    return {**pooled(tallies(totals, "class"), totals)._asdict(), "examples": totals["examples"]}


def _but(negative: str | None, label: str) -> tuple[str, ...]:
    return () if label == negative else (label,)


def _only(negative: str | None, label: str) -> tuple[str, ...]:
    return (label,) if label == negative else ()


def score_label_sets(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], units: Sequence[int] | None = None
) -> Scored:
    """Score any number of labels a document.

    - `micro_f1`: F1 over all labels of all documents taken together (HoC of BLURB, gu2020 section 4.5).
    - `macro_f1`: the mean of the F1 of each label that the gold or the predictions have.
    - `example_f1`: as BLUE scores HoC (its `blue/eval_hoc.py`, which lewis2020 took over): the mean over
      documents of the precision, which is 0 where nothing is predicted, and that of the recall; then the
      F1 of these two means. BLUE's documents all have a label. The script divides by their number, so
      where a document of the gold has none, the metric isn't defined, and left out.

    An F1 of labels that are neither in the gold nor predicted isn't defined, and left out.
    Counts: `gold`, `predicted`, `correct` (labels of documents), `examples`, and `without_gold` (documents).
    """
    pairs = [({*true}, {*given}) for true, given in zip(gold, predicted, strict=True)]
    columns = {
        "examples": [1.0] * len(pairs),
        "without_gold": [float(not true) for true, _ in pairs],
        "precision": [len(true & given) / (len(given) or 1) for true, given in pairs],
        "recall": [len(true & given) / (len(true) or 1) for true, given in pairs],
        **tally("class", [[pair] for pair in pairs]),
    }
    return scored(columns, label_set_metrics, _label_set_counts, units)


def label_set_metrics(totals: Totals) -> dict[str, Array]:
    """The metrics of sets of labels from totals."""
    classes = tallies(totals, "class")
    precision, recall = (quotient(totals[name], totals["examples"]) for name in ("precision", "recall"))
    example_f1 = ratio(2 * precision * recall, precision + recall)
    return {
        "micro_f1": pooled(classes, totals).f1(),
        "macro_f1": macro_f1(classes, [one.present() for one in classes], totals),
        "example_f1": np.where(totals["without_gold"] > 0, np.nan, example_f1),
    }


def _label_set_counts(totals: Totals) -> dict[str, Array]:
    counts = pooled(tallies(totals, "class"), totals)._asdict()
    return {**counts, **{name: totals[name] for name in ("examples", "without_gold")}}
