"""The scores of predictions by every published scorer, printed."""

from collections.abc import Sequence

from pubmill.metrics.conventions import ConventionScore
from pubmill.planning.terminal_tables import console, table
from pubmill.tables.convention_scores import percent


def print_scores(scores: Sequence[ConventionScore]) -> None:
    """Print the conventions with their scores; a dash stands for a score that is not defined."""
    made = table("convention", "score", "what it is", "used by")
    for one in scores:
        made.add_row(one.convention.name, percent(one.score), one.convention.definition, one.convention.used)
    console().print(made)
