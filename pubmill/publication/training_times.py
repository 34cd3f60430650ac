"""How long fine-tuning took: a table's models, in numbers and as a strip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pubmill.publication.figures import EDGE, LANE, TOP, WIDTH, Axis, Lane, Strip
from pubmill.tables.cells import Column, Table

UNITS = {"h": ("hours", 3600), "min": ("minutes", 60), "s": ("seconds", 1)}
LEAST = 2
"""Of this unit and more, the longest time is told in it."""


@dataclass(frozen=True)
class ModelTimes:
    """A model's fine-tunings in one table, in seconds; `by_dataset`: label -> each run."""

    label: str
    by_dataset: Mapping[str, tuple[float, ...]]

    @property
    def runs(self) -> list[float]:
        return [seconds for runs in self.by_dataset.values() for seconds in runs]

    @property
    def means(self) -> dict[str, float]:
        """The mean run of each dataset."""
        return {dataset: fmean(runs) for dataset, runs in self.by_dataset.items()}


def times(table: Table) -> list[ModelTimes]:
    """The models of a table that were fine-tuned; pipelines were not."""
    found = (_times(table, column) for column in table.columns if not column.pipeline)
    return [one for one in found if one.by_dataset]


def _times(table: Table, column: Column) -> ModelTimes:
    by_dataset: dict[str, tuple[float, ...]] = {}
    for row in {row.dataset: row for row in table.rows}.values():  # of one dataset, rows share their runs
        seeds = table.cells[column.key][row.key].seeds
        if known := tuple(seed.seconds for seed in seeds if seed.seconds is not None):
            by_dataset[row.label] = known
    return ModelTimes(column.label, by_dataset)


def time_strip(label: str, found: Sequence[ModelTimes]) -> Strip | None:
    """A lane for each model: the mean run of each dataset, and of all runs; None without any."""
    if not found:
        return None
    longest = max(seconds for one in found for seconds in one.means.values())
    unit = next((name for name, (_, size) in UNITS.items() if longest >= LEAST * size), "s")
    name, size = UNITS[unit]
    axis = Axis(0, max(1.06 * longest, size), EDGE, WIDTH - EDGE)
    lanes = tuple(_lane(one, axis, unit, TOP + LANE * i) for i, one in enumerate(found))
    return Strip(
        label=label,
        metric=f"{name} of one run",
        description=" ".join(_told(one, unit) for one in found),
        height=TOP + LANE * len(found) + 26,
        axis=Axis(0, axis.high / size, EDGE, WIDTH - EDGE),
        lanes=lanes,
    )


def _lane(one: ModelTimes, axis: Axis, unit: str, top: float) -> Lane:
    """`axis`: of seconds."""
    mean = fmean(one.runs)
    return Lane(
        label=one.label,
        y=top + 26,
        points=tuple((axis.at(of), f"{name}: {_time(of, unit)}") for name, of in one.means.items()),
        together=axis.at(mean),
        published=None,
        note="",
        aside=f"{mean / UNITS[unit][1]:.3g}",
    )


def _time(seconds: float, unit: str) -> str:
    return f"{seconds / UNITS[unit][1]:.3g} {unit}"


def _told(one: ModelTimes, unit: str) -> str:
    """One model's lane in words."""
    datasets = ", ".join(f"{name} {_time(mean, unit)}" for name, mean in one.means.items())
    return f"{one.label}: {datasets}; mean of {len(one.runs)} runs {_time(fmean(one.runs), unit)}."
