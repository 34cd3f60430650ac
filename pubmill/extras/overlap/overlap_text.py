"""Scores split by what items share with training, as tables of text."""

from collections.abc import Iterator, Mapping

from pubmill.extras.overlap.overlap_of_runs import Overlap
from pubmill.metrics.training_overlap import Counts, Part, total
from pubmill.tables.rank_text import aligned

HEADING = ("part", "gold", "share", "predicted", "correct", "precision", "recall", "F1")


def as_text(overlap: Overlap) -> str:
    """Return the parts as tables of text, each with its sum."""
    runs = f"{overlap.runs} run{'s' * (overlap.runs > 1)}"
    lines = [f"{overlap.dataset}, {runs}, compared with {' and '.join(overlap.training)}"]
    if overlap.dated:
        lines.append(f"by year: {overlap.dated.text}")
    for by, parts in overlap.parts.items():
        lines += ["", *aligned([(by, *HEADING[1:]), *_rows(parts)])]
    return "\n".join(lines)


def _rows(parts: Mapping[Part, Counts]) -> Iterator[tuple[str, ...]]:
    whole = total(parts.values())
    for name, one in [*parts.items(), ("together", whole)]:
        scores = (one.precision, one.recall, one.f1)
        share = one.gold / whole.gold if whole.gold else 0.0
        counts = (str(one.gold), f"{100 * share:.1f} %", str(one.predicted), str(one.correct))
        yield (name, *counts, *(f"{100 * score:.2f}" for score in scores))
