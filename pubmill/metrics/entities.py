"""Entity-level precision, recall and F1 of BIO labels, micro-averaged: exact, and relaxed.

Which words form an entity is decided by seqeval 1.2.2's `get_entities`, which follows the CoNLL-2000
script `conlleval.pl` and is what LinkBERT's code for BLURB scores with:

- An entity is (type, first word, last word); labels without a type share one type.
- B always begins an entity. An I with no entity of its type right before it (after O, at the start
  of a sentence, after another type) isn't an error but begins one too; so `I I` after O is one
  entity, and a prediction `O I I` of the gold `O B I` is correct.
- Entities end with their sentence.
"""

from collections.abc import Collection, Sequence

from pubmill.contributions import Array, Scored, Totals, scored
from pubmill.errors import PubmillError
from pubmill.metrics.ratios import ratio

Labels = Sequence[Sequence[str]]
Entity = tuple[str, int, int]
"""Type, first and last word of the sentence."""


def score_entities(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score predicted BIO labels of sentences (one label a word) against the gold ones, exactly.

    Returns the metrics `entity_f1`, `entity_precision`, `entity_recall`, each within 0..1, and the
    counts `gold`, `predicted`, `correct` (entities; correct means same sentence, words and type)
    and `examples` (sentences). A ratio without a denominator is 0, as in seqeval.
    """
    sentences = _entities(gold, predicted)
    columns = {
        "gold": [len(true) for true, _ in sentences],
        "predicted": [len(given) for _, given in sentences],
        "correct": [len(true & given) for true, given in sentences],
        "examples": [1] * len(sentences),
    }
    return scored(columns, entity_metrics, dict, units)


def entity_metrics(totals: Totals) -> dict[str, Array]:
    """The exact metrics from totals."""
    gold, predicted, correct = (totals[name] for name in ("gold", "predicted", "correct"))
    return {
        "entity_f1": ratio(2 * correct, gold + predicted),
        "entity_precision": ratio(correct, predicted),
        "entity_recall": ratio(correct, gold),
    }


def score_relaxed(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score predicted BIO labels leniently: an entity that overlaps one of the other side is correct.

    tinn2021 (section 3.7, Table 11) has "a lenient score that regards overlapping predictions as
    correct", and doesn't say how precision and recall are counted. Here, as is usual:
    `relaxed_precision` is the share of predicted entities that have a word in common with any gold entity
    of their type, `relaxed_recall` the share of gold entities that have one with any predicted entity of
    their type, `relaxed_f1` their harmonic mean. So one long prediction over two gold entities is one
    correct prediction, and finds both. 0 without a denominator, as for the exact score.

    Counts: `relaxed_correct` (predicted entities) and `relaxed_found` (gold ones).
    """
    sentences = _entities(gold, predicted)
    columns = {
        "gold": [len(true) for true, _ in sentences],
        "predicted": [len(given) for _, given in sentences],
        "relaxed_correct": [_overlapping(given, true) for true, given in sentences],
        "relaxed_found": [_overlapping(true, given) for true, given in sentences],
    }
    return scored(columns, relaxed_metrics, _relaxed_counts, units)


def relaxed_metrics(totals: Totals) -> dict[str, Array]:
    """The lenient metrics from totals."""
    precision = ratio(totals["relaxed_correct"], totals["predicted"])
    recall = ratio(totals["relaxed_found"], totals["gold"])
    return {
        "relaxed_f1": ratio(2 * precision * recall, precision + recall),
        "relaxed_precision": precision,
        "relaxed_recall": recall,
    }


def _relaxed_counts(totals: Totals) -> dict[str, Array]:
    return {name: totals[name] for name in ("relaxed_correct", "relaxed_found")}


def _entities(gold: Labels, predicted: Labels) -> list[tuple[set[Entity], set[Entity]]]:
    """Gold and predicted entities of each sentence."""
    if [len(labels) for labels in gold] != [len(labels) for labels in predicted]:
        raise PubmillError("gold and predicted labels differ in their number of sentences or words")
    return [(_entities_of(true), _entities_of(given)) for true, given in zip(gold, predicted, strict=True)]


def _entities_of(labels: Sequence[str]) -> set[Entity]:
    from seqeval.metrics.sequence_labeling import (
        get_entities,
    )  # takes seconds; metrics of totals don't need it

    return set(get_entities(list(labels)))


def _overlapping(entities: Collection[Entity], others: Collection[Entity]) -> int:
    """How many have a word that is in one of the others of the same type."""
    words = {(kind, word) for kind, first, last in others for word in range(first, last + 1)}
    return sum(
        any((kind, word) in words for word in range(first, last + 1)) for kind, first, last in entities
    )
