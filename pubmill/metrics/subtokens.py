"""Precision, recall and F1 of entities over subwords, where later subwords of a word have the label X."""

from collections.abc import Sequence

import numpy as np

from pubmill.examples.tagging import Mention, PredictedLabels, gold_subwords, subword_mentions
from pubmill.metrics.contributions import Array, Scored, Totals, scored
from pubmill.metrics.ratios import ratio
from pubmill.metrics.registry import Metric, register

Labels = Sequence[Sequence[str]]
Mentions = tuple[set[Mention], set[Mention]]
TASKS = ("ner", "de-identification")
NEEDS = {"labelled_subwords": "separate"}


def score_subtokens(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score the predicted labels of subwords by exact match of entities.

    shin2020 section 5.1 labels sub-tokens separately and evaluates with CoNLL's script; that X continues what
    stands before it is ours (`pubmill.examples.tagging`). An entity is correct if its first and last
    subwords and its type are. If all later subwords are predicted X, all counts are those of whole words.
    Sentences without labels of subwords contribute nothing; if no sentence has them, no metric is defined.
    """
    sentences = [_sentence_mentions(*both) for both in zip(gold, predicted, strict=True)]
    columns = {
        "subtoken_gold": [len(true) for true, _ in sentences],
        "subtoken_predicted": [len(guessed) for _, guessed in sentences],
        "subtoken_correct": [len(true & guessed) for true, guessed in sentences],
        "subtoken_sentences": [int(isinstance(labels, PredictedLabels)) for labels in predicted],
    }
    return scored(columns, subtoken_metrics, _counts, units)


def subtoken_f1(totals: Totals) -> Array:
    """F1 over entities of subwords."""
    mentions = totals["subtoken_gold"] + totals["subtoken_predicted"]
    return _where_labelled(totals, ratio(2 * totals["subtoken_correct"], mentions))


def subtoken_precision(totals: Totals) -> Array:
    """Share of the predicted entities that are correct."""
    return _where_labelled(totals, ratio(totals["subtoken_correct"], totals["subtoken_predicted"]))


def subtoken_recall(totals: Totals) -> Array:
    """Share of the gold entities that are found."""
    return _where_labelled(totals, ratio(totals["subtoken_correct"], totals["subtoken_gold"]))


def _where_labelled(totals: Totals, values: Array) -> Array:
    labelled: Array = np.where(totals["subtoken_sentences"] > 0, values, np.nan)
    return labelled


subtoken_metrics = register(
    Metric(
        name="subtoken_f1",
        kinds=("tokens",),
        tasks=TASKS,
        needs=NEEDS,
        version=1,
        label="sub-token F1",
        definition="as `entity_f1` over subwords; only of runs with `labelled_subwords: separate`",
        source="shin2020 5.1, Figure 1; the part of X is ours",
        function=subtoken_f1,
    ),
    Metric(
        name="subtoken_precision",
        kinds=("tokens",),
        tasks=TASKS,
        needs=NEEDS,
        version=1,
        label="sub-token precision",
        definition="as `entity_precision` over subwords",
        source="as `subtoken_f1`",
        function=subtoken_precision,
    ),
    Metric(
        name="subtoken_recall",
        kinds=("tokens",),
        tasks=TASKS,
        needs=NEEDS,
        version=1,
        label="sub-token recall",
        definition="as `entity_recall` over subwords",
        source="as `subtoken_f1`",
        function=subtoken_recall,
    ),
)


def _counts(totals: Totals) -> dict[str, Array]:
    if not totals["subtoken_sentences"]:
        return {}
    return {name: totals[name] for name in ("subtoken_gold", "subtoken_predicted", "subtoken_correct")}


def _sentence_mentions(gold: Sequence[str], predicted: Sequence[str]) -> Mentions:
    """Return the gold and predicted entities of a sentence's subwords."""
    if not isinstance(predicted, PredictedLabels):
        return set(), set()
    subwords = predicted.subwords
    labels = [gold_subwords(label, len(pieces)) for label, pieces in zip(gold, subwords, strict=True)]
    return set(subword_mentions(labels)), set(subword_mentions(subwords))
