"""Metrics of labelled words: entities, exact and relaxed, entities of subwords, and single words.

Entities are micro-averaged. `pubmill.examples.tagging.to_mentions` decides which words form one, in the same
way as `get_entities` of seqeval 1.2.2, which follows the CoNLL-2000 script `conlleval.pl` and is used in
LinkBERT's code for BLURB:

- An entity is (type, first word, last word); labels without a type share one type.
- B always begins an entity. An I that does not follow an entity of its type (after O, at the start of a
  sentence, after another type) is not an error but begins an entity too; so `I I` after O is one entity, and
  a prediction `O I I` of the gold `O B I` is correct.
- Entities end with their sentence.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import Any

import numpy as np

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MentionsExample, TokensExample
from pubmill.examples.tagging import (
    OUTSIDE,
    Mention,
    PredictedLabels,
    gold_beside,
    gold_subwords,
    subword_mentions,
    to_mentions,
)
from pubmill.metrics.contributions import Array, Function, Scored, Totals, scored, together, units_of
from pubmill.metrics.registry import (
    COUNTS,
    Metric,
    f1_of,
    mean_f1,
    measure_of,
    pooled,
    precision_of,
    ratio,
    recall_of,
    register,
    tallies,
    tally,
)

Labels = Sequence[Sequence[str]]
Mentions = tuple[Set[Mention], Set[Mention]]
"""The gold and the predicted entities of a sentence."""
Span = Sequence[int | str]
"""First word, word after the last, type."""
ELEMENTS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
"""Layer of EBM-NLP's annotations -> its element in the labels."""


def score_tokens(examples: Sequence[TokensExample], predicted: Labels) -> Scored:
    """Compute all metrics of BIO labels: exact and relaxed entities, those of seqeval 0.0.12 and of subwords,
    words, and layers. Mentions without a place (`ExtendedLabels`) are false positives in all but those of
    subwords."""
    gold, units = [example.labels for example in examples], units_of(examples).numbers
    of_words = (score_entities, score_relaxed, score_as_seqeval_0_0_12, score_subtokens, score_words)
    layers = score_layers([example.layers for example in examples], predicted, units)
    return together([*(score(gold, predicted, units) for score in of_words), layers], measure_of("tokens"))


