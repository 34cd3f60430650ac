"""Scorers of the literature, written from their published programs, to compare the scorers with.

None of them uses pubmill. seqeval and scikit-learn are called as the papers' code calls them.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.stats import pearsonr
from seqeval.metrics import f1_score as seqeval_f1
from sklearn.metrics import f1_score, precision_recall_fscore_support

Labels = Sequence[Sequence[str]]
ENDS = {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")}
STARTS = {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")}


def conlleval(gold: Labels, predicted: Labels) -> float:
    """FB1 of conlleval.pl (CoNLL-2000), which reads a file once and keeps the state of one chunk."""
    correct_chunks = found_correct = found_guessed = 0
    in_correct = False
    last = [("O", ""), ("O", "")]
    lines = [
        pair
        for true, guess in zip(gold, predicted, strict=True)
        for pair in (*zip(true, guess, strict=True), None)
    ]
    for line in [*lines, None]:
        now = [("O", ""), ("O", "")] if line is None else [_split(label) for label in line]
        ended = [_between(before, after, ENDS, before) for before, after in zip(last, now, strict=True)]
        began = [_between(before, after, STARTS, after) for before, after in zip(last, now, strict=True)]
        if in_correct:
            if all(ended) and last[0][1] == last[1][1]:
                in_correct = False
                correct_chunks += 1
            elif ended[0] != ended[1] or now[0][1] != now[1][1]:
                in_correct = False
        in_correct = in_correct or (all(began) and now[0][1] == now[1][1])
        found_correct += began[0]
        found_guessed += began[1]
        last = now
    correct_chunks += in_correct
    precision = correct_chunks / found_guessed if found_guessed else 0.0
    recall = correct_chunks / found_correct if found_correct else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _split(label: str) -> tuple[str, str]:
    tag, _, kind = label.partition("-")
    return tag, kind


def _between(
    before: tuple[str, str], after: tuple[str, str], pairs: set[tuple[str, str]], inside: tuple[str, str]
) -> bool:
    """Whether a chunk ends or starts between two words; `inside`: the one of them that is in the chunk."""
    return (before[0], after[0]) in pairs or (inside[0] != "O" and before[1] != after[1])


def seqeval_default(gold: Labels, predicted: Labels) -> float:
    return float(seqeval_f1(gold, predicted, zero_division=0))


def seqeval_0_0_12(gold: Labels, predicted: Labels) -> float:
    """`f1_score` of seqeval 0.0.12, which bio-lm's `run_sequence_labelling.py` calls."""
    true, guessed = _chunks_of_seqeval_0_0_12(gold), _chunks_of_seqeval_0_0_12(predicted)
    precision, recall = (len(true & guessed) / len(one) if one else 0.0 for one in (guessed, true))
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _chunks_of_seqeval_0_0_12(sentences: Labels) -> set[tuple[str, int, int]]:
    """`get_entities`: all sentences in a row, each with an O behind it; a label is its first letter and its
    type, the part behind the last hyphen, or all of it."""
    labels = [label for sentence in sentences for label in (*sentence, "O")]
    tagged = [("O", ""), *((label[0], label.split("-")[-1]) for label in labels)]
    found, begin = set(), 0
    for place, (last, now) in enumerate(pairwise(tagged)):
        if _between(last, now, ENDS, last):
            found.add((last[1], begin, place - 1))
        if _between(last, now, STARTS, now):
            begin = place
    return found


def sklearn_f1(gold: Sequence[str], predicted: Sequence[str], average: str, without: str | None) -> float:
    """F1 of scikit-learn over the labels that occur, but for one."""
    labels = sorted({*gold, *predicted} - {without})
    return float(f1_score(gold, predicted, labels=labels, average=average, zero_division=0))


def positive_micro(gold: Sequence[str], predicted: Sequence[str], positives: Sequence[str]) -> float:
    """bio-lm's `chemprot_eval` and `ddi_eval`, BioBERT's `re_eval.py --task=chemprot`."""
    number = {label: place for place, label in enumerate([*positives, "none"])}
    true, guessed = ([number.get(label, len(positives)) for label in one] for one in (gold, predicted))
    wanted = list(range(len(positives)))
    found = precision_recall_fscore_support(true, guessed, labels=wanted, average="micro", zero_division=0)
    return float(found[2])


