"""What a convention is: one way in which the literature scores predictions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pubmill.metrics.contributions import Scored
from pubmill.metrics.registry import metrics_of

Score = Callable[[Sequence[Any], Sequence[Any], str | None], float | None]
"""Function `(examples, predictions, negative)` that returns a score (0..1; a correlation -1..1), or None if
it is not defined for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """A way of scoring examples of `kinds`, restricted to `tasks` if given.

    `used`: the paper section or the script that scores in this way; `score`: function that computes it.
    """

    name: str
    kinds: tuple[str, ...]
    definition: str
    used: str
    score: Score
    tasks: tuple[str, ...] | None = None

    def fits(self, kind: str, task: str) -> bool:
        """Return whether the convention applies to examples of this kind in this task."""
        return kind in self.kinds and (self.tasks is None or task in self.tasks)


class ConventionScore(NamedTuple):
    """The score of predictions by a convention; None if it is not defined for them."""

    convention: Convention
    score: float | None


def registered(
    kind: str,
    scorer: Callable[[Sequence[Any], Sequence[Any], str | None], Scored],
    used: Mapping[str, str],
) -> list[Convention]:
    """Return the registered metrics of a kind, which `scorer` computes, as conventions.

    `used`: who scores in this way, where that is more than a metric's source.
    """

    def score_by(name: str) -> Score:
        return lambda *scored: scorer(*scored).metrics.get(name)

    return [
        Convention(
            name=metric.name,
            kinds=(kind,),
            tasks=metric.tasks,
            definition=metric.definition,
            used=used.get(metric.name, metric.source),
            score=score_by(metric.name),
        )
        for metric in metrics_of(kind)
    ]
