"""The trainer's own dev score: entity-level F1 as conlleval counts it. Standard library only.

Selection reads this score, so that a change in `pubmill.metrics` never retrains anything.
"""

from collections.abc import Iterable, Sequence

Entity = tuple[int, int, str]
"""First word, last word + 1, type ("" where labels carry none)."""


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
    """Micro-averaged F1 (0..1) over exactly matching entities of paired sentences; 0.0 if none match."""
    correct = total = 0
    for gold_labels, predicted_labels in zip(gold, predicted, strict=True):
        expected, given = set(entities(gold_labels)), set(entities(predicted_labels))
        correct += len(expected & given)
        total += len(expected) + len(given)
    return 2 * correct / total if total else 0.0
