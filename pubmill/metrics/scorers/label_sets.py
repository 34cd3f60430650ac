"""Scorers for documents with any number of labels (HoC)."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import fmean

from pubmill.examples.kinds import MultilabelExample
from pubmill.metrics.classes import score_label_sets
from pubmill.metrics.scorers.averages import tallies_of_sets, weighted
from pubmill.metrics.scorers.published_scorer import PublishedScorer, Score

Examples = Sequence[MultilabelExample]
Sets = tuple[set[str], set[str]]
"""The gold and the predicted labels of a document."""


def over_examples(value: Callable[[set[str], set[str]], float]) -> Score:
    """Return the score that is the mean of a value over documents."""
    return lambda examples, predicted, _: fmean(value(*pair) for pair in _sets(examples, predicted))


def document_f1(gold: set[str], predicted: set[str]) -> float:
    """F1 of a document's labels; 0 without gold and predicted ones, as in scikit-learn."""
    return 2 * len(gold & predicted) / (len(gold) + len(predicted)) if gold | predicted else 0.0


def overlap(gold: set[str], predicted: set[str]) -> float:
    """Share of a document's gold and predicted labels that are both; 1 if it has none."""
    return len(gold & predicted) / len(gold | predicted) if gold | predicted else 1.0


def label_accuracy(examples: Examples, predicted: Sequence[Sequence[str]], negative: str | None) -> float:
    """Share of right decisions, one for each document and each label of the gold or the predictions."""
    pairs = list(_sets(examples, predicted))
    labels = {label for pair in pairs for one in pair for label in one}
    wrong = sum(len(gold ^ guessed) for gold, guessed in pairs)
    return 1 - wrong / (len(labels) * len(pairs)) if labels else 1.0


def labelled_f1(examples: Examples, predicted: Sequence[Sequence[str]], negative: str | None) -> float | None:
    """BLUE's F1 over the documents that have a gold label; not defined if all or none have one."""
    kept = [(one.labels, labels) for one, labels in zip(examples, predicted, strict=True) if one.labels]
    if not kept or len(kept) == len(examples):
        return None
    return score_label_sets([gold for gold, _ in kept], [labels for _, labels in kept]).metrics["example_f1"]


def _sets(examples: Examples, predicted: Sequence[Sequence[str]]) -> Iterator[Sets]:
    for one, labels in zip(examples, predicted, strict=True):
        yield set(one.labels), set(labels)


def _weighted(examples: Examples, predicted: Sequence[Sequence[str]], _: str | None) -> float | None:
    return weighted(tallies_of_sets(_sets(examples, predicted)))


_scorer = partial(PublishedScorer, kinds=("multilabel",))


LABEL_SETS = (
    _scorer(
        "example_f1_labelled",
        labelled_f1,
        "as `example_f1`, without the documents that have no gold label",
        "BLUE's `eval_hoc.py` on its split, which leaves them out",
    ),
    _scorer(
        "example_f1_mean",
        over_examples(document_f1),
        "F1 of each document, then the mean",
        "scikit-learn's `f1_score` with `average='samples'`",
    ),
    _scorer(
        "example_overlap",
        over_examples(overlap),
        "share of a document's gold and predicted labels that are both, then the mean",
        "`acc` of BLUE's and lewis2020's function for HoC; 1 for a document without labels is ours",
    ),
    _scorer(
        "exact_label_sets",
        over_examples(lambda gold, predicted: float(gold == predicted)),
        "share of documents whose labels are all right",
        "scikit-learn's `accuracy_score`",
    ),
    _scorer(
        "label_accuracy",
        label_accuracy,
        "accuracy of each label over documents, then the mean over labels",
        "`eval_accuracy` of BlueBERT's `run_bluebert_multi_labels.py`",
    ),
    _scorer(
        "weighted_f1_labels",
        _weighted,
        "F1 of each label, then the mean weighted by the gold labels",
        "scikit-learn's `f1_score` with `average='weighted'`",
    ),
)
