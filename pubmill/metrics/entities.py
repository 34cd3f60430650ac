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

from collections.abc import Mapping, Sequence, Set
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
from pubmill.metrics.contributions import Array, Columns, Function, Scored, Totals, units_of
from pubmill.metrics.registry import (
    COUNTERS,
    COUNTS,
    Metric,
    f1_of,
    mean_f1,
    pooled,
    precision_of,
    ratio,
    ratio_of,
    recall_of,
    register,
    scored,
    tallies,
    tally,
    where_any,
)

Labels = Sequence[Sequence[str]]
Mentions = tuple[Set[Mention], Set[Mention]]
"""The gold and the predicted entities of a sentence."""
Pair = tuple[Sequence[str], Sequence[str]]
"""The gold and the predicted labels of a sentence."""
Span = Sequence[int | str]
"""First word, word after the last, type."""
ELEMENTS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
"""Layer of EBM-NLP's annotations -> its element in the labels."""


def score_tokens(examples: Sequence[TokensExample], predicted: Labels) -> Scored:
    """Compute all metrics of BIO labels: exact and relaxed entities, those of seqeval 0.0.12 and of subwords,
    words, and layers. Mentions without a place (`ExtendedLabels`) are false positives in all but those of
    subwords."""
    gold = [example.labels for example in examples]
    pairs = _sentence_pairs(gold, predicted)
    mentions = _mentions_of(pairs)
    columns = {
        **_exact_columns(mentions),
        **_relaxed_columns(mentions),
        **_columns_as_seqeval_0_0_12(pairs),
        **_subtoken_columns(gold, predicted),
        **_word_columns(pairs),
        **_layer_columns([example.layers for example in examples], predicted),
    }
    return scored("tokens", columns, units_of(examples).numbers)


def score_entities(gold: Labels, predicted: Labels) -> Scored:
    """Score predicted BIO labels of sentences (one label per word) by exact match with the gold ones.

    Returns the metrics `entity_f1`, `entity_precision`, `entity_recall`, each within 0..1, and the counts
    `gold`, `predicted`, `correct` (entities; correct means same sentence, words and type) and `examples`
    (sentences). A ratio without a denominator is 0, as in seqeval.
    """
    mentions = _mentions_of(_sentence_pairs(gold, predicted))
    return scored("mentions", _exact_columns(mentions))


def token_counts(totals: Totals) -> dict[str, Array]:
    """Return the counts of `score_tokens` in its totals."""
    names = (*COUNTS, "examples", "relaxed_correct", "relaxed_found")
    of_subtokens = [f"subtoken_{count}" for count in COUNTS] if totals["subtoken_sentences"] else []
    elements = pooled([one for one in tallies(totals, "word") if one.gold], totals)._asdict()
    words = {f"{name}_words": count for name, count in elements.items()}
    return {name: totals[name] for name in (*names, *of_subtokens)} | words


def score_spans(
    examples: Sequence[MentionsExample], predicted: Sequence[Sequence[Span]], units: Sequence[int]
) -> Scored:
    """Score predicted mentions, which may nest, by exact match, as `score_entities` scores labels: first
    word, word after the last, and type are all right (GENIA and ACE are scored so; Yu et al. 2020)."""
    gold = (set(example.spans) for example in examples)
    guessed = (set(map(tuple, spans)) for spans in predicted)
    return scored("mentions", _exact_columns(list(zip(gold, guessed, strict=True))), units)


def _exact_columns(sentences: Sequence[tuple[Set[Any], Set[Any]]]) -> Columns:
    return {
        "gold": [len(true) for true, _ in sentences],
        "predicted": [len(predicted) for _, predicted in sentences],
        "correct": [len(true & predicted) for true, predicted in sentences],
        "examples": [1] * len(sentences),
    }


COUNTERS |= {"tokens": token_counts, "mentions": dict}
_entity_metric = partial(Metric, kinds=("tokens", "mentions"), version=1)
register(
    _entity_metric("entity_f1", "entity F1",
                   "F1 over mentions whose words and type are both right, all mentions together",
                   "conlleval, seqeval; gu2020 4.1", f1_of(), chooses=f1_of()),
    _entity_metric("entity_precision", "entity precision",
                   "share of the predicted mentions whose words and type are both right",
                   "as `entity_f1`; shin2020 Table 1", precision_of()),
    _entity_metric("entity_recall", "entity recall",
                   "share of the mentions that are found with the right words and type",
                   "as `entity_f1`; shin2020 Table 1", recall_of()),
)  # fmt: skip


