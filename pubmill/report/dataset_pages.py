"""The page of a dataset in a report: content, sources, access, and differences from other published variants.

A page is made from the dataset's card and spec, so it contains numbers and names but no text of the dataset.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.examples.kind_facts import FACTS
from pubmill.messages import commands
from pubmill.recipes.datasets import PublishedFile
from pubmill.recipes.report import PageRecipe
from pubmill.storage.result_paths import paths_of_scale
from pubmill.tables.cells import read_as
from pubmill.tables.dataset_cards import NAMED, Card, CardPart, cautions, read_card

LENGTHS = {"mean": "mean", "median": "median", "p95": "95th percentile", "max": "longest"}
REPEATED = ("repeated_texts", "repeated_documents", "contradictory_texts")
ACCESS = {
    "public": "public",
    "registration": "free of charge after registration",
    "local": "the user's own, not public",
    "credentialed": "only for people who were granted access",
}
CHECKS = {
    "sha256": "the specification pins its SHA-256",
    "git_blob": "the specification pins the id that git gives its content",
    None: "a file of the user's own, which the specification does not pin",
}


class SourceRecord(CardPart):
    """The record written when a source file was retrieved."""

    sha256: str
    origin: str
    retrieved: str


class SplitCount(NamedTuple):
    """A count in one split; None if the source does not annotate it."""

    value: int | None
    expected: int | None = None
    share: float | None = None


CountLine = tuple[str, list[SplitCount]]
"""A name, and a count for each split."""


class SourceLine(NamedTuple):
    """A source file as it was retrieved."""

    role: str
    place: str
    url: str | None
    check: str
    bytes: int
    sha256: str
    origin: str
    retrieved: str


@dataclass(frozen=True)
class Page:
    """The content of a page."""

    recipe: PageRecipe
    card: Card
    sources: tuple[SourceLine, ...]

    @property
    def title(self) -> str:
        """The dataset's label and name."""
        label = self.recipe.label or self.recipe.name
        return label if label == self.recipe.name else f"{label} ({self.recipe.name})"

    @property
    def warning(self) -> str:
        """The scale, if its files are not the published ones, else nothing."""
        return self.recipe.scale_title if self.recipe.made_up else ""

    @property
    def kind(self) -> str:
        """The kind of examples in words."""
        return FACTS[self.recipe.kind].described

    @property
    def access(self) -> str:
        """The access class in words."""
        return ACCESS.get(self.recipe.access, self.recipe.access)

    @property
    def export(self) -> str:
        """The command that writes the published form."""
        results = paths_of_scale(self.recipe.scale).results
        return commands.pubmill("export", self.recipe.name, "FOLDER", "--results", results)

    @property
    def published(self) -> list[tuple[str, PublishedFile]]:
        """The files of the published form, by split."""
        files = self.recipe.published
        return [(split, files[split]) for split in self.card.splits if split in files]

    @property
    def counts(self) -> list[CountLine]:
        """Every count except per-label ones and repetitions; those that describe the size come first."""
        counted = (measure for counts in self.card.counts.values() for measure in counts)
        measures = dict.fromkeys([*self.card.sizes, *counted])
        return self._count_lines(m for m in measures if not m.startswith(NAMED) and m not in REPEATED)

    @property
    def repetitions(self) -> list[CountLine]:
        """The counts of repeated and contradictory texts and documents."""
        return self._count_lines(REPEATED)

    @property
    def left_out(self) -> list[CountLine]:
        """Counts of source items that are in no example, by reason."""
        return [self._count_line(f"left_out.{name}", name) for name in self.card.counted_names("left_out.")]

    @property
    def labels(self) -> list[CountLine]:
        """The count of each label, and its share of all labels in its split."""
        kind, splits = self.card.labels, self.card.splits
        names = self.card.counted_names(kind) if kind else []
        totals = [sum(self.card.count(split, kind + name) or 0 for name in names) for split in splits]
        return [self._count_line(kind + name, name, totals) for name in names]

    @property
    def labels_are(self) -> str:
        """The name of the labels that `labels` counts."""
        named = {"mentions.": "mentions by type", "words.": "labelled words by type"}
        return named.get(self.card.labels, "labels")

    @property
    def cautions(self) -> tuple[str, ...]:
        """What is doubtful in the data, a line each."""
        return cautions(self.card)

    @property
    def lengths(self) -> dict[str, dict[str, float]]:
        """Lengths of inputs in whitespace-separated words: name of the statistic -> split -> value."""
        return {
            shown: {split: figures[name] for split, figures in self.card.lengths.items() if name in figures}
            for name, shown in LENGTHS.items()
        }

    def _count_lines(self, measures: Iterable[str]) -> list[CountLine]:
        counted = {measure for counts in self.card.counts.values() for measure in counts}
        return [self._count_line(measure, measure) for measure in measures if measure in counted]

    def _count_line(self, measure: str, name: str, totals: list[int] | None = None) -> CountLine:
        cells = []
        for index, split in enumerate(self.card.splits):
            value = self.card.count(split, measure)
            share = value / totals[index] if totals and totals[index] and value is not None else None
            cells.append(SplitCount(value, self.card.expect.get(split, {}).get(measure), share))
        return name, cells


def make_page(recipe: PageRecipe, results: Path) -> Page:
    """Read the card and the source records of a page; a `PubmillError` names a missing or wrong file."""
    card = read_card(results / recipe.card)
    if card.dataset != recipe.name:
        raise PubmillError(
            f"{results / recipe.card} is the card of {card.dataset}, expected {recipe.name}; "
            f"remove it and convert the dataset again"
        )
    lines = []
    for source in recipe.sources:
        path, made_from = results / source.record, card.sources.get(source.role)
        record = read_as(SourceRecord, path)
        if made_from is None or record.sha256 != made_from.sha256:
            raise PubmillError(
                f"{path} describes another file than {recipe.card} was made from ({source.role} of "
                f"{recipe.name}); remove {recipe.card} and run the same command, which converts the dataset "
                "again"
            )
        lines.append(
            SourceLine(
                role=source.role,
                place=source.place,
                url=source.url,
                check=CHECKS.get(source.check, source.check or ""),
                bytes=made_from.bytes,
                sha256=made_from.sha256,
                origin=record.origin,
                retrieved=record.retrieved[:10],
            )
        )
    return Page(recipe=recipe, card=card, sources=tuple(lines))
