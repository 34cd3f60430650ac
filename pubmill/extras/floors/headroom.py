"""Headroom: how far the scores of a study's tables are above their floors, and its page."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from pubmill.extras.floors.floors_recipes import CeilingScore, DatasetFloors, FloorsPageRecipe, TableOfFloors
from pubmill.report.rendering import renderers
from pubmill.statistics.verdict_models import Shape
from pubmill.tables.cells import Table, read_as, read_table

TEMPLATES = Path(__file__).parent / "templates"


class RowFloor(Shape):
    """The highest floor of a row by the row's metric, in per cent, and the ceiling. The room is the distance
    between both."""

    name: str
    score: float
    ceiling: CeilingScore

    def share(self, value: float | None) -> float | None:
        """Return the share of the room that a score takes; None without score or room."""
        room = self.ceiling.score - self.score
        return None if value is None or room <= 0 else (value - self.score) / room


class Headroom(Shape):
    """A row with its highest floor and its ceiling, and its best scores, each with the share of the room that
    it takes: ours, and at a scale with the paper's data the published one."""

    row: str
    metric: str
    floor: RowFloor
    ours: float | None
    share: float | None
    published: float | None
    published_share: float | None


class StudyHeadroom(Shape):
    """Heading and rows of each table of a study that has floors."""

    title: str
    tables: tuple[tuple[str, tuple[Headroom, ...]], ...]


def study_headroom(recipe: FloorsPageRecipe, results: Path) -> StudyHeadroom:
    """Return the headroom in all tables of a study."""
    read = [(read_table(results / one.file), one) for one in recipe.tables]
    made = ((table.heading, tuple(_headroom(table, row_floors(table, one, results)))) for table, one in read)
    return StudyHeadroom(title=recipe.title, tables=tuple((heading, rows) for heading, rows in made if rows))


def row_floors(table: Table, recipe: TableOfFloors, results: Path) -> dict[str, RowFloor]:
    """Return the floors of a table's rows, and of composites all of whose rows have one."""
    floors: dict[str, RowFloor] = {}
    for row in (row for row in table.rows if row.key in recipe.rows):
        datasets = [read_as(DatasetFloors, results / file) for file in recipe.rows[row.key]]
        if floor := _of_datasets(datasets, row.metric):
            floors[row.key] = floor
    for one in recipe.composites:
        rows = [name for group in one.groups.values() for name in group]
        if all(name in floors for name in rows):
            score = one.mean({name: floors[name].score for name in rows})
            ceiling = one.mean({name: floors[name].ceiling.score for name in rows})
            of_rows = CeilingScore(score=ceiling)
            floors[one.name] = RowFloor(name="highest of each dataset", score=score, ceiling=of_rows)
    return floors


def _of_datasets(datasets: list[DatasetFloors], metric: str) -> RowFloor | None:
    """Return the highest floor by a metric of those that all datasets (folds) have, as their mean."""
    scores = [{name: of[metric] for name, of in one.floors.items() if metric in of} for one in datasets]
    common = [name for name in scores[0] if all(name in one for one in scores)]
    if not common:
        return None
    means = {name: 100 * fmean(one[name] for one in scores) for name in common}
    name = max(common, key=lambda name: means[name])
    ceilings = [one.ceilings.get(metric, CeilingScore()) for one in datasets]
    ceiling = CeilingScore(score=fmean(one.score for one in ceilings), source=ceilings[0].source)
    return RowFloor(name=name, score=means[name], ceiling=ceiling)


def _headroom(table: Table, floors: dict[str, RowFloor]) -> Iterator[Headroom]:
    for row in (row for row in table.shown_rows if row.key in floors):
        floor = floors[row.key]
        cells = [table.cells[column.key][row.key] for column in table.columns]
        ours = max((cell.value for cell in cells if cell.value is not None), default=None)
        printed = (cell.published.value for cell in cells if cell.published and table.comparable)
        published = max(printed, default=None)
        yield Headroom(
            row=row.label,
            metric=row.metric,
            floor=floor,
            ours=ours,
            share=floor.share(ours),
            published=published,
            published_share=floor.share(published),
        )


HEADROOM_RENDERERS = renderers("floors", ("json", "html"), lambda shown: {"shown": shown}, folder=TEMPLATES)
