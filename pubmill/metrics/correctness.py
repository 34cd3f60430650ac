"""Whether the prediction of a single example is right in every part."""

from typing import Any


def gold_answers(example: Any) -> list[str]:
    """Return the distinct right answers of a question."""
    return list(dict.fromkeys([*(answer.text for answer in example.answers), *example.golds]))


def is_right(example: Any, predicted: Any) -> bool:
    """Return whether a prediction equals the gold; for a question, its first answer any of the gold's."""
    if hasattr(example, "answers"):
        return predicted[0].casefold() in ({text.casefold() for text in gold_answers(example)} or {""})
    own = getattr(example, "score", getattr(example, "label", None))
    return bool(predicted == (example.labels if own is None else own))
