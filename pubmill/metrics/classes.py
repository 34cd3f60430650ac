"""Accuracy and F1 where an example has one label, or any number of them."""

from collections.abc import Sequence

from pubmill.metrics.ratios import defined, macro_f1, ratio, tallies, together


def score_labels(
    gold: Sequence[str], predicted: Sequence[str], negative: str | None
) -> tuple[dict[str, float], dict[str, int]]:
    """Score one label an example.

    - `accuracy`: the share of examples whose label is right.
    - `micro_f1`: F1 over all labels taken together, without the label `negative`: a negative example that
      is predicted as positive is a false positive, but a negative that is found earns nothing (ChemProt,
      DDI: gu2020 section 4.3; BLUE and lewis2020 score so too). With `negative` None it is over all
      labels, and equals accuracy.
    - `positive_f1`: F1 of the positive label, where gold and predictions have two labels and one of these is
      `negative` (GAD); left out otherwise.
    - `macro_f1`: the mean of the F1 of each label that the gold or the predictions have, `negative`
      included, as scikit-learn's `f1_score(average="macro")`.

    An F1 of labels that are neither in the gold nor predicted isn't defined, and left out.
    Counts, of the labels that `micro_f1` is of: `gold`, `predicted`, `correct`; and `examples`.
    """
    single = tallies([[label] for label in gold], [[label] for label in predicted])
    positive = [one for label, one in single.items() if label != negative]
    pooled = together(positive)
    binary = len(single) == 2 and len(positive) == 1
    metrics = {
        "accuracy": ratio(sum(one.correct for one in single.values()), len(gold)),
        "micro_f1": pooled.f1(),
        "positive_f1": pooled.f1() if binary else None,
        "macro_f1": macro_f1(single.values()),
    }
    return defined(metrics), {**pooled.counts(), "examples": len(gold)}


def score_label_sets(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> tuple[dict[str, float], dict[str, int]]:
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
    single = tallies(gold, predicted)
    pooled = together(single.values())
    without = sum(not labels for labels in gold)
    metrics = {
        "micro_f1": pooled.f1(),
        "macro_f1": macro_f1(single.values()),
        "example_f1": None if without else _example_f1(gold, predicted),
    }
    return defined(metrics), {**pooled.counts(), "examples": len(gold), "without_gold": without}


def _example_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    pairs = [({*true}, {*given}) for true, given in zip(gold, predicted, strict=True)]
    precision = sum(ratio(len(true & given), len(given)) for true, given in pairs) / len(pairs)
    recall = sum(len(true & given) / len(true) for true, given in pairs) / len(pairs)
    return ratio(2 * precision * recall, precision + recall)
