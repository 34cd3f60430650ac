"""Figures of held-out losses and subwords by date of publication."""

from pathlib import Path

from pubmill.report.charts import Chart, line_of_years
from pubmill.statistics.verdict_models import Shape
from pubmill.storage.files import read_json

FEWEST = 2
"""Dates of which a figure has a line."""


class DatedLoss(Shape):
    """Held-out documents of one date: YYYY, or YYYY-MM. `loss`: mean of the masked subwords, in nats."""

    date: str
    documents: int
    masked: int
    loss: float


class DatedFit(Shape):
    """Words of the held-out documents of a year, and the subwords that the vocabulary makes of them."""

    date: str
    documents: int
    words: int
    subwords_per_word: float
    split_words: float
    unknown_words: float


class Drift(Shape):
    """A checkpoint on held-out documents by date; `undated` have no year."""

    recipe: str
    step: int
    corpus: str
    documents: int
    undated: int
    months: tuple[DatedLoss, ...]
    years: tuple[DatedLoss, ...]
    fit: tuple[DatedFit, ...]


def read_drift(path: Path) -> Drift:
    """Read what `pubmill.extras.drift` has written."""
    return Drift.model_validate(read_json(path))


def drift_charts(drift: Drift) -> list[Chart]:
    """Return the charts of a checkpoint: loss by month, loss by year, subwords per word by year."""
    losses = {"loss by month of publication": drift.months, "loss by year of publication": drift.years}
    label = f"{drift.recipe}, step {drift.step:,}"
    charts = [
        line_of_years(label, title, [(_when(one.date), one.loss, _loss_text(one)) for one in periods])
        for title, periods in losses.items()
        if len(periods) >= FEWEST
    ]
    if len(drift.fit) >= FEWEST:
        points = [(_when(one.date), one.subwords_per_word, _fit_text(one)) for one in drift.fit]
        charts.append(line_of_years(label, "subwords per word by year of publication", points))
    return charts


def _when(date: str) -> float:
    """Return a date as a fraction of years; a month stands at its middle."""
    year, _, month = date.partition("-")
    return int(year) + ((int(month) - 0.5) / 12 if month else 0)


def _loss_text(one: DatedLoss) -> str:
    return f"{one.date}: {one.loss:.3f} nats, {one.masked:,} masked subwords of {one.documents:,} documents"


def _fit_text(one: DatedFit) -> str:
    return f"{one.date}: {one.subwords_per_word:.3f} subwords per word, {one.words:,} words"