def _relaxed_columns(sentences: Sequence[Mentions]) -> Columns:
    """Count entities leniently: one that overlaps an entity of the other side is correct.

    tinn2021 (section 3.7, Table 11) uses "a lenient score that regards overlapping predictions as correct"
    but does not define precision and recall. Here the common definitions are used: `relaxed_precision` is the
    share of predicted entities that share a word with any gold entity of the same type, `relaxed_recall` the
    share of gold entities that share a word with any predicted entity of the same type, and `relaxed_f1`
    their harmonic mean. So one long prediction over two gold entities is one correct prediction that finds
    both. A ratio without a denominator is 0, as for the exact score.

    Counts: `relaxed_correct` (predicted entities) and `relaxed_found` (gold ones).
    """
    return {
        "relaxed_correct": [_count_overlapping(predicted, true) for true, predicted in sentences],
        "relaxed_found": [_count_overlapping(true, predicted) for true, predicted in sentences],
    }


relaxed_precision = ratio_of("relaxed_correct", "predicted")
relaxed_recall = ratio_of("relaxed_found", "gold")


def relaxed_f1(totals: Totals) -> Array:
    """Harmonic mean of relaxed precision and recall."""
    precision, recall = relaxed_precision(totals), relaxed_recall(totals)
    return ratio(2 * precision * recall, precision + recall)


register(
    Metric("relaxed_f1", "entity F1, overlap counted as correct",
           "F1 over mentions that overlap one of their type", "tinn2021 3.7, Table 11; how is ours",
           relaxed_f1, kinds=("tokens",), version=1,
           parts={"relaxed_precision": relaxed_precision, "relaxed_recall": relaxed_recall})
)  # fmt: skip


def _columns_as_seqeval_0_0_12(pairs: Sequence[Pair]) -> Columns:
    """Count the entities that `get_entities` of seqeval 0.0.12 finds.

    It takes as an entity's type what stands behind a label's last hyphen. A label without a hyphen is a type
    as a whole, so B and I are two: each B is an entity, and each run of I another one. A mention of several
    words then counts twice, and one of which only the first word is found counts half. Labels with types give
    the entities of `score_entities`, but for types that differ before their last hyphen only.
    """

    def read(labels: Sequence[str]) -> list[str]:
        return [one if one == OUTSIDE else f"{one[0]}-{one.rpartition('-')[2]}" for one in labels]

    sentences = _mentions_of([(read(true), read(guessed)) for true, guessed in pairs])
    return _prefixed("seqeval_", sentences)


register(
    Metric("seqeval_0_0_12_f1", "entity F1 of seqeval 0.0.12",
           "as `entity_f1`, but B and I of labels without types are two types: each B is an entity "
           "and each run of I another, so a mention of several words counts twice",
           "seqeval 0.0.12, which lewis2020's program pins (`run_sequence_labelling.py`)",
           f1_of("seqeval_"), chooses=f1_of("seqeval_"),
           kinds=("tokens",), tasks=("ner", "de-identification"), version=1)
)  # fmt: skip


def _mentions_of(pairs: Sequence[Pair]) -> list[Mentions]:
    return [(set(to_mentions(true)), set(to_mentions(predicted))) for true, predicted in pairs]


def _prefixed(prefix: str, sentences: Sequence[Mentions]) -> dict[str, Sequence[float]]:
    columns = _exact_columns(sentences)
    return {f"{prefix}{count}": columns[count] for count in COUNTS}


def _sentence_pairs(gold: Labels, predicted: Labels) -> list[Pair]:
    gold = [*map(gold_beside, gold, predicted), *gold[len(predicted) :]]
    if [len(labels) for labels in gold] != [len(labels) for labels in predicted]:
        raise PubmillError("gold and predicted labels differ in their number of sentences or words")
    return list(zip(gold, predicted, strict=True))


def _count_overlapping(entities: Set[Mention], others: Set[Mention]) -> int:
    """Count the entities that share a word with another one of the same type."""
    words = {(kind, word) for start, end, kind in others for word in range(start, end)}
    return sum(any((kind, word) in words for word in range(start, end)) for start, end, kind in entities)


