"""The room between a dataset's floor and its ceiling, and the share of it that published scores take."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from pubmill.examples.kinds import RegressionExample
from pubmill.extras.baselines.baselines_recipes import FloorsRecipe
from pubmill.extras.baselines.measured import MeasuredFloor
from pubmill.metrics.classes import score_correlation
from pubmill.specs import DatasetSpec, Specs
from pubmill.tables.published_values import read_published
from pubmill.tables.row_floors import CeilingScore, share_of_room

AGREEMENT: Mapping[tuple[str, str], CeilingScore] = {
    ("pubmedqa", "accuracy"): CeilingScore(score=78.0, source="a single annotator (Jin et al. 2019)"),
}
"""Dataset and metric -> the published score of annotators by that metric. Agreements by other measures, such
as kappa, are no ceiling of a score."""


class PublishedScore(NamedTuple):
    """A published value in per cent, with its table and the name of its model there."""

    value: float
    table: str
    model: str


class DatasetHeadroom(NamedTuple):
    """A dataset with its floors, ceiling and published scores, all by its main metric."""

    dataset: str
    label: str
    metric: str
    floors: Sequence[MeasuredFloor]
    ceiling: CeilingScore
    published: Sequence[PublishedScore]

    @property
    def highest(self) -> MeasuredFloor | None:
        """The highest floor."""
        known = [one for one in self.floors if one.score is not None]
        return max(known, key=lambda one: one.score or 0.0, default=None)

    @property
    def best(self) -> PublishedScore | None:
        """The highest published score."""
        return max(self.published, key=lambda one: one.value, default=None)

    @property
    def below(self) -> int:
        """The number of published scores below the highest floor."""
        floor = self.highest
        if floor is None or floor.score is None:
            return 0
        return sum(one.value < 100 * floor.score for one in self.published)

    def share(self, value: float) -> float | None:
        """Return the share of the room between the highest floor and the ceiling that a score in per cent
        takes; None without such room."""
        floor = self.highest
        if floor is None or floor.score is None:
            return None
        return share_of_room(value, 100 * floor.score, self.ceiling.score)


def headroom(
    data: DatasetSpec, floors: Sequence[MeasuredFloor], ceiling: CeilingScore, specs: Specs, folder: Path
) -> DatasetHeadroom:
    """Return the headroom of a dataset; `folder`: that of the specs, with the published values."""
    published = tuple(published_scores(data, specs, folder))
    return DatasetHeadroom(data.name, data.label, data.metric, floors, ceiling, published)


def published_scores(data: DatasetSpec, specs: Specs, folder: Path) -> Iterable[PublishedScore]:
    """Yield the published values of a dataset by its main metric, without those that a table marks as not
    comparable with the dataset."""
    for name, table in specs.tables.items():
        rows = [row for row in table.rows if row.dataset == data.name and not row.not_comparable]
        names = {
            (row.published or row.dataset.partition("@")[0], row.printed or data.metric)
            for row in rows
            if table.metric_of(row, data) == data.metric
        }
        if names:
            values = read_published(folder / f"tables/{name}.published.csv", table.left_out)
            for one in values.dropna(subset="value").itertuples():
                if (one.row, one.metric) in names:
                    yield PublishedScore(float(one.value), name, str(one.column))


def ceiling_of(data: DatasetSpec | FloorsRecipe, test: Iterable[object]) -> CeilingScore:
    """Return the ceiling of a dataset: a published score of annotators, what the ratings of its test examples
    give, or 100."""
    known = AGREEMENT.get((data.name, data.metric))
    if known:
        return known
    ratings = [one.ratings for one in test if isinstance(one, RegressionExample)]
    if data.metric != "pearson" or not ratings or not all(map(len, ratings)):
        return CeilingScore()
    agreement = annotators_correlation(ratings)
    if agreement is None:
        return CeilingScore()
    source = "the mean correlation of an annotator with the mean of the others"
    return CeilingScore(score=100 * agreement, source=source)


def annotators_correlation(ratings: Sequence[Sequence[float]]) -> float | None:
    """Return the mean over annotators of the correlation of their scores with the mean of the others'; None
    if it is not defined for one, or if the numbers of scores differ."""
    if len(set(map(len, ratings))) != 1 or len(ratings[0]) < 2:
        return None
    correlations = [_with_others(ratings, annotator) for annotator in range(len(ratings[0]))]
    return None if None in correlations else fmean(value for value in correlations if value is not None)


def _with_others(ratings: Sequence[Sequence[float]], annotator: int) -> float | None:
    own = [scores[annotator] for scores in ratings]
    others = [fmean([*scores[:annotator], *scores[annotator + 1 :]]) for scores in ratings]
    return score_correlation(others, own).metrics.get("pearson")
