"""Collapsed runs, which predict the same for every example: they are scored, and marked as collapsed."""

from collections.abc import Mapping, Sequence
from statistics import pstdev
from typing import Any

from pubmill.examples.kinds import Example, RegressionExample, SpanExample, TokensExample
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.metrics import gold_of

CONSTANT = "constant predictions"
"""The mark of a collapsed run. Training reports of earlier versions have it as a failure."""
SPREAD = 0.01
"""Predicted scores count as constant up to this share of the gold scores' standard deviation."""


def failure_of(training: Mapping[str, Any]) -> str | None:
    """Return why a training has no predictions, by its report; None if it has."""
    failed = training["failed"]
    return None if failed in (None, CONSTANT) else str(failed)


def is_collapsed(examples: Sequence[Example], predicted: Sequence[Any]) -> bool:
    """Return whether all predictions are the same although the gold answers are not.

    `predicted`: in the form of metrics. A single prediction proves nothing. Labels of words are the same if
    one label at all words gives them; answers, if the best ones are; scores, if they vary by at most
    `SPREAD`, as padding and traces of the input change the last digits even after a collapse.
    """
    if len(predicted) < 2:
        return False
    gold = [_gold(example) for example in examples]
    if isinstance(examples[0], TokensExample):
        return _has_one_label(predicted) and not _has_one_label([*predicted, *gold])
    if isinstance(examples[0], RegressionExample):
        limit = SPREAD * pstdev(gold)
        return bool(pstdev(predicted) <= limit < pstdev([*predicted, *gold]))
    first = isinstance(examples[0], SpanExample)
    answers = [_comparable(one[0][0] if first else one) for one in predicted]
    return len(set(answers)) == 1 and len({*answers, *map(_comparable, gold)}) > 1


def _gold(example: Any) -> Any:
    if isinstance(example, SpanExample):
        return [*example.golds, *(answer.text for answer in example.answers), ""][0]
    return gold_of(example)


def _comparable(answer: Any) -> Any:
    if isinstance(answer, str):
        return answer
    return tuple(sorted(tuple(part) if isinstance(part, list) else part for part in answer))


def _has_one_label(sentences: Sequence[Sequence[str]]) -> bool:
    """Return whether a single label of a tagging scheme at all words gives these BIO labels."""
    first = next((labels for labels in sentences if labels), ["O"])
    inside = f"I{first[0][1:]}" if first[0] != "O" else "O"
    return any(
        all(
            list(labels) == to_labels(to_mentions([label] * len(labels)), len(labels), "bio")
            for labels in sentences
        )
        for label in (first[0], inside)
    )
