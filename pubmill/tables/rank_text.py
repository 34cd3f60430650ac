"""Rankings and reproductions as text for the terminal."""

from collections.abc import Sequence

from pubmill.recipes.tables import table_title
from pubmill.tables.ranks import AdjacentPair, Ranking
from pubmill.tables.reproductions import Reproduction

MODELS = ("model", "score", "group", "rank")
PAIRS = ("pair", "difference", "95 % interval", "reversed", "improvement", "order at 5 %")
REPRODUCED = ("model", "cells", "CV*", "verdicts")


def as_text(ranked: Ranking) -> str:
    """Return a ranking as tables of text."""
    title = f"{table_title(ranked.table)}, {ranked.score}; drawn with replacement: {', '.join(ranked.levels)}"
    pairs = f"{ranked.unresolved} of {len(ranked.adjacent)} adjacent ranks unresolved at 5 %"
    lines = [(one.model, f"{one.score:.2f}", str(one.group), one.interval) for one in ranked.models]
    models = aligned([MODELS, *lines])
    return "\n".join([title, "", *models, "", pairs, *aligned([PAIRS, *map(_pair_line, ranked.adjacent)])])


def _pair_line(one: AdjacentPair) -> tuple[str, ...]:
    interval = f"{one.interval[0]:+.2f} to {one.interval[1]:+.2f}" if one.interval else "none"
    return (
        f"{one.upper} > {one.lower}",
        f"{one.difference:.2f}",
        interval,
        f"{one.reversed:.3f}",
        f"{one.improvement:.2f}",
        "resolved" if one.resolved else "unresolved",
    )


def reproductions_as_text(reproductions: Sequence[Reproduction]) -> str:
    """Return the reproductions of a table by model, as text."""
    verdicts = [", ".join(f"{n} {name}" for name, n in one.verdicts.items()) for one in reproductions]
    numbers = [(one.model, str(one.cells), f"{one.cv:.2f}") for one in reproductions]
    return "\n".join(aligned([REPRODUCED, *((*a, b) for a, b in zip(numbers, verdicts, strict=True))]))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text as lines, the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]
