"""Scorers for labelled words, entity by entity: how labels are read, what counts as equal, how it is
averaged."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from statistics import fmean

from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import Mention, to_mentions
from pubmill.metrics.entities import score_relaxed
from pubmill.metrics.scorers.averages import Average, macro, weighted
from pubmill.metrics.scorers.published_scorer import PublishedScorer, Score
from pubmill.metrics.training_overlap import Counts, total

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


def untyped_mentions(labels: Labels) -> list[Mention]:
    """Return the mentions of labels without their types."""
    return to_mentions(untyped(labels))


def beginnings(labels: Labels) -> list[Mention]:
    """Return the first word of each mention."""
    return [(start, start + 1, kind) for start, _, kind in to_mentions(labels)]


def ends(labels: Labels) -> list[Mention]:
    """Return the last word of each mention."""
    return [(end - 1, end, kind) for _, end, kind in to_mentions(labels)]


def pairs_of(examples: Examples, predictions: Sequence[Labels]) -> list[Pair]:
    """Return the gold and the predicted labels of each sentence."""
    return [(one.labels, labels) for one, labels in zip(examples, predictions, strict=True)]


def exact_f1(reading: Reading) -> Score:
    """Return the score that compares the mentions of a reading."""
    return lambda examples, predictions, _: entity_counts(reading, pairs_of(examples, predictions)).f1


def entity_counts(reading: Reading, pairs: Iterable[Pair]) -> Counts:
    """Count the mentions of sentences."""
    return total(_counts(set(reading(gold)), set(reading(predicted))) for gold, predicted in pairs)


def _counts(gold: set[Mention], predicted: set[Mention]) -> Counts:
    return Counts(len(gold), len(predicted), len(gold & predicted))


def over_types(average: Average) -> Score:
    """Return the score that averages the F1 of the types."""

    def score(examples: Examples, predictions: Sequence[Labels], _: str | None) -> float | None:
        sets = [
            (set(to_mentions(gold)), set(to_mentions(predicted)))
            for gold, predicted in pairs_of(examples, predictions)
        ]
        types = sorted({kind for pair in sets for one in pair for _, _, kind in one})
        return average(
            {
                kind: total(_counts(*({m for m in one if m[2] == kind} for one in pair)) for pair in sets)
                for kind in types
            }
        )

    return score


def over_documents(
    examples: Examples, predictions: Sequence[Labels], negative: str | None = None
) -> float | None:
    """Mean of the documents' F1, of those with gold or predicted entities; not defined if the source does
    not mark documents."""
    documents: dict[str, list[Pair]] = {}
    for example, pair in zip(examples, pairs_of(examples, predictions), strict=True):
        if example.document is None:
            return None
        documents.setdefault(example.document, []).append(pair)
    counts = [entity_counts(to_mentions, pairs) for pairs in documents.values()]
    scores = [one.f1 for one in counts if one.gold or one.predicted]
    return fmean(scores) if scores else None


def relaxed_untyped(
    examples: Examples, predictions: Sequence[Labels], negative: str | None = None
) -> float | None:
    """F1 over mentions without types that overlap one."""
    gold = [untyped(one.labels) for one in examples]
    return score_relaxed(gold, list(map(untyped, predictions))).metrics.get("relaxed_f1")


_scorer = partial(PublishedScorer, kinds=("tokens",))


ENTITIES = (
    _scorer(
        "entity_f1_untyped",
        exact_f1(untyped_mentions),
        "as `entity_f1`, with the types removed from all labels",
        "BioBERT's `ner_detokenize.py`; JNLPBA of BLURB (gu2020 4.1)",
    ),
    _scorer(
        "entity_f1_strict_iob2",
        exact_f1(strict_mentions),
        "as `entity_f1`, but an I that continues no mention is ignored instead of beginning one",
        "seqeval with `mode='strict', scheme=IOB2`",
    ),
    _scorer(
        "entity_f1_runs",
        exact_f1(runs),
        "as `entity_f1`, but neighbouring mentions of a type are one",
        "tagging IO (gu2020 5.2)",
    ),
    _scorer(
        "entity_f1_macro",
        over_types(macro),
        "F1 of each type over mentions, then the mean over types",
        "seqeval with `average='macro'`; LinkBERT's `run_ner.py --return_macro_metrics`",
    ),
    _scorer(
        "entity_f1_weighted",
        over_types(weighted),
        "F1 of each type over mentions, then the mean weighted by the types' gold mentions",
        "seqeval with `average='weighted'`",
    ),
    _scorer(
        "entity_f1_documents",
        over_documents,
        "F1 of each document over mentions, then the mean over documents with any",
        "the macro-average of BioCreative's evaluation",
    ),
    _scorer(
        "relaxed_f1_untyped",
        relaxed_untyped,
        "F1 over mentions that overlap one of any type",
        "as `relaxed_f1`, without types",
    ),
    _scorer(
        "entity_f1_left",
        exact_f1(beginnings),
        "F1 over mentions whose first word and type are right",
        "left boundary match of the JNLPBA shared task",
    ),
    _scorer(
        "entity_f1_right",
        exact_f1(ends),
        "F1 over mentions whose last word and type are right",
        "right boundary match of the JNLPBA shared task",
    ),
)
