"""Answers to questions: SQuAD's exact match and F1, BioASQ's accuracies and mean reciprocal rank."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pubmill.examples import SpanExample

Ranked = Sequence[tuple[str, float]]
"""Answers and their probabilities, best first; the answer "" says that there is none in the context."""

SUBMITTED = 5
"""Answers of a factoid question that BioASQ takes."""


@dataclass(slots=True)
class Question:
    """A question with its gold answers (none: it can't be answered) and what is answered, best first."""

    golds: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


def score_answers(
    examples: Sequence[SpanExample], predicted: Sequence[Ranked]
) -> tuple[dict[str, float], dict[str, int]]:
    """Score the answers of questions, each question once however many contexts it is asked of.

    A question's gold answers are its `golds`, or where there are none the `answers` that stand in its
    context. Examples of one `group` are one question: its answers are those of all its contexts, each
    distinct one (but for case) with its best probability, in the order of these (at equal probability the
    first met comes first). What one of several contexts doesn't tell another may, so "" is no answer
    of such a question.

    SQuAD (the script of 2.0, which differs from that of 1.1 only for questions without an answer, and for
    answers of nothing but articles and punctuation), for the best answer, after lower-casing and without
    ASCII punctuation, articles and superfluous white space:
    - `exact_match`: the share of questions whose answer equals a gold one.
    - `f1`: the mean of the best F1 over words that it has with a gold one. Without a gold answer, "" is
      right and all else wrong.

    BioASQ (its EvaluationMeasures as of the third year on), for the first five answers, compared whole but
    for case with every synonym:
    - `strict_accuracy`: the share of questions whose first answer is right.
    - `lenient_accuracy`: the share with a right one among the five.
    - `mrr`: the mean of 1 / rank of the first right one, 0 if there is none.
    These three aren't defined where a question has no gold answer, and are left out then.

    Counts: `examples`, `questions`, `without_gold` (questions).
    """
    questions = _questions(examples, predicted)
    without = sum(not question.golds for question in questions)
    matches = [_match(question) for question in questions]
    metrics = {
        "exact_match": fmean(exact for exact, _ in matches),
        "f1": fmean(f1 for _, f1 in matches),
        **({} if without else _bioasq(questions)),
    }
    return metrics, {"examples": len(examples), "questions": len(questions), "without_gold": without}


def normalised(answer: str) -> str:
    """An answer as SQuAD's script compares it."""
    plain = answer.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def _questions(examples: Sequence[SpanExample], predicted: Sequence[Ranked]) -> list[Question]:
    """Questions in the order in which they are first met."""
    groups: dict[str, list[tuple[SpanExample, Ranked]]] = {}
    for number, (example, ranked) in enumerate(zip(examples, predicted, strict=True)):
        key = f"example {number}" if example.group is None else f"group {example.group}"
        groups.setdefault(key, []).append((example, ranked))
    return [_question(contexts) for contexts in groups.values()]


def _question(contexts: Sequence[tuple[SpanExample, Ranked]]) -> Question:
    golds = [gold for example, _ in contexts for gold in example.golds]
    placed = [answer.text for example, _ in contexts for answer in example.answers]
    best: dict[str, tuple[str, float]] = {}
    for example, ranked in contexts:
        for text, probability in ranked:
            known = best.get(text.lower())
            if (text or example.group is None) and (known is None or probability > known[1]):
                best[text.lower()] = (text, probability)
    order = sorted(best.values(), key=lambda answer: -answer[1])
    return Question(golds=golds or placed, answers=[text for text, _ in order])


def _match(question: Question) -> tuple[float, float]:
    """SQuAD's exact match and F1 of the best answer."""
    given = normalised(question.answers[0]) if question.answers else ""
    golds = [gold for gold in map(normalised, question.golds) if gold] or [""]
    return float(given in golds), max(_f1(gold.split(), given.split()) for gold in golds)


def _f1(gold: list[str], given: list[str]) -> float:
    if not gold or not given:
        return float(gold == given)
    return 2 * (Counter(gold) & Counter(given)).total() / (len(gold) + len(given))


def _bioasq(questions: Sequence[Question]) -> dict[str, float]:
    ranks = [_rank(question) for question in questions]
    return {
        "strict_accuracy": fmean(rank == 1 for rank in ranks),
        "lenient_accuracy": fmean(rank is not None for rank in ranks),
        "mrr": fmean(1 / rank if rank else 0.0 for rank in ranks),
    }


def _rank(question: Question) -> int | None:
    """The rank of the first right answer among those that BioASQ takes."""
    right = {gold.lower() for gold in question.golds}
    submitted = [text for text in question.answers if text][:SUBMITTED]
    return next((rank for rank, text in enumerate(submitted, 1) if text.lower() in right), None)
