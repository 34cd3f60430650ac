"""Scorers for texts: with one label (averages with and without the negative label, BioASQ's yes and no), any
number of labels, with a score, and with answers (per context, and of questions with an answer only)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from statistics import fmean

from pubmill.examples.kinds import MultilabelExample, RegressionExample, SequenceExample, SpanExample
from pubmill.metrics.answers import Ranked, score_answers
from pubmill.metrics.classes import score_correlation, score_label_sets
from pubmill.metrics.registry import NO_PREDICTION
from pubmill.metrics.scorers.published_scorer import (
    Average,
    PublishedScorer,
    Score,
    Tallies,
    macro,
    micro,
    of_means,
    tallies_of,
    tallies_of_sets,
    weighted,
    without,
)

Labelled = Sequence[SequenceExample]
Documents = Sequence[MultilabelExample]
Pairs = Sequence[RegressionExample]
Questions = Sequence[SpanExample]
YES, NO = "yes", "no"


def over_labels(average: Average) -> Score:
    """Return the score that averages F1 over all labels."""
    return lambda examples, predicted, _: average(_tallies(examples, predicted))


def over_positives(average: Average) -> Score:
    """Return the score that averages F1 over all labels but the negative one; defined if there is one."""

    def score(examples: Labelled, predicted: Sequence[str], negative: str | None) -> float | None:
        return average(without(negative, _tallies(examples, predicted))) if negative is not None else None

    return score


def detection_f1(examples: Labelled, predicted: Sequence[str], negative: str | None) -> float | None:
    """F1 of any label against the negative one; not defined if there is none."""
    if negative is None:
        return None
    sides = (
        (str(one.label != negative), str(label not in (negative, NO_PREDICTION)))
        for one, label in zip(examples, predicted, strict=True)
    )
    return micro(without(str(False), tallies_of(sides)))


def bioasq_f1(*labels: str) -> Score:
    """Return BioASQ's F1 of `yes` or `no`, or the mean of both; not defined if the gold has other labels.

    Every wrong answer is a fault of both labels: one that is neither counts as the other label. The F1 of a
    label that does not occur is 0.
    """

    def score(examples: Labelled, predicted: Sequence[str], _: str | None) -> float | None:
        if not {one.label for one in examples} <= {YES, NO}:
            return None
        right = Counter(label for one, label in zip(examples, predicted, strict=True) if one.label == label)
        wrong = len(examples) - right.total()
        return fmean(
            2 * right[label] / (2 * right[label] + wrong) if right[label] else 0.0 for label in labels
        )

    return score


def _tallies(examples: Labelled, predicted: Sequence[str]) -> Tallies:
    pairs = zip(examples, predicted, strict=True)
    return tallies_of_sets(({one.label}, {label} - {NO_PREDICTION}) for one, label in pairs)


LABELS = (
    PublishedScorer(
        "micro_f1_all",
        over_labels(micro),
        "F1 over all labels together, the one for nothing included; equals accuracy",
        "`micro_f1` of lewis2020's `multiclass_acc_and_f1`; the first report of BLUE's `eval_rel.py`",
    ),
    PublishedScorer(
        "macro_f1_positive",
        over_positives(macro),
        "F1 of each label but the one for nothing, then the mean",
        "ChemProt in lewis2020 Table 1, by its name; `MacroF1WithoutLastOne` of MT-BlueBERT",
    ),
    PublishedScorer(
        "weighted_f1",
        over_labels(weighted),
        "F1 of each label, then the mean weighted by the gold labels",
        "`macro_weighted_f1` of lewis2020's `multiclass_acc_and_f1`",
    ),
    PublishedScorer(
        "weighted_f1_positive",
        over_positives(weighted),
        "F1 of each label but the one for nothing, then the mean weighted by the gold labels",
        "scikit-learn's `f1_score` with `labels` and `average='weighted'`",
    ),
    PublishedScorer(
        "macro_f1_of_means",
        over_labels(of_means),
        "F1 of the mean precision and the mean recall of the labels",
        "the second macro F1 of Opitz and Burst (2019)",
    ),
    PublishedScorer(
        "macro_f1_of_means_positive",
        over_positives(of_means),
        "F1 of the mean precision and the mean recall of the labels but the one for nothing",
        "the second macro F1 of Opitz and Burst (2019)",
    ),
    PublishedScorer(
        "detection_f1",
        detection_f1,
        "F1 of any label against the one for nothing",
        "detection in the DDI shared task (SemEval-2013 task 9)",
    ),
    PublishedScorer(
        "bioasq_yes_f1",
        bioasq_f1(YES),
        "F1 of yes",
        "`F1 yes` of BioASQ's EvaluatorTask1b",
        tasks=("yes-no",),
    ),
    PublishedScorer(
        "bioasq_no_f1", bioasq_f1(NO), "F1 of no", "`F1 no` of BioASQ's EvaluatorTask1b", tasks=("yes-no",)
    ),
    PublishedScorer(
        "bioasq_macro_f1",
        bioasq_f1(YES, NO),
        "mean of the F1 of yes and that of no, 0 where one does not occur",
        "`macroF1` of BioASQ's EvaluatorTask1b",
        tasks=("yes-no",),
    ),
)


def over_examples(value: Callable[[set[str], set[str]], float]) -> Score:
    """Return the score that is the mean of a value over documents."""
    return lambda examples, predicted, _: fmean(value(*pair) for pair in _sets(examples, predicted))


def document_f1(gold: set[str], predicted: set[str]) -> float:
    """F1 of a document's labels; 0 without gold and predicted ones, as in scikit-learn."""
    return 2 * len(gold & predicted) / (len(gold) + len(predicted)) if gold | predicted else 0.0


