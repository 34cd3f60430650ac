"""Metrics of answers to questions: SQuAD's exact match and F1, BioASQ's accuracies, mean reciprocal rank, and
precision, recall and F1 of list questions.

The metrics of list questions are those of BioASQ/Evaluation-Measures@8c8e689 (`calculatePRFforListQuestions`,
`listPrecision`, `listRecall`, `listF1`), of the answers that dmis-lab/bioasq-biobert@1bfb1ca submits.
"""

import math
import re
import string
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from pubmill.examples.kinds import SpanExample
from pubmill.metrics.contributions import Function, Scored, units_of
from pubmill.metrics.registry import COUNTERS, Metric, quotient, register, scored, totals_named

Ranked = Sequence[tuple[str, float]]
"""Answers and their probabilities, best first; the answer "" means that the context has none."""

SUBMITTED = 5
"""Number of answers per factoid question that BioASQ evaluates."""

LONGEST = 100
"""Characters of the longest text that is submitted as an answer to a factoid question."""

THRESHOLD = 0.42
"""Probability above which an answer is in a list (`--threshold` of biocodes/transform_n2b_list.py)."""

LISTS = ("list_precision", "list_recall", "list_f1")
COUNTS = ("examples", "questions", "without_gold")
TOTALS = (*COUNTS, "exact_match", "f1", "best_f1", "strict_accuracy", "lenient_accuracy", "mrr", *LISTS)


class Threshold(NamedTuple):
    """What the threshold of "" decides for a question: its F1 if its best answer other than "" is predicted,
    and if "" is. `empty`: log of the probability of "" minus that of the other answer."""

    of_text: float
    of_none: float
    empty: float


def score_answers(examples: Sequence[SpanExample], predicted: Sequence[Ranked]) -> Scored:
    """Score the answers to questions; each question counts once, however many contexts it has.

    A question's gold answers are its `golds`, or if it has none, the `answers` in its context. Examples with
    the same `group` are one question. If one context has no answer, another may have it, so "" is not an
    answer to such a question.

    SQuAD's (the script of 2.0, which differs from that of 1.1 only for questions without an answer and for
    answers that consist of articles and punctuation) are of the most probable answer from any context, after
    lower-casing and removal of ASCII punctuation, articles and redundant white space. `f1` takes the gold
    answer with the highest; without one, only "" is right. `best_f1` predicts "" where it is more probable
    than the best other answer by more than the best threshold (`find_best_thresh` of the script).

    BioASQ's (its EvaluationMeasures since the third year) are of the first five answers that BioBERT's
    programs submit (`submitted_answers`), each compared as a whole with every synonym, ignoring case; of list
    questions, the means of `list_scores` of the answers above a threshold (`submitted_list`).

    BioASQ's measures are not defined, and not reported, if any question has no gold answer.

    Counts: `examples`, `questions`, `without_gold` (questions).
    """
    columns = {name: [0.0] * len(examples) for name in TOTALS} | {"examples": [1.0] * len(examples)}
    pairs = list(zip(examples, predicted, strict=True))
    questions: dict[str, list[int]] = {}
    for number, example in enumerate(examples):
        key = f"example {number}" if example.group is None else f"group {example.group}"
        questions.setdefault(key, []).append(number)
    thresholds = []
    for numbers in questions.values():
        contribution, threshold = _score_question([pairs[number] for number in numbers])
        thresholds.append(threshold)
        for name, value in contribution.items():
            columns[name][numbers[0]] = value
    for numbers, best in zip(questions.values(), _best_f1(thresholds), strict=True):
        columns["best_f1"][numbers[0]] = best
    return scored("span", columns, units_of(examples).numbers)


def mean_over_questions(name: str) -> Function:
    """Return the function that computes a total's mean over questions."""
    return lambda totals: quotient(totals[name], totals["questions"])


def mean_over_answerable(name: str) -> Function:
    """Return the function that computes a total's mean over questions; nan if any has no gold answer."""
    mean = mean_over_questions(name)
    return lambda totals: np.where(totals["without_gold"] > 0, np.nan, mean(totals))


_metric = partial(Metric, kinds=("span",), version=1)
_of_lists = partial(_metric, tasks=("list",))
_of_factoids = partial(Metric, kinds=("span",), tasks=("factoid",), version=2)
_AS_SUBMITTED = "BioASQ; answers as BioBERT submits them"

COUNTERS["span"] = totals_named(*COUNTS)

