"""A table's scores split by what the scored items share with training; the extra `overlap` splits them."""

from dataclasses import dataclass

from pydantic import Field

from pubmill.metrics.training_overlap import CONCEPT_PARTS, NOT_KNOWN, Counts, total
from pubmill.recipes.tables import Heading
from pubmill.statistics.verdict_models import Shape
from pubmill.tables.cells import is_none

BY = {
    "mentions": "by the words of mentions",
    "arguments": "by the arguments of relations",
    "documents": "by documents that are in training too",
    "pretraining": "by documents found in the pretraining corpus",
    "years": "by year of publication",
}
"""What scores are split by -> its heading, in the order in which they are shown."""


class PartScores(Shape):
    """Counts of a part, added up over the runs of a cell."""

    part: str
    gold: int
    predicted: int
    correct: int

    @property
    def counts(self) -> Counts:
        return Counts(self.gold, self.predicted, self.correct)

    @property
    def has_precision(self) -> bool:
        """Whether precision is meaningful; not by concept, because wrong predictions have no identifier."""
        return self.part not in CONCEPT_PARTS


class Dated(Shape):
    """Numbers of scored documents, and of those with a year. `unnamed`: examples of unknown documents."""

    documents: int
    with_year: int
    unnamed: int

    @property
    def text(self) -> str:
        """The numbers in words."""
        unnamed = f"; {self.unnamed} examples name no document" if self.unnamed else ""
        without = self.documents - self.with_year
        return f"{self.with_year} of {self.documents} documents have a year, {without} have none{unnamed}"


class CellParts(Shape):
    """The scores of a cell, split `by` mentions, arguments, documents, pretraining or years. `dated`: its
    scored documents with and without a year; only in the split by documents, if years were looked up."""

    row: str
    column: str
    by: str
    runs: int
    parts: tuple[PartScores, ...]
    dated: Dated | None = Field(default=None, exclude_if=is_none)

    @property
    def says_something(self) -> bool:
        """Whether any item is in a part whose documents or years are known."""
        return any(part.gold or part.predicted for part in self.parts if part.part not in NOT_KNOWN)

    @property
    def together(self) -> Counts:
        """The counts of all parts."""
        return total(one.counts for one in self.parts)

    def share(self, part: PartScores) -> float:
        """Return a part's share of the gold items."""
        return part.gold / self.together.gold if self.together.gold else 0.0


@dataclass(frozen=True, kw_only=True)
class OverlapTable(Heading):
    """Split scores of the cells of a table with runs on entities or relations; labels are by key."""

    training: tuple[str, ...]
    row_labels: dict[str, str]
    column_labels: dict[str, str]
    cells: tuple[CellParts, ...]

    @property
    def method(self) -> str:
        """What is split, in words."""
        return (
            f"Gold and predicted items, split by what they share with {' and '.join(self.training)}. The "
            "counts of all runs of a cell are added up; those of the parts add up to the whole. Mentions: "
            "the same words (verbatim), the same but for case, the same letters and digits (other form), or "
            "new words; of these a new name of a known concept, a new concept, or no identifier, such as a "
            "wrong prediction. Arguments of relations: the two together, both apart, one, or none."
        )

    @property
    def groups(self) -> list[list[CellParts]]:
        """The cells of each row that are split into the same parts, without those that say nothing."""
        alike: dict[tuple[str, ...], list[CellParts]] = {}
        for one in (one for one in self.cells if one.says_something):
            alike.setdefault((one.row, one.by, *(part.part for part in one.parts)), []).append(one)
        rows, by = list(self.row_labels), list(BY)
        return sorted(alike.values(), key=lambda ones: (rows.index(ones[0].row), by.index(ones[0].by)))

    @property
    def year_notes(self) -> list[str]:
        """How many documents of each row have a year."""
        of_rows = {one.row: one.dated for one in self.cells if one.dated}
        return [f"{self.row_labels[row]}: {dated.text}." for row, dated in of_rows.items()]
