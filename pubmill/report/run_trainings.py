"""How the runs of a report were trained: their resolved recipes, and the course of dev score and loss."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import Any

from pubmill.report.figures import Axis, thinned
from pubmill.report.rendering import number
from pubmill.storage.result_paths import RELATIVE, ChoiceKey, run_of
from pubmill.tables.cells import Table, read_as
from pubmill.tables.dataset_cards import CardPart

WIDTH, HEIGHT = 120, 36
"""Size of a course as a figure."""
MOST_POINTS, FEWEST_POINTS = 40, 6
POINTS_OF_PAGE = 8000
"""Points that all dev lines (or all loss lines) of a page share, so that a page of all tables stays small."""

Point = tuple[float, float]


class DevScores(CardPart):
    """Scores on dev by step, and the best of them."""

    steps: tuple[int, ...]
    scores: tuple[float | None, ...]
    best: float | None
    best_epoch: float | None


class TrainingNotes(CardPart):
    """The part of `seed-N.training.json` that the report shows."""

    recipe: dict[str, Any]
    dev: DevScores
    loss_by_epoch: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Course:
    """Mean dev score and training loss of a folder's runs, as SVG paths and in words. Each line has its own
    scale; `scales`: lowest and highest value of both, such as `50.0 91.0;0.3 0.9`."""

    dev: str
    loss: str
    text: str
    scales: str


@dataclass(frozen=True)
class FolderTraining:
    """The runs of one folder. `place`: its anchor on the page; `recipes`: numbers of the runs' recipes, from
    1; `course`: None if nothing was trained."""

    folder: str
    place: str
    recipes: tuple[int, ...]
    course: Course | None


@dataclass(frozen=True)
class Trainings:
    """The trainings of all runs of a report, each folder and each recipe once.

    - `usual`: the most frequent value of each key; `recipes`: the other values of each recipe, in order of
      number.
    - `folders`: folder of records -> its runs.
    - `searched`: whether hyper-parameters of any of them were chosen by trials.
    """

    usual: dict[str, str]
    recipes: tuple[dict[str, str], ...]
    folders: dict[str, FolderTraining]
    searched: bool = False


def read_trainings(tables: Iterable[Table], results: Path) -> Trainings:
    """Read the trainings of all runs of the tables, as far as their files are there."""
    records = dict.fromkeys(
        seed.record for table in tables for *_, cell in table.read() for seed in cell.seeds if seed.record
    )
    folders: dict[str, list[TrainingNotes]] = {}
    for record in records:
        path = results / RELATIVE.training(*run_of(record))
        notes = folders.setdefault(str(PurePosixPath(record).parent), [])
        if path.is_file():
            notes.append(read_as(TrainingNotes, path))
    runs = [run_of(record).run for record in records]
    choices = {
        RELATIVE.choice(ChoiceKey(run.protocol, model, run.dataset, run.setting))
        for run in runs
        for model in (run.model, None)
    }
    return replace(summarise(folders), searched=any((results / choice).is_file() for choice in choices))


def summarise(runs: Mapping[str, Sequence[TrainingNotes]]) -> Trainings:
    """Number the distinct recipes and draw the courses; `runs`: folder -> its runs."""
    most = min(MOST_POINTS, max(FEWEST_POINTS, POINTS_OF_PAGE // max(len(runs), 1)))
    numbers: dict[str, int] = {}
    folders = {}
    for place, (folder, notes) in enumerate(runs.items(), 1):
        trained = [one.recipe for one in notes if "learning_rate" in one.recipe]  # not supplied predictions
        texts = dict.fromkeys(json.dumps(one, sort_keys=True) for one in trained)
        recipes = tuple(numbers.setdefault(text, len(numbers) + 1) for text in texts)
        shown = "/".join(PurePosixPath(folder).parts[1:5])  # protocol, model, dataset and setting
        folders[folder] = FolderTraining(shown, f"c{place}", recipes, course(notes, most))
    values = [
        {
            key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
            for key, value in json.loads(text).items()
        }
        for text in numbers
    ]
    keys = dict.fromkeys(key for one in values for key in one)
    usual = {key: Counter(one[key] for one in values if key in one).most_common(1)[0][0] for key in keys}
    own = tuple({key: value for key, value in one.items() if usual.get(key) != value} for one in values)
    return Trainings(usual, own, folders)


def course(runs: Sequence[TrainingNotes], most: int) -> Course | None:
    """Return the mean course of runs, each line with at most this many points; None without any point."""
    last = max((step for run in runs for step in run.dev.steps), default=1)
    lines = [list(zip(run.dev.steps, run.dev.scores, strict=False)) for run in runs]
    dev = means([[(step / last, score) for step, score in line] for line in lines])
    epochs = max((len(run.loss_by_epoch) for run in runs), default=0)
    loss = means([[((i + 1) / epochs, value) for i, value in enumerate(run.loss_by_epoch)] for run in runs])
    if not dev and not loss:
        return None
    dev, loss = thinned(dev, most), thinned(loss, most)
    scales = f"{_ends([100 * y for _, y in dev], '.1f')};{_ends([y for _, y in loss], '.3g')}"
    return Course(path(dev), path(loss), _text(runs, loss, epochs), scales)


def _ends(values: Sequence[float], form: str) -> str:
    """Return the lowest and the highest value of a line; empty if it is not drawn."""
    return f"{min(values):{form}} {max(values):{form}}" if len(values) > 1 else ""


def means(lines: Sequence[Sequence[tuple[float, float | None]]]) -> list[Point]:
    """Return the mean of lines at each position where any of them has a value."""
    by_x: dict[float, list[float]] = {}
    for x, y in (point for line in lines for point in line):
        if y is not None:
            by_x.setdefault(x, []).append(y)
    return [(x, fmean(values)) for x, values in sorted(by_x.items())]


def path(points: Sequence[Point]) -> str:
    """Return the path of a line, in whole units, over the height of the figure; empty below two points."""
    if len(points) < 2:
        return ""
    low, high = min(y for _, y in points), max(y for _, y in points)
    x, y = Axis(0, 1, 0, WIDTH), Axis(low, high if high > low else low + 1, HEIGHT - 2, 2)
    places = [(round(x.at(a)), round(y.at(b))) for a, b in points]
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(places)]
    return f"M{places[0][0]} {places[0][1]}l" + " ".join(
        f"{right}{down}" if down < 0 else f"{right} {down}" for right, down in steps
    )


def _text(runs: Sequence[TrainingNotes], loss: Sequence[Point], epochs: int) -> str:
    """Describe a course: the best dev scores of the runs and their epochs, first and last loss."""
    best = [100 * run.dev.best for run in runs if run.dev.best is not None]
    at = [run.dev.best_epoch for run in runs if run.dev.best_epoch is not None]
    parts = []
    if best:
        where = f", epoch {_range([f'{epoch:g}' for epoch in sorted(at)])}" if at else ""
        parts.append(f"dev {_range([number(score) for score in sorted(best)])}{where}")
    if loss:
        ends = _range([f"{loss[0][1]:.3g}", f"{loss[-1][1]:.3g}"])
        parts.append(f"loss {ends}, {epochs} epoch{'s' if epochs > 1 else ''}")
    return "; ".join(parts)


def _range(values: Sequence[str]) -> str:
    return values[0] if values[0] == values[-1] else f"{values[0]} to {values[-1]}"
