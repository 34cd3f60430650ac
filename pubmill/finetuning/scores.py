"""The trainer's own dev scores, 0..1 save `pearson` (-1..1); higher is better. Standard library only.

Selection reads these scores, so that a change in `pubmill.metrics` never retrains anything. They are
always a number: a score that isn't defined (no positive anywhere, constant scores) is 0.0 here, because
such weights are never the ones to keep.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from statistics import fmean

Entity = tuple[int, int, str]
"""First word, last word + 1, type ("" where labels carry none)."""

RANKED = 5
"""Answers of a question that BioASQ looks at."""


def entities(labels: Sequence[str]) -> list[Entity]:
    """Entities of one sentence's BIO labels, in order.

    An `I` that continues nothing (at the start, after `O`, after another type) begins an entity,
    as in conlleval and in seqeval's default mode.
    """
    found: list[Entity] = []
    start, open_type = 0, None
    for position, label in enumerate([*labels, "O"]):
        prefix, _, kind = label.partition("-")
        continues = prefix == "I" and kind == open_type
        if open_type is not None and not continues:
            found.append((start, position, open_type))
            open_type = None
        if prefix != "O" and not continues:
            start, open_type = position, kind
    return found


def entity_f1(gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> float:
    """Micro-averaged F1 over exactly matching entities of paired sentences."""
    return _pooled_f1([entities(labels) for labels in gold], [entities(labels) for labels in predicted])


def word_macro_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """The mean over the gold's types of the F1 over words; B and I are the same (gu2020 section 4.2)."""
    expected = [_type(label) for labels in gold for label in labels]
    given = [_type(label) for labels in predicted for label in labels]
    return _mean(_class_f1(expected, given, kind) for kind in sorted(set(expected) - {None}, key=str))


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The share of labels that are right."""
    return _mean(float(a == b) for a, b in zip(gold, predicted, strict=True))


def micro_f1(gold: Sequence[str], predicted: Sequence[str], negative: str | None) -> float:
    """F1 pooled over all labels but `negative`; with none, over all (which is accuracy). Of two labels it is
    the F1 of the positive one."""
    return _pooled_f1([{label} - {negative} for label in gold], [{label} - {negative} for label in predicted])


def macro_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The mean of the F1 of each label that is in the gold or predicted, the negative one included."""
    return _mean(_class_f1(gold, predicted, label) for label in sorted({*gold, *predicted}))


def multilabel_micro_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """F1 pooled over all labels of all documents."""
    return _pooled_f1(gold, predicted)


def multilabel_macro_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """The mean of the F1 of each label that is in the gold or predicted."""
    labels = sorted({label for row in (*gold, *predicted) for label in row})
    return _mean(
        _pooled_f1([{label} & {*row} for row in gold], [{label} & {*row} for row in predicted])
        for label in labels
    )


def example_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """F1 of the mean precision and the mean recall of the documents that have gold labels, as BLUE's
    eval_hoc.py has it; where nothing is predicted the precision is 0."""
    pairs = [({*a}, {*b}) for a, b in zip(gold, predicted, strict=True) if a]
    precision = _mean(len(a & b) / len(b) if b else 0.0 for a, b in pairs)
    recall = _mean(len(a & b) / len(a) for a, b in pairs)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def pearson(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Pearson's correlation; 0.0 where it isn't defined: fewer than two pairs, or one side constant."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold scores and {len(predicted)} predicted ones")
    if len(gold) < 2 or min(gold) == max(gold) or min(predicted) == max(predicted):
        return 0.0
    x, y = _centred(gold), _centred(predicted)
    below = math.sqrt(math.fsum(a * a for a in x)) * math.sqrt(math.fsum(b * b for b in y))
    above = math.fsum(a * b for a, b in zip(x, y, strict=True))
    return max(-1.0, min(1.0, above / below)) if below else 0.0


def squad_f1(golds: Sequence[Sequence[str]], predicted: Sequence[str]) -> float:
    """The mean over questions of the best F1 over words with one of its gold answers, as the script of
    SQuAD 2.0 has it; [] and [""] are questions without an answer, for which only "" is right."""
    return _mean(_best_f1(answers, given) for answers, given in zip(golds, predicted, strict=True))


def mrr(golds: Sequence[Sequence[str]], ranked: Sequence[Sequence[str]]) -> float:
    """The mean over questions of 1 / rank of the first right one among the first five answers, 0 if none is;
    right is what equals a synonym but for case (BioASQ). "" is no answer, and takes no rank."""
    return _mean(
        _reciprocal_rank({answer.lower() for answer in answers}, [text.lower() for text in given if text])
        for answers, given in zip(golds, ranked, strict=True)
    )


def _reciprocal_rank(right: set[str], ranked: Sequence[str]) -> float:
    return next((1 / rank for rank, text in enumerate(ranked[:RANKED], 1) if text in right), 0.0)


def _best_f1(golds: Sequence[str], predicted: str) -> float:
    given = _answer_words(predicted)
    answers = [words for words in map(_answer_words, golds) if words]
    shared = [(2 * (Counter(words) & Counter(given)).total(), len(words) + len(given)) for words in answers]
    return max((part / whole for part, whole in shared), default=float(not given))


def _answer_words(text: str) -> list[str]:
    """Words without case, ASCII punctuation and articles, as SQuAD's script normalises them."""
    plain = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def _type(label: str) -> str | None:
    """A BIO label's type, whatever its prefix; None for O."""
    return None if label == "O" else label.partition("-")[2]


def _class_f1(gold: Sequence[Hashable], predicted: Sequence[Hashable], label: Hashable) -> float:
    """F1 of one class."""
    right = sum(a == b == label for a, b in zip(gold, predicted, strict=True))
    total = sum(a == label for a in gold) + sum(b == label for b in predicted)
    return 2 * right / total if total else 0.0


def _pooled_f1(gold: Sequence[Iterable[Hashable]], predicted: Sequence[Iterable[Hashable]]) -> float:
    """F1 over what paired examples have, all examples' things taken together."""
    right = total = 0
    for expected, given in zip(gold, predicted, strict=True):
        a, b = set(expected), set(given)
        right += len(a & b)
        total += len(a) + len(b)
    return 2 * right / total if total else 0.0


def _mean(values: Iterable[float]) -> float:
    """The mean; 0.0 of nothing."""
    numbers = list(values)
    return fmean(numbers) if numbers else 0.0


def _centred(values: Sequence[float]) -> list[float]:
    mean = fmean(values)
    return [value - mean for value in values]
