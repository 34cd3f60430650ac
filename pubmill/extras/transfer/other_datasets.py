"""Predictions for another dataset than the one that a model was trained on."""

from collections.abc import Sequence

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.prediction.annotating import Annotator


def labels_for(annotator: Annotator, examples: Sequence[TokensExample], where: str) -> list[list[str]]:
    """Return the labels that a model predicts for another dataset's examples, with the type of these."""
    predicted = [labels for labels, _ in annotator.predict(examples)]
    return with_type(predicted, [one.labels for one in examples], where)


def with_type(labels: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], where: str) -> list[list[str]]:
    """Return predicted labels with the one type of mentions that the gold labels have, as datasets name a
    type differently (`B`, `B-Disease`); a `PubmillError` if either has several."""
    own, other = _types(labels), _types(gold)
    if len(own) > 1 or len(other) > 1:
        raise PubmillError(
            f"{where}: mentions of one type are needed, but {len(own)} types are predicted and {len(other)} "
            "are expected"
        )
    kind = next(iter(other), "")
    return [
        to_labels([(start, end, kind) for start, end, _ in to_mentions(one)], len(one), "bio")
        for one in labels
    ]


def _types(labels: Sequence[Sequence[str]]) -> set[str]:
    return {kind for one in labels for *_, kind in to_mentions(one)}
