"""Scores of models on other datasets with mentions of the same type, as a matrix."""

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from pubmill.extras.transfer.transfers import TransferHeading, TransferMatrixRecipe, TransferOfRun
from pubmill.metrics.records import read_record
from pubmill.recipes.tables import project
from pubmill.report.rendering import renderers
from pubmill.statistics.verdict_models import Shape
from pubmill.storage.files import read_json
from pubmill.storage.result_paths import PAGE_FORMATS
from pubmill.tables.cells import parse


@dataclass(frozen=True, kw_only=True)
class TransferScore(TransferOfRun):
    """The scores (0..1) of a run's model on another dataset's test split; None where the run `failed`."""

    metrics: dict[str, float] | None
    counts: dict[str, int] | None
    failed: str | None
    data_sha256: str


class TransferCell(Shape):
    """A cell of the matrix: its scores in per cent by seed, and their aggregate, None if one is missing."""

    trained_on: str
    scored_on: str
    seeds: dict[int, float | None]
    value: float | None

    @property
    def is_own(self) -> bool:
        """Whether the model is scored on the dataset that it was trained on."""
        return self.trained_on == self.scored_on


@dataclass(frozen=True, kw_only=True)
class TransferMatrix(TransferHeading):
    """The transfers of a model in a setting."""

    cells: tuple[TransferCell, ...]

    def cell(self, trained_on: str, scored_on: str) -> TransferCell:
        return next(one for one in self.cells if (one.trained_on, one.scored_on) == (trained_on, scored_on))


def transfer_matrix(recipe: TransferMatrixRecipe, results: Path) -> TransferMatrix:
    """Read the scores of a matrix from a results folder."""
    cells = []
    for one, row in recipe.scores.items():
        for other, files in row.items():
            read = [_score(results / file, one == other, recipe.metrics[other]) for file in files]
            values = [value for _, value in read if value is not None]
            over = median if recipe.aggregate == "median" else fmean
            whole = over(values) if values and len(values) == len(read) else None
            cells.append(TransferCell(trained_on=one, scored_on=other, seeds=dict(read), value=whole))
    return project(TransferMatrix, recipe, cells=tuple(cells))


def _score(path: Path, is_record: bool, metric: str) -> tuple[int, float | None]:
    """Return seed and score in per cent from a record or a transfer."""
    scored = read_record(path) if is_record else parse(TransferScore, read_json(path), str(path))
    metrics = scored.metrics or {}
    return scored.seed, 100 * metrics[metric] if metric in metrics else None


TRANSFER_RENDERERS = renderers("transfer", PAGE_FORMATS, lambda matrix: {"found": matrix})
