"""F1 over single words of BIO labels, averaged over elements: the metric of EBM-PICO."""

from collections.abc import Mapping, Sequence

import numpy as np

from pubmill.errors import PubmillError
from pubmill.metrics.contributions import Array, Scored, Totals, scored
from pubmill.metrics.ratios import Tally, mean_f1, pooled, tallies, tally
from pubmill.metrics.registry import Metric, register

Labels = Sequence[Sequence[str]]
ELEMENTS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
"""Layer of EBM-NLP's annotations -> its element in the labels."""


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
        [
            (_element_of_label(one), _element_of_label(other))
            for one, other in zip(true, predicted, strict=True)
        ]
        for true, predicted in zip(gold, predicted, strict=True)
    ]
    columns = {"examples": [1.0] * len(gold), **tally("word", sentences)}
    return scored(columns, word_metrics, _word_counts, units)


def score_layers(
    layers: Sequence[Mapping[str, Sequence[int]]], predicted: Labels, units: Sequence[int] | None = None
) -> Scored:
    """Score predicted BIO labels (one per word) against the layers from which the gold labels were made.

    A word can belong to several elements (gu2020 sections 4.2 and 5.2: about 3 % of the words do), but is
    predicted to belong to one: the others count as missed. Examples without layers contribute nothing.
    """
    words = [
        [
            (_elements_of_word(there, place), _element_of_label(label))
            for place, label in enumerate(labels if there else ())
        ]
        for there, labels in zip(layers, predicted, strict=True)
    ]
    columns = {"examples": [1.0] * len(words), **tally("layer", words)}
    return scored(columns, layer_metrics, lambda _: {}, units)


def layers_macro_f1(totals: Totals) -> Array:
    """Mean word F1 over the elements in the gold layers."""
    return _macro_f1(totals, "layer")


def word_macro_f1(totals: Totals) -> Array:
    """Mean word F1 over the elements in the gold."""
    return _macro_f1(totals, "word")


def _macro_f1(totals: Totals, family: str) -> Array:
    elements = tallies(totals, family)
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


layer_metrics = register(
    Metric(
        name="layers_macro_f1",
        kinds=("tokens",),
        tasks=("pico",),
        version=1,
        label="macro F1 over words of all layers",
        definition="as `word_macro_f1`, where a word can belong to several elements in the gold",
        source="gu2020 4.2, 5.2",
        function=layers_macro_f1,
    )
)


def _word_counts(totals: Totals) -> dict[str, Array]:
    elements: list[Tally] = [one for one in tallies(totals, "word") if one.gold]
    return {f"{name}_words": count for name, count in pooled(elements, totals)._asdict().items()}


def _element_of_label(label: str) -> tuple[str, ...]:
    """Return the element of a word; empty for O."""
    return (label.partition("-")[2],) if label != "O" else ()


def _elements_of_word(layers: Mapping[str, Sequence[int]], place: int) -> tuple[str, ...]:
    """Return the elements of the layers that mark a word."""
    return tuple(ELEMENTS[name] for name, marks in layers.items() if name in ELEMENTS and marks[place])
