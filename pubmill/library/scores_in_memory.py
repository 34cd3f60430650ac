"""Metrics of predictions in memory."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, Example, TokensExample
from pubmill.metrics import SCORERS

_BIO = re.compile(r"O|[BI](-\S+)?")
_KIND_OF = {example: kind for kind, example in KINDS.items()}


def score(
    examples: Iterable[Example], predictions: Sequence[Any], negative: str | None = None
) -> dict[str, float]:
    """Return every metric that is defined for these examples, as a fraction (0..1) or correlation.

    `predictions`: one for each example, in their order: BIO labels of the words (tokens), a label (sequence),
    a sorted list of labels (multilabel), a number (regression), or answers with probabilities, best first
    (span). `negative`: the label that micro F1 ignores. docs/finetuning.md defines the metrics.
    """
    gold = list(examples)
    if len(gold) != len(predictions):
        raise PubmillError(f"{len(gold)} examples but {len(predictions)} predictions; give one for each")
    kinds = {type(example) for example in gold}
    if len(kinds) != 1:
        raise PubmillError(f"examples of {len(kinds)} kinds; expected at least one example, all of one kind")
    if kinds == {TokensExample}:
        _check_labels(predictions)
    return SCORERS[_KIND_OF[kinds.pop()]](gold, predictions, negative).metrics


def _check_labels(predictions: Sequence[Sequence[str]]) -> None:
    for number, labels in enumerate(predictions):
        wrong = [label for label in labels if not _BIO.fullmatch(label)]
        if wrong:
            raise PubmillError(f"prediction {number}: {wrong[0]!r:.100} is none of O, B, I, B-TYPE, I-TYPE")
