"""Scorers for labelled words: entity by entity, word by word, and for the words of a limited input (what is
behind the limit, and labels of subwords)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean

from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import (
    CONTINUATION,
    OUTSIDE,
    Mention,
    PredictedLabels,
    gold_beside,
    gold_subwords,
    to_mentions,
)
from pubmill.metrics.entities import score_relaxed
from pubmill.metrics.scorers.published_scorer import (
    Average,
    Counts,
    PublishedScorer,
    Score,
    macro,
    micro,
    tallies_of,
    total,
    weighted,
    without,
)

Labels = Sequence[str]
Examples = Sequence[TokensExample]
Pair = tuple[Labels, Labels]
"""The gold and the predicted labels of a sentence."""
Reading = Callable[[Labels], Iterable[Mention]]
"""Function from the labels of a sentence to its mentions."""


def strict_mentions(labels: Labels) -> list[Mention]:
    """Return the mentions that begin with B; an I that continues none is ignored, as in seqeval's mode
    `strict` with the scheme IOB2."""
    return [mention for mention in to_mentions(labels) if labels[mention[0]].startswith("B")]


def runs(labels: Labels) -> list[Mention]:
    """Return runs of words with one type as mentions, so that neighbouring mentions of a type are one."""
    return to_mentions([label.replace("B", "I", 1) if label[:1] == "B" else label for label in labels])


def untyped(labels: Labels) -> list[str]:
    """Return labels without their types."""
    return [label.partition("-")[0] for label in labels]


def pairs_of(examples: Examples, predictions: Sequence[Labels]) -> list[Pair]:
    """Return the gold and the predicted labels of each sentence."""
    pairs = zip(examples, predictions, strict=True)
    return [(gold_beside(one.labels, labels), labels) for one, labels in pairs]


def exact_f1(reading: Reading) -> Score:
    """Return the scorer that computes F1 over the mentions that `reading` finds in the labels."""
    return lambda examples, predictions, _: entity_counts(reading, pairs_of(examples, predictions)).f1


def entity_counts(reading: Reading, pairs: Iterable[Pair]) -> Counts:
    """Count the mentions of sentences."""
    return total(_counts(set(reading(gold)), set(reading(predicted))) for gold, predicted in pairs)


def _counts(gold: set[Mention], predicted: set[Mention]) -> Counts:
    return Counts(len(gold), len(predicted), len(gold & predicted))


def over_types(average: Average) -> Score:
    """Return the score that averages the F1 of the types."""

    def score(examples: Examples, predictions: Sequence[Labels], _: str | None) -> float | None:
        pairs = pairs_of(examples, predictions)
        sets = [[set(to_mentions(labels)) for labels in pair] for pair in pairs]
        types = sorted({kind for pair in sets for one in pair for _, _, kind in one})
        of_type = {
            kind: total(_counts(*({m for m in one if m[2] == kind} for one in pair)) for pair in sets)
            for kind in types
        }
        return average(of_type)

    return score


def over_documents(examples: Examples, predictions: Sequence[Labels], negative: str | None) -> float | None:
    """Mean F1 of the documents with gold or predicted entities; None if a sentence names no document."""
    documents: dict[str, list[Pair]] = {}
    for example, pair in zip(examples, pairs_of(examples, predictions), strict=True):
        if example.document is None:
            return None
        documents.setdefault(example.document, []).append(pair)
    counts = [entity_counts(to_mentions, pairs) for pairs in documents.values()]
    scores = [one.f1 for one in counts if one.gold or one.predicted]
    return fmean(scores) if scores else None


def relaxed_untyped(examples: Examples, predictions: Sequence[Labels], negative: str | None) -> float | None:
    """F1 over mentions that overlap a mention of the other side, whatever their types."""
    pairs = pairs_of(examples, predictions)
    gold, predicted = ([untyped(pair[side]) for pair in pairs] for side in (0, 1))
    return score_relaxed(gold, predicted).metrics.get("relaxed_f1")


ENTITIES = (
    PublishedScorer(
        "entity_f1_untyped",
        exact_f1(lambda labels: to_mentions(untyped(labels))),
        "as `entity_f1`, with the types removed from all labels",
        "BioBERT's `ner_detokenize.py`; JNLPBA of BLURB (gu2020 4.1)",
    ),
    PublishedScorer(
        "entity_f1_strict_iob2",
        exact_f1(strict_mentions),
        "as `entity_f1`, but an I that continues no mention is ignored instead of beginning one",
        "seqeval with `mode='strict', scheme=IOB2`",
    ),
    PublishedScorer(
        "entity_f1_runs",
        exact_f1(runs),
        "as `entity_f1`, but neighbouring mentions of a type are one",
        "tagging IO (gu2020 5.2)",
    ),
    PublishedScorer(
        "entity_f1_macro",
        over_types(macro),
        "F1 of each type over mentions, then the mean over types",
        "seqeval with `average='macro'`; LinkBERT's `run_ner.py --return_macro_metrics`",
    ),
    PublishedScorer(
        "entity_f1_weighted",
        over_types(weighted),
        "F1 of each type over mentions, then the mean weighted by the types' gold mentions",
        "seqeval with `average='weighted'`",
    ),
    PublishedScorer(
        "entity_f1_documents",
        over_documents,
        "F1 of each document over mentions, then the mean over documents with any",
        "the macro-average of BioCreative's evaluation",
    ),
    PublishedScorer(
        "relaxed_f1_untyped",
        relaxed_untyped,
        "F1 over mentions that overlap one of any type",
        "as `relaxed_f1`, without types",
    ),
    PublishedScorer(
        "entity_f1_left",
        exact_f1(lambda labels: [(start, start + 1, kind) for start, _, kind in to_mentions(labels)]),
        "F1 over mentions whose first word and type are right",
        "left boundary match of the JNLPBA shared task",
    ),
    PublishedScorer(
        "entity_f1_right",
        exact_f1(lambda labels: [(end - 1, end, kind) for _, end, kind in to_mentions(labels)]),
        "F1 over mentions whose last word and type are right",
        "right boundary match of the JNLPBA shared task",
    ),
)


Read = Callable[[str], str]
AVERAGES: dict[str, tuple[Average, str]] = {
    "micro": (micro, "all together"),
    "macro": (macro, "then the mean"),
    "weighted": (weighted, "then the mean weighted by their gold words"),
}
"""Name of an average -> its function, and what it does."""
USED = {
    "word_types_macro": "LinkBERT's `preprocess_blurb.py` (all labels B) with `--return_macro_metrics`",
    "word_labels_micro_o": "seqeval's `accuracy_score`; the accuracy that conlleval prints",
    "word_labels_macro": "`eval_f` of BioBERT's and BlueBERT's `run_ner.py`, there over subwords",
    "word_labels_macro_o": "`avg_f1` of SciBERT's `pico_crf_tagger.py`, over its labels",
}
ELSEWHERE = "scikit-learn's `f1_score` over words"


def type_of(label: str) -> str:
    """Return the type of a word's label: the same for B and I; O is a type."""
    prefix, _, kind = label.partition("-")
    return OUTSIDE if prefix == OUTSIDE else f"I-{kind}"


