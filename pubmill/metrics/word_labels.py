"""F1 over single words of BIO labels, averaged over elements: the metric of EBM-PICO."""

from collections.abc import Sequence

import numpy as np

from pubmill.errors import PubmillError
from pubmill.metrics.contributions import Array, Scored, Totals, scored
from pubmill.metrics.ratios import Tally, mean_f1, pooled, tallies, tally
from pubmill.metrics.registry import Metric, register

Labels = Sequence[Sequence[str]]


def score_words(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score predicted BIO labels (one per word) word by word.

    gu2020 section 4.2: "For each of the PIO elements [...] we tally the F1 score at the word level, and then
    compute the final score as the average among PIO elements in the dataset". An element is a type; B and I
    are equivalent, and O has no element. `word_macro_f1` is the mean over the elements in the gold: one that
    is not predicted counts with an F1 of 0; one that occurs only in predictions does not belong to the
    dataset (its words reduce the recall of the others). If the gold has no element, the metric is not
    reported.

    Counts: `gold_words`, `predicted_words`, `correct_words`, for all elements of the gold together.
    """
    if [len(labels) for labels in gold] != [len(labels) for labels in predicted]:
        raise PubmillError("gold and predicted labels differ in their number of sentences or words")
    sentences = [
        [(_element(one), _element(other)) for one, other in zip(true, predicted, strict=True)]
        for true, predicted in zip(gold, predicted, strict=True)
    ]
    columns = {"examples": [1.0] * len(gold), **tally("word", sentences)}
    return scored(columns, word_metrics, _counts, units)


def word_macro_f1(totals: Totals) -> Array:
    """Mean word F1 over the elements in the gold."""
    elements = tallies(totals, "word")
    in_gold = [np.where(one.gold > 0, 1.0, 0.0) for one in elements]
    return mean_f1(elements, in_gold, totals)


word_metrics = register(
    Metric(
        name="word_macro_f1",
        kinds=("tokens",),
        tasks=("pico",),
        version=1,
        label="macro F1 over words",
        definition="F1 over the words of each element, then the mean over elements",
        source="gu2020 4.2",
        function=word_macro_f1,
        chooses=word_macro_f1,
    )
)


def _counts(totals: Totals) -> dict[str, Array]:
    elements: list[Tally] = [one for one in tallies(totals, "word") if one.gold]
    return {f"{name}_words": count for name, count in pooled(elements, totals)._asdict().items()}


def _element(label: str) -> tuple[str, ...]:
    """Return the element of a word; empty for O."""
    return (label.partition("-")[2],) if label != "O" else ()
