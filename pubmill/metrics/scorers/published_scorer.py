"""Published scorers: the ways in which the literature scores predictions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pubmill.metrics.contributions import Scored
from pubmill.metrics.registry import metrics_of

Score = Callable[[Sequence[Any], Sequence[Any], str | None], float | None]
"""Function `(examples, predictions, negative)` that returns a score (0..1; a correlation -1..1), or None if
it is not defined for them."""


@dataclass(frozen=True, slots=True)
class PublishedScorer:
    """A way of scoring examples of `kinds`, restricted to `tasks` if given.

    `used`: the paper section or the script that scores in this way; `score`: function that computes it.
    """

    name: str
    score: Score
    definition: str
    used: str
    kinds: tuple[str, ...]
    tasks: tuple[str, ...] | None = None

    def fits(self, kind: str, task: str) -> bool:
        """Return whether the scorer applies to examples of this kind in this task."""
        return kind in self.kinds and (self.tasks is None or task in self.tasks)


class ScorerResult(NamedTuple):
    """The score of predictions by a scorer; None if it is not defined for them."""

    scorer: PublishedScorer
    score: float | None


def registered(
    kind: str, scorer: Callable[[Sequence[Any], Sequence[Any], str | None], Scored], used: Mapping[str, str]
) -> list[PublishedScorer]:
    """Return the registered metrics of a kind, which `scorer` computes, as scorers.

    `used`: who scores in this way, where that is more than a metric's source.
    """

    def score_by(name: str) -> Score:
        return lambda *scored: scorer(*scored).metrics.get(name)

    return [
        PublishedScorer(
            name=metric.name,
            kinds=(kind,),
            tasks=metric.tasks,
            definition=metric.definition,
            used=used.get(metric.name, metric.source),
            score=score_by(metric.name),
        )
        for metric in metrics_of(kind)
    ]