register(
    _of_lists("list_f1", "mean F1 of lists", "F1 of each list of answers, mean over questions",
              "BioASQ's EvaluatorTask1b; answers as bioasq-biobert submits them",
              mean_over_answerable("list_f1"), chooses=mean_over_questions("list_f1")),
    _of_lists("list_precision", "mean precision of lists",
              "share of a list's answers that are right, mean over questions",
              "as `list_f1`", mean_over_answerable("list_precision")),
    _of_lists("list_recall", "mean recall of lists",
              "share of the items that are in the list, mean over questions",
              "as `list_f1`", mean_over_answerable("list_recall")),
    _metric("exact_match", "exact match", "share of questions whose best answer equals a gold one",
            "SQuAD's script, 2.0", mean_over_questions("exact_match")),
    _metric("f1", "F1 over words of answers",
            "F1 over the words of best answer and gold answer, mean over questions",
            "SQuAD's script, 2.0", mean_over_questions("f1"), chooses=mean_over_questions("f1")),
    _metric("best_f1", "F1 at the best threshold",
            "F1 over words of answers, with the best threshold of no answer for these questions",
            "SQuAD's script, 2.0 (`best_f1`)", mean_over_questions("best_f1"), tasks=("reading",)),
    _of_factoids("strict_accuracy", "strict accuracy", "share of questions whose first answer is right",
                 _AS_SUBMITTED, mean_over_answerable("strict_accuracy")),
    _of_factoids("lenient_accuracy", "lenient accuracy",
                 "share of questions with a right one among their first five answers",
                 _AS_SUBMITTED, mean_over_answerable("lenient_accuracy")),
    _of_factoids("mrr", "mean reciprocal rank",
                 "mean over questions of 1 / rank of the first right answer among five, 0 without one",
                 _AS_SUBMITTED, mean_over_answerable("mrr"), chooses=mean_over_questions("mrr")),
)  # fmt: skip


def normalised(answer: str) -> str:
    """Normalise an answer as SQuAD's script does before comparison."""
    plain = answer.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def _score_question(contexts: Sequence[tuple[SpanExample, Ranked]]) -> tuple[dict[str, float], Threshold]:
    """Return the contributions of a question to all totals but `best_f1`, and what that depends on."""
    placed = [answer.text for example, _ in contexts for answer in example.answers]
    golds = [gold for example, _ in contexts for gold in example.golds] or placed
    answers = [
        answer for example, ranked in contexts for answer in ranked if answer[0] or example.group is None
    ]
    best, _ = max(answers, key=lambda answer: answer[1], default=("", 0.0))
    text, likely = max((one for one in answers if one[0]), key=lambda one: one[1], default=("", 0.0))
    none = max((probability for text, probability in answers if not text), default=0.0)
    exact, f1 = _answer_scores(golds, best)
    empty = _logarithm(none) - _logarithm(likely)
    threshold = Threshold(_answer_scores(golds, text)[1], _answer_scores(golds, "")[1], empty)
    right = {gold.lower() for gold in golds}
    rank = next((rank for rank, one in enumerate(submitted_answers(answers), 1) if one in right), None)
    # the gold answers of a list question, each with its synonyms; of others, one item with all golds
    items = next((example.items for example, _ in contexts if example.items), None) or [golds]
    contribution = {
        "questions": 1.0,
        "without_gold": float(not golds),
        "exact_match": exact,
        "f1": f1,
        "strict_accuracy": float(rank == 1),
        "lenient_accuracy": float(rank is not None),
        "mrr": 1 / rank if rank else 0.0,
        **dict(zip(LISTS, list_scores(items, submitted_list(answers)), strict=True)),
    }
    return contribution, threshold


def _logarithm(probability: float) -> float:
    return math.log(max(probability, sys.float_info.min))


def submitted_answers(answers: Ranked) -> list[str]:
    """Return the answers to a factoid question that are submitted to BioASQ, best first, in lower case.

    `answers`: those from all contexts, in any order. Equal texts (ignoring case) are one answer, with the sum
    of their probabilities; texts of more than 100 characters are left out, as is "". Among equal sums, that
    with the more probable text comes first (`biocodes/transform_nbset2bioasqform.py` of dmis-lab/biobert).
    """
    sums: dict[str, float] = {}
    for text, probability in sorted(answers, key=lambda answer: -answer[1]):
        if text and len(text) <= LONGEST:
            sums[text.lower()] = sums.get(text.lower(), 0.0) + probability
    return sorted(sums, key=lambda text: -sums[text])[:SUBMITTED]


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

    `items`: the gold answers, each with its synonyms. Each answer takes the first remaining item that
    contains it. A remaining item is not missed if it contains any submitted answer, which counts for one item
    only.
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


def _best_f1(thresholds: Sequence[Threshold]) -> list[float]:
    """Return each question's F1 with the threshold of "" that gives the highest mean."""
    of_text, none, empty = np.array(thresholds).T
    order = np.argsort(empty, kind="stable")
    gains = np.append(0.0, np.cumsum((of_text - none)[order]))
    # A threshold lies between two different values.
    possible = np.concatenate([[True], np.diff(empty[order]) > 0, [True]])[: len(gains)]
    answered = order[: int(np.argmax(np.where(possible, gains, -np.inf)))]
    none[answered] = of_text[answered]
    best: list[float] = none.tolist()
    return best


def _answer_scores(golds: Sequence[str], answer: str) -> tuple[float, float]:
    """Return SQuAD's exact match and F1 of an answer."""
    predicted = normalised(answer)
    golds = [gold for gold in map(normalised, golds) if gold] or [""]
    return float(predicted in golds), max(_word_f1(gold.split(), predicted.split()) for gold in golds)


def _word_f1(gold: list[str], predicted: list[str]) -> float:
    if not gold or not predicted:
        return float(gold == predicted)
    return 2 * (Counter(gold) & Counter(predicted)).total() / (len(gold) + len(predicted))
