"""Fine-tuning times of a table's models, as numbers and as a figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pubmill.report.figures import EDGE, WIDTH, Axis, Lane, Strip, lane_y, strip
from pubmill.tables.cells import Table
from pubmill.tables.table_frames import run_frame

UNITS = {"h": ("hours", 3600), "min": ("minutes", 60), "s": ("seconds", 1)}
LEAST = 2
"""A unit is used only if the longest time is at least this many of it."""


@dataclass(frozen=True)
class ModelTimes:
    """Fine-tuning times of a model in one table, in seconds; `by_dataset`: dataset label -> time of each
    run."""

    label: str
    by_dataset: Mapping[str, tuple[float, ...]]

    @property
    def runs(self) -> list[float]:
        """The times of all runs."""
        return [seconds for runs in self.by_dataset.values() for seconds in runs]

    @property
    def means(self) -> dict[str, float]:
        """The mean time per dataset."""
        return {dataset: fmean(runs) for dataset, runs in self.by_dataset.items()}


def times(table: Table) -> list[ModelTimes]:
    """Return the times of a table's fine-tuned models; pipelines are not fine-tuned."""
    rows = {row.dataset: row for row in table.rows}  # rows with the same dataset share runs
    labels = {row.key: row.label for row in rows.values()}
    runs = run_frame(table).dropna(subset="seconds")
    runs = runs[runs["row"].isin(labels)]
    seconds = runs.groupby(["column", "row"], sort=False)["seconds"].agg(tuple)
    by_column = {
        column: {labels[row]: seconds for (_, row), seconds in of_column.items()}
        for column, of_column in seconds.groupby(level="column", sort=False)
    }
    columns = (column for column in table.columns if not column.pipeline and column.key in by_column)
    return [ModelTimes(column.label, by_column[column.key]) for column in columns]


def time_strip(label: str, models: Sequence[ModelTimes]) -> Strip | None:
    """Return a figure with a lane per model: the mean time per dataset and over all runs; None without
    models."""
    if not models:
        return None
    longest = max(seconds for one in models for seconds in one.means.values())
    unit = next((name for name, (_, size) in UNITS.items() if longest >= LEAST * size), "s")
    name, size = UNITS[unit]
    axis = Axis(0, max(1.06 * longest, size), EDGE, WIDTH - EDGE)
    lanes = [_model_lane(one, axis, unit, lane_y(i)) for i, one in enumerate(models)]
    description = " ".join(_lane_text(one, unit) for one in models)
    shown = Axis(0, axis.high / size, EDGE, WIDTH - EDGE)
    return strip(label, f"{name} of one run", description, shown, lanes)


def _model_lane(one: ModelTimes, axis: Axis, unit: str, y: float) -> Lane:
    """Return a model's lane on an `axis` in seconds."""
    mean = fmean(one.runs)
    points = tuple((axis.at(of), f"{name}: {_time_text(of, unit)}") for name, of in one.means.items())
    return Lane(one.label, y, points, together=axis.at(mean), aside=f"{mean / UNITS[unit][1]:.3g}")


def _time_text(seconds: float, unit: str) -> str:
    return f"{seconds / UNITS[unit][1]:.3g} {unit}"


def _lane_text(one: ModelTimes, unit: str) -> str:
    """Describe one model's lane in words."""
    datasets = ", ".join(f"{name} {_time_text(mean, unit)}" for name, mean in one.means.items())
    return f"{one.label}: {datasets}; mean of {len(one.runs)} runs {_time_text(fmean(one.runs), unit)}."
