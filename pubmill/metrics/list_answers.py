"""BioASQ's measures of list questions: precision, recall and F1 of each question, then their means.

They are those of BioASQ/Evaluation-Measures@8c8e689 (`calculatePRFforListQuestions`, `listPrecision`,
`listRecall`, `listF1`), with answers as dmis-lab/bioasq-biobert@1bfb1ca submits them.
"""

from collections.abc import Sequence

import numpy as np

from pubmill.metrics.contributions import Array, Totals
from pubmill.metrics.ratios import quotient
from pubmill.metrics.registry import Function, Metric, register

THRESHOLD = 0.42
"""Probability above which an answer is in the list (`--threshold` of biocodes/transform_n2b_list.py)."""
MEASURES = ("list_precision", "list_recall", "list_f1")


def submitted_list(answers: Sequence[tuple[str, float]]) -> list[str]:
    """Return the answers to a list question, in lower case: those whose probabilities, summed over all
    contexts, are above `THRESHOLD`, or else the most probable one.

    The program's further rules, by punctuation and by numbers in the question, are not applied.
    """
    sums: dict[str, float] = {}
    for text, probability in answers:
        if text:
            sums[text.lower()] = sums.get(text.lower(), 0.0) + probability
    ranked = sorted(sums, key=lambda text: -sums[text])
    return [text for text in ranked if sums[text] > THRESHOLD] or ranked[:1]


def list_scores(items: Sequence[Sequence[str]], submitted: Sequence[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of a question; all 0 without answers.

    `items`: the gold answers, each with its synonyms. Each answer takes the first item with this synonym that
    no earlier answer took. An item that nothing took isn't missed if one of its synonyms was submitted.
    """
    left = [{name.lower() for name in names} for names in items]
    right = 0
    for answer in submitted:
        place = next((number for number, names in enumerate(left) if answer in names), None)
        if place is not None:
            right += 1
            del left[place]
    unused, missed = list(submitted), 0
    for names in left:
        place = next((number for number, answer in enumerate(unused) if answer in names), None)
        if place is None:
            missed += 1
        else:
            del unused[place]
    precision = right / len(submitted) if submitted else 0.0
    recall = right / (right + missed) if submitted and right + missed else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def _mean(name: str) -> Function:
    def mean(totals: Totals) -> Array:
        return np.where(totals["without_gold"] > 0, np.nan, quotient(totals[name], totals["questions"]))

    return mean


register(
    Metric(
        name="list_f1",
        kinds=("span",),
        tasks=("list",),
        version=1,
        label="mean F1 of lists",
        definition="F1 of each list of answers, mean over questions",
        source="BioASQ's EvaluatorTask1b; answers as bioasq-biobert submits them",
        function=_mean("list_f1"),
        chooses=lambda totals: quotient(totals["list_f1"], totals["questions"]),
    ),
    Metric(
        name="list_precision",
        kinds=("span",),
        tasks=("list",),
        version=1,
        label="mean precision of lists",
        definition="share of a list's answers that are right, mean over questions",
        source="as `list_f1`",
        function=_mean("list_precision"),
    ),
    Metric(
        name="list_recall",
        kinds=("span",),
        tasks=("list",),
        version=1,
        label="mean recall of lists",
        definition="share of the items that are in the list, mean over questions",
        source="as `list_f1`",
        function=_mean("list_recall"),
    ),
)
