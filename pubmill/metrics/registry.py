"""The registry of metrics, the only source of their names, versions and definitions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pubmill.metrics.contributions import Function, Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric for examples of `kinds`, restricted to `tasks` if given.

    - `version`: raised when `function` returns another value for the same totals, or when its totals change.
    - `label`: its name in tables; `definition`: what it counts; `source`: the source of the definition.
    - `chooses`: the dev score by which weights and trials are chosen for this metric; None if it cannot be
      used for that.
    - `needs`: values of the fine-tuning recipe without which a run's predictions do not define it.
    - `parts`: values recorded with it, which share its version and which no spec can name.
    """

    name: str
    kinds: tuple[str, ...]
    version: int
    label: str
    definition: str
    source: str
    function: Function
    chooses: Function | None = None
    tasks: tuple[str, ...] | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Function] = field(default_factory=dict)

    def fits(self, kind: str, task: str) -> bool:
        """Return whether the metric applies to examples of this kind in this task."""
        return kind in self.kinds and (self.tasks is None or task in self.tasks)


METRICS: dict[str, Metric] = {}
"""Every metric by name, in the order of registration."""


def register(*metrics: Metric) -> Measure:
    """Add metrics to the registry, and return the function that computes them from totals."""
    for metric in metrics:
        if metric.name in METRICS:
            raise ValueError(f"the metric {metric.name} is registered twice")
        METRICS[metric.name] = metric
    return measure(metrics)


def measure(metrics: Iterable[Metric]) -> Measure:
    """Return the function that computes these metrics, with their parts, from totals."""
    functions: dict[str, Function] = {}
    for metric in metrics:
        functions |= {metric.name: metric.function, **metric.parts}
    return lambda totals: {name: function(totals) for name, function in functions.items()}


def metrics_of(kind: str, task: str | None = None) -> list[Metric]:
    """Return the metrics of a kind of examples, or of one of its tasks."""
    known = (metric for metric in METRICS.values() if kind in metric.kinds)
    return [metric for metric in known if task is None or metric.fits(kind, task)]


def measure_of(kind: str) -> Measure:
    """Return the function that computes all metrics of a kind from totals."""
    return lambda totals: measure(metrics_of(kind))(totals)


def dev_scores(kind: str, task: str | None = None) -> list[str]:
    """Return the names of the metrics that can choose weights, for a kind of examples and optionally a
    task."""
    return [metric.name for metric in metrics_of(kind, task) if metric.chooses is not None]