def score_entities(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score predicted BIO labels of sentences (one label per word) by exact match with the gold ones.

    Returns the metrics `entity_f1`, `entity_precision`, `entity_recall`, each within 0..1, and the counts
    `gold`, `predicted`, `correct` (entities; correct means same sentence, words and type) and `examples`
    (sentences). A ratio without a denominator is 0, as in seqeval.
    """
    return _score_exactly(_entity_pairs(gold, predicted), units)


def token_counts(totals: Totals) -> dict[str, Array]:
    """Return the counts of `score_tokens` in its totals."""
    exact = {name: totals[name] for name in (*COUNTS, "examples")}
    return exact | _relaxed_counts(totals) | _subtoken_counts(totals) | _word_counts(totals)


def _relaxed_counts(totals: Totals) -> dict[str, Array]:
    return {name: totals[name] for name in ("relaxed_correct", "relaxed_found")}


def score_spans(
    examples: Sequence[MentionsExample], predicted: Sequence[Sequence[Span]], units: Sequence[int]
) -> Scored:
    """Score predicted mentions, which may nest, by exact match, as `score_entities` scores labels: first
    word, word after the last, and type are all right (GENIA and ACE are scored so; Yu et al. 2020)."""
    gold = (set(example.spans) for example in examples)
    guessed = (set(map(tuple, spans)) for spans in predicted)
    return _score_exactly(list(zip(gold, guessed, strict=True)), units)


def _score_exactly(sentences: Sequence[tuple[Set[Any], Set[Any]]], units: Sequence[int] | None) -> Scored:
    columns = {
        "gold": [len(true) for true, _ in sentences],
        "predicted": [len(predicted) for _, predicted in sentences],
        "correct": [len(true & predicted) for true, predicted in sentences],
        "examples": [1] * len(sentences),
    }
    return scored(columns, entity_metrics, dict, units)


entity_metrics = register(
    Metric(
        name="entity_f1",
        kinds=("tokens", "mentions"),
        version=1,
        label="entity F1",
        definition="F1 over mentions whose words and type are both right, all mentions together",
        source="conlleval, seqeval; gu2020 4.1",
        function=f1_of(),
        chooses=f1_of(),
    ),
    Metric(
        name="entity_precision",
        kinds=("tokens", "mentions"),
        version=1,
        label="entity precision",
        definition="share of the predicted mentions whose words and type are both right",
        source="as `entity_f1`; shin2020 Table 1",
        function=precision_of(),
    ),
    Metric(
        name="entity_recall",
        kinds=("tokens", "mentions"),
        version=1,
        label="entity recall",
        definition="share of the mentions that are found with the right words and type",
        source="as `entity_f1`; shin2020 Table 1",
        function=recall_of(),
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


def score_as_seqeval_0_0_12(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score predicted BIO labels by exact match of the entities that `get_entities` of seqeval 0.0.12 finds.

    It takes as an entity's type what stands behind a label's last hyphen. A label without a hyphen is a type
    as a whole, so B and I are two: each B is an entity, and each run of I another one. A mention of several
    words then counts twice, and one of which only the first word is found counts half. Labels with types give
    the entities of `score_entities`, but for types that differ before their last hyphen only.
    """
    pairs = _sentence_pairs(gold, predicted)

    def entities(labels: Sequence[str]) -> set[Mention]:
        read = [one if one == OUTSIDE else f"{one[0]}-{one.rpartition('-')[2]}" for one in labels]
        return set(to_mentions(read))

    sentences = [(entities(true), entities(guessed)) for true, guessed in pairs]
    columns = {
        "seqeval_gold": [len(true) for true, _ in sentences],
        "seqeval_predicted": [len(guessed) for _, guessed in sentences],
        "seqeval_correct": [len(true & guessed) for true, guessed in sentences],
    }
    return scored(columns, seqeval_metrics, lambda _: {}, units)


seqeval_metrics = register(
    Metric(
        name="seqeval_0_0_12_f1",
        kinds=("tokens",),
        tasks=("ner", "de-identification"),
        version=1,
        label="entity F1 of seqeval 0.0.12",
        definition="as `entity_f1`, but B and I of labels without types are two types: each B is an entity "
        "and each run of I another, so a mention of several words counts twice",
        source="seqeval 0.0.12, which lewis2020's program pins (`run_sequence_labelling.py`)",
        function=f1_of("seqeval_"),
        chooses=f1_of("seqeval_"),
    )
)


def _entity_pairs(gold: Labels, predicted: Labels) -> list[Mentions]:
    pairs = _sentence_pairs(gold, predicted)
    return [(set(to_mentions(true)), set(to_mentions(predicted))) for true, predicted in pairs]


def _sentence_pairs(gold: Labels, predicted: Labels) -> list[tuple[Sequence[str], Sequence[str]]]:
    gold = [*map(gold_beside, gold, predicted), *gold[len(predicted) :]]
    if [len(labels) for labels in gold] != [len(labels) for labels in predicted]:
        raise PubmillError("gold and predicted labels differ in their number of sentences or words")
    return list(zip(gold, predicted, strict=True))


def _count_overlapping(entities: Set[Mention], others: Set[Mention]) -> int:
    """Count the entities that share a word with another one of the same type."""
    words = {(kind, word) for start, end, kind in others for word in range(start, end)}
    return sum(any((kind, word) in words for word in range(start, end)) for start, end, kind in entities)


def score_subtokens(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score the predicted labels of subwords by exact match of entities.

    shin2020 section 5.1 labels sub-tokens separately and evaluates with CoNLL's script. Our choice: X
    continues the label before it (`pubmill.examples.tagging`). An entity is correct if its first and last
    subwords and its type are. If all later subwords are predicted X, all counts are those of whole words.
    Sentences without labels of subwords contribute nothing; if no sentence has them, no metric is defined.
    """
    sentences = [_subword_pair(*both) for both in zip(gold, predicted, strict=True)]
    columns = {
        "subtoken_gold": [len(true) for true, _ in sentences],
        "subtoken_predicted": [len(guessed) for _, guessed in sentences],
        "subtoken_correct": [len(true & guessed) for true, guessed in sentences],
        "subtoken_sentences": [int(isinstance(labels, PredictedLabels)) for labels in predicted],
    }
    return scored(columns, subtoken_metrics, _subtoken_counts, units)


def _where_labelled(measure: Callable[[str], Function]) -> Function:
    """Return the metric `measure` of subword entities; nan if no sentence has labels of subwords."""
    values = measure("subtoken_")
    return lambda totals: np.where(totals["subtoken_sentences"] > 0, values(totals), np.nan)


_subtoken_metric = partial(
    Metric,
    kinds=("tokens",),
    tasks=("ner", "de-identification"),
    needs={"labelled_subwords": "separate"},
    version=1,
)


subtoken_metrics = register(
    _subtoken_metric(
        name="subtoken_f1",
        label="sub-token F1",
        definition="as `entity_f1` over subwords; only of runs with `labelled_subwords: separate`",
        source="shin2020 5.1, Figure 1; the part of X is ours",
        function=_where_labelled(f1_of),
    ),
    _subtoken_metric(
        name="subtoken_precision",
        label="sub-token precision",
        definition="as `entity_precision` over subwords",
        source="as `subtoken_f1`",
        function=_where_labelled(precision_of),
    ),
    _subtoken_metric(
        name="subtoken_recall",
        label="sub-token recall",
        definition="as `entity_recall` over subwords",
        source="as `subtoken_f1`",
        function=_where_labelled(recall_of),
    ),
)


def _subtoken_counts(totals: Totals) -> dict[str, Array]:
    names = [f"subtoken_{count}" for count in COUNTS] if totals["subtoken_sentences"] else []
    return {name: totals[name] for name in names}


def _subword_pair(gold: Sequence[str], predicted: Sequence[str]) -> Mentions:
    if not isinstance(predicted, PredictedLabels):
        return set(), set()
    subwords = predicted.subwords
    labels = [gold_subwords(label, len(pieces)) for label, pieces in zip(gold, subwords, strict=True)]
    return set(subword_mentions(labels)), set(subword_mentions(subwords))


def score_words(gold: Labels, predicted: Labels, units: Sequence[int] | None = None) -> Scored:
    """Score predicted BIO labels (one per word) word by word.

    gu2020 section 4.2: "For each of the PIO elements [...] we tally the F1 score at the word level, and then
    compute the final score as the average among PIO elements in the dataset". An element is a type; B and I
    are equivalent, and O has no element. `word_macro_f1` is the mean over the elements in the gold: one that
    is not predicted counts with an F1 of 0; one that occurs only in predictions does not belong to the
    dataset (its words reduce the recall of the others). Without gold elements it is not reported.

    Counts: `gold_words`, `predicted_words`, `correct_words`, for all elements of the gold together.
    """
    sentences = [
        [(_element_of_label(one), _element_of_label(other)) for one, other in zip(*labels, strict=True)]
        for labels in _sentence_pairs(gold, predicted)
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
            (
                tuple(
                    ELEMENTS[name]
                    for name, marks in there.items()
                    if name in ELEMENTS and any(marks[place : place + 1])
                ),
                _element_of_label(label),
            )
            for place, label in enumerate(labels if there else ())
        ]
        for there, labels in zip(layers, predicted, strict=True)
    ]
    columns = {"examples": [1.0] * len(words), **tally("layer", words)}
    return scored(columns, layer_metrics, lambda _: {}, units)


def _macro_f1(family: str) -> Function:
    """Return the mean word F1 over the elements in the gold."""

    def mean(totals: Totals) -> Array:
        elements = tallies(totals, family)
        return mean_f1(elements, [np.where(one.gold > 0, 1.0, 0.0) for one in elements], totals)

    return mean


_word_metric = partial(Metric, kinds=("tokens",), tasks=("pico",), version=1)


word_metrics = register(
    _word_metric(
        name="word_macro_f1",
        label="macro F1 over words",
        definition="F1 over the words of each element, then the mean over elements",
        source="gu2020 4.2",
        function=_macro_f1("word"),
        chooses=_macro_f1("word"),
    )
)


layer_metrics = register(
    _word_metric(
        name="layers_macro_f1",
        label="macro F1 over words of all layers",
        definition="as `word_macro_f1`, where a word can belong to several elements in the gold",
        source="gu2020 4.2, 5.2",
        function=_macro_f1("layer"),
    )
)


def _word_counts(totals: Totals) -> dict[str, Array]:
    elements = [one for one in tallies(totals, "word") if one.gold]
    return {f"{name}_words": count for name, count in pooled(elements, totals)._asdict().items()}


def _element_of_label(label: str) -> tuple[str, ...]:
    """Return the element of a word; empty for O."""
    return (label.partition("-")[2],) if label != "O" else ()