def blue_relations(gold: Sequence[str], predicted: Sequence[str], negative: str) -> float:
    """The second report of BLUE's `eval_rel.py`: micro F1 from sums over a confusion matrix."""
    labels = sorted({*gold, *predicted})
    matrix = np.zeros((len(labels), len(labels)), dtype=int)
    for true, guessed in zip(gold, predicted, strict=True):
        matrix[labels.index(true), labels.index(guessed)] += 1
    kept = [place for place, label in enumerate(labels) if label != negative]
    tp = matrix.diagonal()[kept].sum()
    fp = (matrix.sum(axis=0) - matrix.diagonal())[kept].sum()
    fn = (matrix.sum(axis=1) - matrix.diagonal())[kept].sum()
    precision, recall = (tp / whole if whole else 0.0 for whole in (tp + fp, tp + fn))
    return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0


def linkbert_prf1(gold: Sequence[str], predicted: Sequence[str], negative: str) -> float:
    """`PRF1` of LinkBERT's `run_seqcls.py`, where label 0 is the negative one."""
    right = sum(a == b != negative for a, b in zip(gold, predicted, strict=True))
    precision, recall = (
        right / whole if (whole := sum(label != negative for label in one)) else 0.0
        for one in (predicted, gold)
    )
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def blue_hoc(gold: Sequence[set[str]], predicted: Sequence[set[str]]) -> float:
    """BLUE's `eval_hoc.py` and bio-lm's `hoc_get_p_r_f_arrary`, which divide by the gold labels."""
    precisions = [len(a & b) / len(b) if b else 0 for a, b in zip(gold, predicted, strict=True)]
    recalls = [len(a & b) / len(a) for a, b in zip(gold, predicted, strict=True)]
    precision, recall = np.mean(precisions), np.mean(recalls)
    return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0


def sklearn_label_sets(gold: np.ndarray, predicted: np.ndarray, average: str) -> float:
    """F1 of scikit-learn over columns of labels."""
    return float(f1_score(gold, predicted, average=average, zero_division=0))


def indicators(documents: Sequence[set[str]], labels: Sequence[str]) -> np.ndarray:
    return np.array([[int(label in one) for label in labels] for one in documents])


def linkbert_hoc(gold: np.ndarray, predicted: np.ndarray) -> float:
    """`compute_p_r_f` of LinkBERT's `utils_hoc.py`."""
    right = ((predicted == gold) & (predicted != 0)).sum()
    precision, recall = (right / one.sum() if one.sum() else 0.0 for one in (predicted, gold))
    return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0


def biobert_answers(answers: Sequence[tuple[str, float]]) -> list[str]:
    """The answers that `transform_nbset2bioasqform.py` of dmis-lab/biobert writes for a question."""
    total: dict[str, float] = {}
    spelling: dict[str, str] = {}
    for text, probability in sorted(answers, key=lambda one: one[1], reverse=True):
        if text == "" or len(text) > 100:
            continue
        first = spelling.setdefault(text.lower(), text)
        total[first] = total.get(first, 0) + probability
    return [text for text, _ in sorted(total.items(), key=lambda one: one[1], reverse=True)][:5]


def bioasq_factoid(golds: Sequence[str], submitted: Sequence[str]) -> tuple[float, float, float]:
    """Strict and lenient accuracy and reciprocal rank of a question, for at most five answers, in lower case
    as BioASQ's Task1bData reads them."""
    right = [answer.lower() in {gold.lower() for gold in golds} for answer in submitted[:5]]
    rank = right.index(True) + 1 if True in right else 0
    return float(bool(right) and right[0]), float(True in right), 1 / rank if rank else 0.0


def squad(golds: Sequence[str], answer: str) -> tuple[float, float]:
    """Exact match and F1 of a question by SQuAD's `evaluate-v2.0.py`."""
    known = [gold for gold in golds if _normalize(gold)] or [""]
    return (
        max(float(_normalize(gold) == _normalize(answer)) for gold in known),
        max(_squad_f1(gold, answer) for gold in known),
    )


def squad_best_f1(scores: Sequence[float], empty: Sequence[float], answerable: Sequence[bool]) -> float:
    """`best_f1` of `evaluate-v2.0.py`: F1 of the answers, scores of no answer, whether there is an answer."""
    current = best = float(sum(not one for one in answerable))
    for place in sorted(range(len(scores)), key=lambda place: empty[place]):
        current += scores[place] if answerable[place] else -1
        best = max(best, current)
    return best / len(scores)


def _normalize(text: str) -> str:
    plain = "".join(character for character in text.lower() if character not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def _squad_f1(gold: str, answer: str) -> float:
    true, guessed = _normalize(gold).split(), _normalize(answer).split()
    if not true or not guessed:
        return float(true == guessed)
    same = sum((Counter(true) & Counter(guessed)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(guessed), same / len(true)
    return 2 * precision * recall / (precision + recall)


def pearson(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """The first of bio-lm's `pearson_and_spearman`."""
    return float(pearsonr(gold, predicted)[0])
