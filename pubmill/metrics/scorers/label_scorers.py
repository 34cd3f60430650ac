"""Scorers for examples with one label: averages with and without the negative label, BioASQ's yes and
no."""

from collections.abc import Callable, Sequence
from functools import partial

from pubmill.examples.kinds import SequenceExample
from pubmill.metrics.scorers.averages import (
    Average,
    Tallies,
    macro,
    micro,
    of_means,
    tallies_of,
    weighted,
    without,
)
from pubmill.metrics.scorers.published_scorer import PublishedScorer, Score

Examples = Sequence[SequenceExample]
POSITIVE, NEGATIVE = "positive", "negative"
YES, NO = "yes", "no"


def over_labels(average: Average) -> Score:
    """Return the score that averages F1 over all labels."""
    return lambda examples, predicted, _: average(_tallies(examples, predicted))


def over_positives(average: Average) -> Score:
    """Return the score that averages F1 over all labels but the negative one; not defined if there is
    none."""

    def score(examples: Examples, predicted: Sequence[str], negative: str | None) -> float | None:
        return average(without(negative, _tallies(examples, predicted))) if negative is not None else None

    return score


def detection_f1(examples: Examples, predicted: Sequence[str], negative: str | None) -> float | None:
    """F1 of any label against the negative one; not defined if there is none."""
    if negative is None:
        return None
    sides = (
        (_side(one.label, negative), _side(label, negative))
        for one, label in zip(examples, predicted, strict=True)
    )
    return micro(without(NEGATIVE, tallies_of(sides)))


def bioasq_f1(label: str) -> Score:
    """Return BioASQ's F1 of `yes` or `no`; not defined if the gold has other labels."""
    return _if_yes_or_no(lambda tallies, wrong: _bioasq_f1(tallies, wrong, label))


def bioasq_macro_f1(tallies: Tallies, wrong: int) -> float:
    """Mean of BioASQ's two F1, each of which is 0 where its label does not occur."""
    return (_bioasq_f1(tallies, wrong, YES) + _bioasq_f1(tallies, wrong, NO)) / 2


def _bioasq_f1(tallies: Tallies, wrong: int, label: str) -> float:
    """F1 of a label, where every wrong answer is a fault of both labels: an answer that is neither counts
    as the other label."""
    right = tallies[label].correct if label in tallies else 0
    return 2 * right / (2 * right + wrong) if right else 0.0


def _if_yes_or_no(score_of: Callable[[Tallies, int], float]) -> Score:
    def score(examples: Examples, predicted: Sequence[str], _: str | None) -> float | None:
        if not {one.label for one in examples} <= {YES, NO}:
            return None
        wrong = sum(one.label != label for one, label in zip(examples, predicted, strict=True))
        return score_of(_tallies(examples, predicted), wrong)

    return score


def _tallies(examples: Examples, predicted: Sequence[str]) -> Tallies:
    return tallies_of(zip((one.label for one in examples), predicted, strict=True))


def _side(label: str, negative: str) -> str:
    return NEGATIVE if label == negative else POSITIVE


_scorer = partial(PublishedScorer, kinds=("sequence",))

LABELS = (
    _scorer(
        "micro_f1_all",
        over_labels(micro),
        "F1 over all labels together, the one for nothing included; equals accuracy",
        "`micro_f1` of lewis2020's `multiclass_acc_and_f1`; the first report of BLUE's `eval_rel.py`",
    ),
    _scorer(
        "macro_f1_positive",
        over_positives(macro),
        "F1 of each label but the one for nothing, then the mean",
        "ChemProt in lewis2020 Table 1, by its name; `MacroF1WithoutLastOne` of MT-BlueBERT",
    ),
    _scorer(
        "weighted_f1",
        over_labels(weighted),
        "F1 of each label, then the mean weighted by the gold labels",
        "`macro_weighted_f1` of lewis2020's `multiclass_acc_and_f1`",
    ),
    _scorer(
        "weighted_f1_positive",
        over_positives(weighted),
        "F1 of each label but the one for nothing, then the mean weighted by the gold labels",
        "scikit-learn's `f1_score` with `labels` and `average='weighted'`",
    ),
    _scorer(
        "macro_f1_of_means",
        over_labels(of_means),
        "F1 of the mean precision and the mean recall of the labels",
        "the second macro F1 of Opitz and Burst (2019)",
    ),
    _scorer(
        "macro_f1_of_means_positive",
        over_positives(of_means),
        "F1 of the mean precision and the mean recall of the labels but the one for nothing",
        "the second macro F1 of Opitz and Burst (2019)",
    ),
    _scorer(
        "detection_f1",
        detection_f1,
        "F1 of any label against the one for nothing",
        "detection in the DDI shared task (SemEval-2013 task 9)",
    ),
    _scorer(
        "bioasq_yes_f1",
        bioasq_f1(YES),
        "F1 of yes",
        "`F1 yes` of BioASQ's EvaluatorTask1b",
        tasks=("yes-no",),
    ),
    _scorer(
        "bioasq_no_f1", bioasq_f1(NO), "F1 of no", "`F1 no` of BioASQ's EvaluatorTask1b", tasks=("yes-no",)
    ),
    _scorer(
        "bioasq_macro_f1",
        _if_yes_or_no(bioasq_macro_f1),
        "mean of the F1 of yes and that of no, 0 where one does not occur",
        "`macroF1` of BioASQ's EvaluatorTask1b",
        tasks=("yes-no",),
    ),
)
