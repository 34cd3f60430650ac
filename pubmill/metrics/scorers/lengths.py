"""Scorers for labelled words that come from a limited input: what is behind the limit, and labels of
subwords."""

from collections.abc import Callable, Iterable, Sequence

from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import CONTINUATION, OUTSIDE, PredictedLabels, gold_subwords, to_mentions
from pubmill.metrics.scorers.averages import macro, tallies_of, without
from pubmill.metrics.scorers.entity_scorers import Labels, Pair, entity_counts
from pubmill.metrics.scorers.published_scorer import PublishedScorer, Score

LENGTHS = (128, 256, 512)
SPECIAL = 2
"""Places of an input for [CLS] and [SEP]."""
SUBWORD_TASKS = ("ner", "de-identification")


def words_within(length: int, predicted: Labels) -> int:
    """Return the number of words whose first piece is among the first `length` pieces of an input.

    A word has as many pieces as the prediction labels, or one if it labels words only.
    """
    if not isinstance(predicted, PredictedLabels):
        return min(len(predicted), length - SPECIAL)
    place, kept = 0, 0
    for subwords in predicted.subwords:
        if place >= length - SPECIAL:
            break
        place, kept = place + len(subwords), kept + 1
    return kept


def cut(gold: Labels, predicted: Labels, words: int) -> Pair:
    """Leave out the words behind the limit."""
    return gold[:words], predicted[:words]


def missed(gold: Labels, predicted: Labels, words: int) -> Pair:
    """Predict O for the words behind the limit."""
    return gold, [*predicted[:words], *[OUTSIDE] * (len(gold) - words)]


def limited_f1(change: Callable[[Labels, Labels, int], Pair], length: int) -> Score:
    """Return the score of sentences whose input ends at a length."""

    def score(
        examples: Sequence[TokensExample], predictions: Sequence[Labels], _: str | None
    ) -> float | None:
        pairs = (
            change(one.labels, labels, words_within(length, labels))
            for one, labels in zip(examples, predictions, strict=True)
        )
        return entity_counts(to_mentions, pairs).f1

    return score


def _length_scorers(length: int) -> tuple[PublishedScorer, PublishedScorer]:
    """Return both scorers for an input of a length."""
    limit = f"behind {length} pieces of an input, [CLS] and [SEP] included"
    return (
        PublishedScorer(
            name=f"entity_f1_cut_at_{length}",
            kinds=("tokens",),
            score=limited_f1(cut, length),
            definition=f"as `entity_f1`, without the words {limit}, gold and predicted",
            used="lewis2020's `run_sequence_labelling.py`; transformers' `run_ner.py`",
        ),
        PublishedScorer(
            name=f"entity_f1_missed_after_{length}",
            kinds=("tokens",),
            score=limited_f1(missed, length),
            definition=f"as `entity_f1`, with O predicted for words {limit}",
            used="BioBERT's `ner_detokenize.py`",
        ),
    )


def subword_pairs(
    gold: Callable[[str, int], Iterable[str]],
    predicted: Callable[[Labels], Iterable[str]],
    examples: Sequence[TokensExample],
    predictions: Sequence[Labels],
) -> list[Pair]:
    """Return the gold and predicted labels of the subwords of each sentence that has predicted ones."""
    return [
        (
            [
                label
                for word, pieces in zip(one.labels, labels.subwords, strict=True)
                for label in gold(word, len(pieces))
            ],
            [label for pieces in labels.subwords for label in predicted(pieces)],
        )
        for one, labels in zip(examples, predictions, strict=True)
        if isinstance(labels, PredictedLabels)
    ]


def repeated(subwords: Labels) -> list[str]:
    """Return the labels of a word's subwords, where X repeats the label before it."""
    labels: list[str] = []
    for label in subwords:
        labels.append(label if label != CONTINUATION else labels[-1] if labels else OUTSIDE)
    return labels


def repeated_subwords_f1(
    examples: Sequence[TokensExample], predictions: Sequence[Labels], negative: str | None = None
) -> float | None:
    """Entity F1 over subwords, where all subwords of a gold word have its label."""
    pairs = subword_pairs(lambda label, count: [label] * count, repeated, examples, predictions)
    return entity_counts(to_mentions, pairs).f1 if pairs else None


def subword_labels_macro(
    examples: Sequence[TokensExample], predictions: Sequence[Labels], negative: str | None = None
) -> float | None:
    """Mean F1 of the labels of subwords but O and X."""
    pairs = subword_pairs(gold_subwords, lambda labels: labels, examples, predictions)
    tallies = tallies_of(both for gold, predicted in pairs for both in zip(gold, predicted, strict=True))
    return macro(without(OUTSIDE, without(CONTINUATION, tallies)))


LIMITED = (
    *(scorer for length in LENGTHS for scorer in _length_scorers(length)),
    PublishedScorer(
        name="repeated_subwords_f1",
        kinds=("tokens",),
        tasks=SUBWORD_TASKS,
        score=repeated_subwords_f1,
        definition="as `entity_f1` over subwords, where all subwords of a gold word have its label, so that "
        "each one of a B begins an entity; only if subwords are labelled",
        used="transformers' and LinkBERT's `run_ner.py --label_all_tokens`",
    ),
    PublishedScorer(
        name="subword_labels_macro",
        kinds=("tokens",),
        tasks=SUBWORD_TASKS,
        score=subword_labels_macro,
        definition="F1 over each label of single subwords but O and X, then the mean; only if subwords are "
        "labelled",
        used="`eval_f` of BioBERT's and BlueBERT's `run_ner.py`",
    ),
)