def _subtoken_columns(gold: Labels, predicted: Labels) -> Columns:
    """Count the entities that the predicted labels of subwords form.

    shin2020 section 5.1 labels sub-tokens separately and evaluates with CoNLL's script. Our choice: X
    continues the label before it (`pubmill.examples.tagging`). An entity is correct if its first and last
    subwords and its type are. If all later subwords are predicted X, all counts are those of whole words.
    Sentences without labels of subwords contribute nothing; if no sentence has them, no metric is defined.
    """
    sentences = [_subword_pair(*both) for both in zip(gold, predicted, strict=True)]
    labelled = [int(isinstance(labels, PredictedLabels)) for labels in predicted]
    return _prefixed("subtoken_", sentences) | {"subtoken_sentences": labelled}


_subtoken_metric = partial(
    Metric, kinds=("tokens",), tasks=("ner", "de-identification"), version=1,
    needs={"labelled_subwords": "separate"},
)  # fmt: skip
register(
    _subtoken_metric("subtoken_f1", "sub-token F1",
                     "as `entity_f1` over subwords; only of runs with `labelled_subwords: separate`",
                     "shin2020 5.1, Figure 1; the part of X is ours",
                     where_any("subtoken_sentences", f1_of("subtoken_"))),
    _subtoken_metric("subtoken_precision", "sub-token precision", "as `entity_precision` over subwords",
                     "as `subtoken_f1`", where_any("subtoken_sentences", precision_of("subtoken_"))),
    _subtoken_metric("subtoken_recall", "sub-token recall", "as `entity_recall` over subwords",
                     "as `subtoken_f1`", where_any("subtoken_sentences", recall_of("subtoken_"))),
)  # fmt: skip


def _subword_pair(gold: Sequence[str], predicted: Sequence[str]) -> Mentions:
    if not isinstance(predicted, PredictedLabels):
        return set(), set()
    subwords = predicted.subwords
    labels = [gold_subwords(label, len(pieces)) for label, pieces in zip(gold, subwords, strict=True)]
    return set(subword_mentions(labels)), set(subword_mentions(subwords))


def _word_columns(pairs: Sequence[Pair]) -> Columns:
    """Count the words of each element in BIO labels (one per word).

    gu2020 section 4.2: "For each of the PIO elements [...] we tally the F1 score at the word level, and then
    compute the final score as the average among PIO elements in the dataset". An element is a type; B and I
    are equivalent, and O has no element. `word_macro_f1` is the mean over the elements in the gold: one that
    is not predicted counts with an F1 of 0; one that occurs only in predictions does not belong to the
    dataset (its words reduce the recall of the others). Without gold elements it is not reported.

    Counts: `gold_words`, `predicted_words`, `correct_words`, for all elements of the gold together.
    """
    sentences = [
        [(_element_of_label(one), _element_of_label(other)) for one, other in zip(*labels, strict=True)]
        for labels in pairs
    ]
    return tally("word", sentences)


def _layer_columns(layers: Sequence[Mapping[str, Sequence[int]]], predicted: Labels) -> Columns:
    """Compare predicted BIO labels (one per word) with the layers from which the gold labels were made.

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
    return tally("layer", words)


def _macro_f1(family: str) -> Function:
    """Return the mean word F1 over the elements in the gold."""

    def mean(totals: Totals) -> Array:
        elements = tallies(totals, family)
        return mean_f1(elements, [np.where(one.gold > 0, 1.0, 0.0) for one in elements], totals)

    return mean


_word_metric = partial(Metric, kinds=("tokens",), tasks=("pico",), version=1)
register(
    _word_metric("word_macro_f1", "macro F1 over words",
                 "F1 over the words of each element, then the mean over elements", "gu2020 4.2",
                 _macro_f1("word"), chooses=_macro_f1("word")),
    _word_metric("layers_macro_f1", "macro F1 over words of all layers",
                 "as `word_macro_f1`, where a word can belong to several elements in the gold",
                 "gu2020 4.2, 5.2", _macro_f1("layer")),
)  # fmt: skip


def _element_of_label(label: str) -> tuple[str, ...]:
    return (label.partition("-")[2],) if label != "O" else ()
