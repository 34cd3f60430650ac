"""Entity-level precision, recall and F1 of BIO labels, micro-averaged: exact, and relaxed.

`pubmill.examples.tagging.to_mentions` decides which words form an entity, in the same way as `get_entities`
of seqeval 1.2.2, which follows the CoNLL-2000 script `conlleval.pl` and is used in LinkBERT's code for BLURB:

- An entity is (type, first word, last word); labels without a type share one type.
- B always begins an entity. An I that does not follow an entity of its type (after O, at the start of a
  sentence, after another type) is not an error but begins an entity too; so `I I` after O is one entity, and
  a prediction `O I I` of the gold `O B I` is correct.
- Entities end with their sentence.
"""

from collections.abc import Collection, Sequence

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MentionsExample
from pubmill.examples.tagging import Mention, to_mentions
from pubmill.metrics.contributions import Array, Scored, Totals, scored
from pubmill.metrics.ratios import ratio
from pubmill.metrics.registry import Metric, register

Labels = Sequence[Sequence[str]]
Span = Sequence[int | str]
"""First word, word after the last, type."""


def score_entities(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score predicted BIO labels of sentences (one label per word) by exact match with the gold ones.

    Returns the metrics `entity_f1`, `entity_precision`, `entity_recall`, each within 0..1, and the counts
    `gold`, `predicted`, `correct` (entities; correct means same sentence, words and type) and `examples`
    (sentences). A ratio without a denominator is 0, as in seqeval.
    """
    sentences = _entity_pairs(gold, predicted)
    columns = {
        "gold": [len(true) for true, _ in sentences],
        "predicted": [len(predicted) for _, predicted in sentences],
        "correct": [len(true & predicted) for true, predicted in sentences],
        "examples": [1] * len(sentences),
    }
    return scored(columns, entity_metrics, dict, units)


def score_spans(
    examples: Sequence[MentionsExample], predicted: Sequence[Sequence[Span]], units: Sequence[int]
) -> Scored:
    """Score predicted mentions, which may nest, by exact match, as `score_entities` scores labels: first
    word, word after the last, and type are all right (GENIA and ACE are scored so; Yu et al. 2020)."""
    gold = [set(example.spans) for example in examples]
    guessed = [set(map(tuple, spans)) for spans in predicted]
    columns = {
        "gold": [len(true) for true in gold],
        "predicted": [len(spans) for spans in guessed],
        "correct": [len(true & spans) for true, spans in zip(gold, guessed, strict=True)],
        "examples": [1] * len(gold),
    }
    return scored(columns, entity_metrics, dict, units)


def entity_f1(totals: Totals) -> Array:
    """F1 over entities."""
    return ratio(2 * totals["correct"], totals["gold"] + totals["predicted"])


def entity_precision(totals: Totals) -> Array:
    """Share of the predicted entities that are correct."""
    return ratio(totals["correct"], totals["predicted"])


def entity_recall(totals: Totals) -> Array:
    """Share of the gold entities that are found."""
    return ratio(totals["correct"], totals["gold"])


entity_metrics = register(
    Metric(
        name="entity_f1",
        kinds=("tokens", "mentions"),
        version=1,
        label="entity F1",
        definition="F1 over mentions whose words and type are both right, all mentions together",
        source="conlleval, seqeval; gu2020 4.1",
        function=entity_f1,
        chooses=entity_f1,
    ),
    Metric(
        name="entity_precision",
        kinds=("tokens", "mentions"),
        version=1,
        label="entity precision",
        definition="share of the predicted mentions whose words and type are both right",
        source="as `entity_f1`; shin2020 Table 1",
        function=entity_precision,
    ),
    Metric(
        name="entity_recall",
        kinds=("tokens", "mentions"),
        version=1,
        label="entity recall",
        definition="share of the mentions that are found with the right words and type",
        source="as `entity_f1`; shin2020 Table 1",
        function=entity_recall,
    ),
)


def score_relaxed(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score predicted BIO labels leniently: an entity that overlaps one of the other side is correct.

    tinn2021 (section 3.7, Table 11) uses "a lenient score that regards overlapping predictions as correct"
    but does not define precision and recall. Here the common definitions are used: `relaxed_precision` is the
    share of predicted entities that share a word with any gold entity of the same type, `relaxed_recall` the
    share of gold entities that share a word with any predicted entity of the same type, and `relaxed_f1`
    their harmonic mean. So one long prediction over two gold entities is one correct prediction that finds
    both. A ratio without a denominator is 0, as for the exact score.

    Counts: `relaxed_correct` (predicted entities) and `relaxed_found` (gold ones).
    """
    sentences = _entity_pairs(gold, predicted)
    columns = {
        "gold": [len(true) for true, _ in sentences],
        "predicted": [len(predicted) for _, predicted in sentences],
        "relaxed_correct": [_count_overlapping(predicted, true) for true, predicted in sentences],
        "relaxed_found": [_count_overlapping(true, predicted) for true, predicted in sentences],
    }
    return scored(columns, relaxed_metrics, _relaxed_counts, units)


def relaxed_f1(totals: Totals) -> Array:
    """Harmonic mean of relaxed precision and recall."""
    precision, recall = relaxed_precision(totals), relaxed_recall(totals)
    return ratio(2 * precision * recall, precision + recall)


def relaxed_precision(totals: Totals) -> Array:
    """Share of the predicted entities that overlap a gold one."""
    return ratio(totals["relaxed_correct"], totals["predicted"])


def relaxed_recall(totals: Totals) -> Array:
    """Share of the gold entities that a predicted one overlaps."""
    return ratio(totals["relaxed_found"], totals["gold"])


relaxed_metrics = register(
    Metric(
        name="relaxed_f1",
        kinds=("tokens",),
        version=1,
        label="entity F1, overlap counted as correct",
        definition="F1 over mentions that overlap one of their type",
        source="tinn2021 3.7, Table 11; how is ours",
        function=relaxed_f1,
        parts={"relaxed_precision": relaxed_precision, "relaxed_recall": relaxed_recall},
    )
)


def _relaxed_counts(totals: Totals) -> dict[str, Array]:
    return {name: totals[name] for name in ("relaxed_correct", "relaxed_found")}


def _entity_pairs(gold: Labels, predicted: Labels) -> list[tuple[set[Mention], set[Mention]]]:
    """Return the gold and predicted entities of each sentence."""
    if [len(labels) for labels in gold] != [len(labels) for labels in predicted]:
        raise PubmillError("gold and predicted labels differ in their number of sentences or words")
    pairs = zip(gold, predicted, strict=True)
    return [(set(to_mentions(true)), set(to_mentions(predicted))) for true, predicted in pairs]


def _count_overlapping(entities: Collection[Mention], others: Collection[Mention]) -> int:
    """Count the entities that share a word with another one of the same type."""
    words = {(kind, word) for start, end, kind in others for word in range(start, end)}
    return sum(any((kind, word) in words for word in range(start, end)) for start, end, kind in entities)