def overlap(gold: set[str], predicted: set[str]) -> float:
    """Share of a document's gold and predicted labels that are both; 1 if it has none."""
    return len(gold & predicted) / len(gold | predicted) if gold | predicted else 1.0


def label_accuracy(examples: Documents, predicted: Sequence[Sequence[str]], negative: str | None) -> float:
    """Share of right decisions, one for each document and each label of the gold or the predictions."""
    pairs = list(_sets(examples, predicted))
    labels = {label for pair in pairs for one in pair for label in one}
    wrong = sum(len(gold ^ guessed) for gold, guessed in pairs)
    return 1 - wrong / (len(labels) * len(pairs)) if labels else 1.0


def labelled_f1(
    examples: Documents, predicted: Sequence[Sequence[str]], negative: str | None
) -> float | None:
    """BLUE's F1 over the documents that have a gold label; not defined if all or none have one."""
    kept = [(one.labels, labels) for one, labels in zip(examples, predicted, strict=True) if one.labels]
    if not kept or len(kept) == len(examples):
        return None
    return score_label_sets(*zip(*kept, strict=True)).metrics["example_f1"]


def _sets(examples: Documents, predicted: Sequence[Sequence[str]]) -> Iterator[tuple[set[str], set[str]]]:
    for one, labels in zip(examples, predicted, strict=True):
        yield set(one.labels), set(labels)


LABEL_SETS = (
    PublishedScorer(
        "example_f1_labelled",
        labelled_f1,
        "as `example_f1`, without the documents that have no gold label",
        "BLUE's `eval_hoc.py` on its split, which leaves them out",
    ),
    PublishedScorer(
        "example_f1_mean",
        over_examples(document_f1),
        "F1 of each document, then the mean",
        "scikit-learn's `f1_score` with `average='samples'`",
    ),
    PublishedScorer(
        "example_overlap",
        over_examples(overlap),
        "share of a document's gold and predicted labels that are both, then the mean",
        "`acc` of BLUE's and lewis2020's function for HoC; 1 for a document without labels is ours",
    ),
    PublishedScorer(
        "exact_label_sets",
        over_examples(lambda gold, predicted: float(gold == predicted)),
        "share of documents whose labels are all right",
        "scikit-learn's `accuracy_score`",
    ),
    PublishedScorer(
        "label_accuracy",
        label_accuracy,
        "accuracy of each label over documents, then the mean over labels",
        "`eval_accuracy` of BlueBERT's `run_bluebert_multi_labels.py`",
    ),
    PublishedScorer(
        "weighted_f1_labels",
        lambda examples, predicted, _: weighted(tallies_of_sets(_sets(examples, predicted))),
        "F1 of each label, then the mean weighted by the gold labels",
        "scikit-learn's `f1_score` with `average='weighted'`",
    ),
)


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, the smallest having 1; equal values have their mean rank."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(place)
    return [sum(places[value]) / len(places[value]) for value in values]


def spearman(examples: Pairs, predicted: Sequence[float], negative: str | None) -> float | None:
    """Spearman's correlation, which is Pearson's of ranks."""
    gold = [one.score for one in examples]
    return score_correlation(ranks(gold), ranks(predicted)).metrics.get("pearson")


def mean_correlation(examples: Pairs, predicted: Sequence[float], negative: str | None) -> float | None:
    """Mean of Pearson's and Spearman's correlation."""
    pearson = score_correlation([one.score for one in examples], predicted).metrics.get("pearson")
    other = spearman(examples, predicted, negative)
    return None if pearson is None or other is None else (pearson + other) / 2


CORRELATIONS = (
    PublishedScorer(
        "spearman",
        spearman,
        "Spearman's correlation with the experts' scores",
        "`pearson_and_spearman` of lewis2020's code",
    ),
    PublishedScorer(
        "pearson_spearman_mean",
        mean_correlation,
        "mean of Pearson's and Spearman's correlation",
        "`corr` of GLUE's `pearson_and_spearman`",
    ),
)


def each_context(name: str) -> Score:
    """Return a metric of answers where each context is a question of its own."""

    def score(examples: Questions, predicted: Sequence[Ranked], _: str | None) -> float | None:
        if all(one.group is None for one in examples):
            return None
        return score_answers([replace(one, group=None) for one in examples], predicted).metrics.get(name)

    return score


def answerable(name: str) -> Score:
    """Return a metric over the questions with a gold answer; not defined if all or none have one."""

    def score(examples: Questions, predicted: Sequence[Ranked], _: str | None) -> float | None:
        known = {one.group or one.id for one in examples if one.golds or one.answers}
        are_kept = [(one.group or one.id) in known for one in examples]
        if all(are_kept) or not any(are_kept):
            return None
        kept, answers = list(compress(examples, are_kept)), list(compress(predicted, are_kept))
        return score_answers(kept, answers).metrics.get(name)

    return score


ANSWERS = (
    PublishedScorer(
        "exact_match_contexts",
        each_context("exact_match"),
        "as `exact_match`, each context being a question",
        "SQuAD's script on BioASQ's snippets",
    ),
    PublishedScorer(
        "f1_contexts",
        each_context("f1"),
        "as `f1`, each context being a question",
        "SQuAD's script on BioASQ's snippets",
    ),
    PublishedScorer(
        "exact_match_answerable",
        answerable("exact_match"),
        "as `exact_match`, of the questions with an answer",
        "`HasAns_exact` of SQuAD's script, 2.0",
    ),
    PublishedScorer(
        "f1_answerable",
        answerable("f1"),
        "as `f1`, of the questions with an answer",
        "`HasAns_f1` of SQuAD's script, 2.0",
    ),
)