def word_score(read: Read, average: Average, left_out: str | None) -> Score:
    """Return the scorer that averages F1 over the classes that `read` makes of word labels."""

    def score(examples: Examples, predictions: Sequence[Labels], _: str | None) -> float | None:
        pairs = (
            (read(one), read(other))
            for gold, predicted in pairs_of(examples, predictions)
            for one, other in zip(gold, predicted, strict=True)
        )
        return average(without(left_out, tallies_of(pairs)))

    return score


def _word_scorers() -> Iterator[PublishedScorer]:
    """Yield a scorer for each reading, average, and treatment of O."""
    for reading, read, read_as in (
        ("types", type_of, "the type of single words"),
        ("labels", str, "the label of single words, B and I being different"),
    ):
        for average, (function, how) in AVERAGES.items():
            for ending, left_out, o in (("", OUTSIDE, "without O"), ("_o", None, "O being one of them")):
                name = f"word_{reading}_{average}{ending}"
                yield PublishedScorer(
                    name=name,
                    score=word_score(read, function, left_out),
                    definition=f"F1 over {read_as}, {o}, {how}",
                    used=USED.get(name, ELSEWHERE),
                )


WORDS = tuple(_word_scorers())


LENGTHS = (128, 256, 512)
SPECIAL = 2
"""Places of an input for [CLS] and [SEP]."""
SUBWORD_TASKS = ("ner", "de-identification")


