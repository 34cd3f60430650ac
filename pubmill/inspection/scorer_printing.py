"""The scores of predictions by every published scorer, printed."""

from collections.abc import Sequence

from pubmill.metrics.scorers import ScorerResult
from pubmill.planning.terminal_tables import console, table
from pubmill.tables.scorer_results import percent


def print_scores(scores: Sequence[ScorerResult]) -> None:
    """Print the scorers with their scores; a dash stands for a score that is not defined."""
    made = table("scorer", "score", "what it is", "used by")
    for one in scores:
        made.add_row(one.scorer.name, percent(one.score), one.scorer.definition, one.scorer.used)
    console().print(made)
