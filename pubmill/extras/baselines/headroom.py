"""The room between a dataset's floor and its ceiling, the share of it that published scores take, and the
table of both, as text, Markdown and JSON."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from pubmill.examples.kinds import RegressionExample
from pubmill.extras.baselines.floor import FloorsRecipe
from pubmill.extras.baselines.measured import MeasuredFloor
from pubmill.metrics.classes import score_correlation
from pubmill.specs import DatasetSpec, Specs
from pubmill.tables.published_values import PublishedScore, published_scores
from pubmill.tables.row_floors import FULL, CeilingScore, share_of_room

AGREEMENT: Mapping[tuple[str, str], CeilingScore] = {
    ("pubmedqa", "accuracy"): CeilingScore(score=78.0, source="a single annotator (Jin et al. 2019)")
}
"""Dataset and metric -> the published score of annotators by that metric. Agreements by other measures, such
as kappa, are no ceiling of a score."""

HEADINGS = (
    "Dataset", "Metric", "Floor", "Score", "Ceiling", "Best published", "Share of room", "Published below",
)  # fmt: skip
NUMBERS = frozenset({3, 4, 6, 7})
"""Columns of numbers."""


class DatasetHeadroom(NamedTuple):
    """A dataset with its floors, ceiling and published scores, all by its main metric."""

    dataset: str
    metric: str
    floors: Sequence[MeasuredFloor]
    ceiling: CeilingScore
    published: Sequence[PublishedScore]

    @property
    def highest(self) -> MeasuredFloor | None:
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
    return DatasetHeadroom(data.name, data.metric, floors, ceiling, published)


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
    correlations = []
    for annotator in range(len(ratings[0])):
        own = [scores[annotator] for scores in ratings]
        others = [fmean([*scores[:annotator], *scores[annotator + 1 :]]) for scores in ratings]
        correlations.append(score_correlation(others, own).metrics.get("pearson"))
    return None if None in correlations else fmean(one for one in correlations if one is not None)


def to_json(headrooms: Sequence[DatasetHeadroom]) -> str:
    values = [
        {
            "dataset": one.dataset,
            "metric": one.metric,
            "floors": {floor.floor: floor.score for floor in one.floors},
            "definitions": {floor.floor: floor.definition for floor in one.floors},
            "highest": one.highest and one.highest.floor,
            "labels_given_away": [floor.floor for floor in one.floors if floor.gives_labels_away],
            "ceiling": one.ceiling.model_dump(),
            "best_published": one.best and one.best._asdict(),
            "share_of_room": one.best and one.share(one.best.value),
            "published_scores": len(one.published),
            "published_below_floor": one.below,
        }
        for one in headrooms
    ]
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def to_markdown(headrooms: Sequence[DatasetHeadroom]) -> str:
    """Return the table as Markdown, one line per floor."""
    align = "|".join(" --: " if number in NUMBERS else " :-- " for number in range(len(HEADINGS)))
    lines = [f"| {' | '.join(HEADINGS)} |", f"|{align}|"]
    lines += [f"| {' | '.join(cells)} |" for cells in _rows(headrooms)]
    return "\n".join([*lines, *("\n" + one for one in _remarks(headrooms))]) + "\n"


def to_text(headrooms: Sequence[DatasetHeadroom]) -> str:
    """Return the table as aligned text, one line per floor."""
    rows = [HEADINGS, *_rows(headrooms)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if number in NUMBERS else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in rows
    ]
    return "\n".join([*lines, *_remarks(headrooms)]) + "\n"


BASELINE_RENDERERS: Mapping[str, Callable[[Sequence[DatasetHeadroom]], str]] = {
    "text": to_text,
    "md": to_markdown,
    "json": to_json,
}


def _rows(headrooms: Sequence[DatasetHeadroom]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each floor; those of a dataset from the highest to the lowest."""
    for one in headrooms:
        floors = sorted(one.floors, key=lambda floor: 2.0 if floor.score is None else -floor.score)
        for number, floor in enumerate(floors):
            about = _about(one) if number == 0 else ("",) * 4
            names = (one.dataset, one.metric) if number == 0 else ("", "")
            yield (*names, floor.floor, _percent(floor.score), *about)


def _about(one: DatasetHeadroom) -> tuple[str, str, str, str]:
    """Return ceiling, best published score, its share of the room, and the number of scores below."""
    best, ceiling = one.best, f"{one.ceiling.score:.1f}"
    if best is None:
        return ceiling, "", "", ""
    share = one.share(best.value)
    shown = "" if share is None else f"{100 * share:.0f} %"
    return ceiling, f"{best.value:.2f} ({best.table})", shown, f"{one.below} of {len(one.published)}"


def _percent(score: float | None) -> str:
    return "not defined" if score is None else f"{100 * score:.1f}"


def _remarks(headrooms: Sequence[DatasetHeadroom]) -> Iterator[str]:
    """Yield what the table cannot show: floors that give labels away, and where ceilings are from."""
    for one in headrooms:
        for floor in one.floors:
            if floor.gives_labels_away:
                yield (
                    f"{one.dataset}: {floor.floor} scores {_percent(floor.score)}. What it reads gives the "
                    f"labels away: {floor.definition}."
                )
        if one.ceiling.score != FULL:
            yield f"{one.dataset}: the ceiling is {one.ceiling.source}."