def words_within(length: int, predicted: Labels) -> int:
    """Return the number of words whose first piece is among the first `length` pieces of an input. A word has
    as many pieces as the prediction labels, or one if it labels words only."""
    if not isinstance(predicted, PredictedLabels):
        return min(len(predicted), length - SPECIAL)
    place, kept = 0, 0
    for subwords in predicted.subwords:
        if place >= length - SPECIAL:
            break
        place, kept = place + len(subwords), kept + 1
    return kept


def missed(gold: Labels, predicted: Labels, words: int) -> Pair:
    """Predict O for the words behind the limit."""
    return gold, [*predicted[:words], *[OUTSIDE] * (len(gold) - words)]


def limited_f1(change: Callable[[Labels, Labels, int], Pair], length: int) -> Score:
    """Return the scorer for inputs cut after `length` pieces; `change`: what becomes of later words."""

    def score(examples: Examples, predictions: Sequence[Labels], _: str | None) -> float | None:
        pairs = pairs_of(examples, predictions)
        limited = (change(gold, labels, words_within(length, labels)) for gold, labels in pairs)
        return entity_counts(to_mentions, limited).f1

    return score


def _length_scorers(length: int) -> tuple[PublishedScorer, PublishedScorer]:
    limit = f"behind {length} pieces of an input, [CLS] and [SEP] included"
    return (
        PublishedScorer(
            name=f"entity_f1_cut_at_{length}",
            score=limited_f1(lambda gold, predicted, words: (gold[:words], predicted[:words]), length),
            definition=f"as `entity_f1`, without the words {limit}, gold and predicted",
            used="transformers' `run_ner.py`",
        ),
        PublishedScorer(
            name=f"entity_f1_missed_after_{length}",
            score=limited_f1(missed, length),
            definition=f"as `entity_f1`, with O predicted for words {limit}",
            used="BioBERT's `ner_detokenize.py`",
        ),
    )


def subword_pairs(
    gold: Callable[[str, int], Iterable[str]],
    predicted: Callable[[Labels], Iterable[str]],
    examples: Examples,
    predictions: Sequence[Labels],
) -> list[Pair]:
    """Return the gold and predicted labels of the subwords of each sentence that has predicted ones."""
    pairs: list[Pair] = []
    for own, labels in pairs_of(examples, predictions):
        if isinstance(labels, PredictedLabels):
            words = zip(own, labels.subwords, strict=True)
            true = [one for word, pieces in words for one in gold(word, len(pieces))]
            pairs.append((true, [one for pieces in labels.subwords for one in predicted(pieces)]))
    return pairs


def repeated(subwords: Labels) -> list[str]:
    """Return the labels of a word's subwords, where X repeats the label before it."""
    labels: list[str] = []
    for label in subwords:
        labels.append(label if label != CONTINUATION else labels[-1] if labels else OUTSIDE)
    return labels


def repeated_subwords_f1(
    examples: Examples, predictions: Sequence[Labels], negative: str | None
) -> float | None:
    """Entity F1 over subwords, where all subwords of a gold word have its label."""
    pairs = subword_pairs(lambda label, count: [label] * count, repeated, examples, predictions)
    return entity_counts(to_mentions, pairs).f1 if pairs else None


def subword_labels_macro(
    examples: Examples, predictions: Sequence[Labels], negative: str | None
) -> float | None:
    """Mean F1 of the labels of subwords but O and X."""
    pairs = subword_pairs(gold_subwords, lambda labels: labels, examples, predictions)
    tallies = tallies_of(both for gold, predicted in pairs for both in zip(gold, predicted, strict=True))
    return macro(without(OUTSIDE, without(CONTINUATION, tallies)))


LIMITED = (
    *(scorer for length in LENGTHS for scorer in _length_scorers(length)),
    PublishedScorer(
        name="repeated_subwords_f1",
        tasks=SUBWORD_TASKS,
        score=repeated_subwords_f1,
        definition="as `entity_f1` over subwords, where all subwords of a gold word have its label, so that "
        "each one of a B begins an entity; only if subwords are labelled",
        used="transformers' and LinkBERT's `run_ner.py --label_all_tokens`",
    ),
    PublishedScorer(
        name="subword_labels_macro",
        tasks=SUBWORD_TASKS,
        score=subword_labels_macro,
        definition="F1 over each label of single subwords but O and X, then the mean; only if subwords are "
        "labelled",
        used="`eval_f` of BioBERT's and BlueBERT's `run_ner.py`",
    ),
)
