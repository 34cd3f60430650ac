"""The page of a dataset: what it holds, where it is from, who may have it, how it differs from the forms
that others publish. From its card and its spec, so it holds numbers and names and none of its text."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.publication.rendering import environment, escape_markdown, to_json
from pubmill.statistics.verdict_models import Shape
from pubmill.storage.files import read_json
from pubmill.tables.cells import parse
from pubmill.tables.dataset_cards import NAMED, Card, Part, read_card

LENGTHS = {"mean": "mean", "median": "median", "p95": "95th percentile", "max": "longest"}
REPEATED = ("repeated_texts", "repeated_documents", "contradictory_texts")
KINDS = {
    "tokens": "sentences with a label for each word",
    "sequence": "a text, or a pair of texts, with one label",
    "multilabel": "texts with any number of labels",
    "regression": "pairs of texts with a score",
    "span": "questions whose answers stand in a text",
}
ACCESS = {
    "public": "public",
    "registration": "free of charge after registration",
    "credentialed": "only for people who were granted access",
}
CHECKS = {
    "sha256": "the specification pins its SHA-256",
    "git_blob": "the specification pins the id that git gives its content",
    None: "a file of the user's own, which the specification does not pin",
}


class PageSource(Shape):
    """A source file: where the spec says it is, how it is checked, and its record below the results."""

    role: str
    place: str
    url: str | None
    check: str | None
    record: str


class SourceRecord(Part):
    """What was noted when a source file was brought here."""

    sha256: str
    origin: str
    retrieved: str


class PageFile(Shape):
    name: str
    sha256: str | None


class PageRecipe(Shape):
    """What decides a page beside the card: the dataset's spec, and the other forms that there are of it.
    `made_up`: at this scale its files are not the published ones."""

    name: str
    label: str
    kind: str
    task: str
    domain: str
    suites: tuple[str, ...]
    metric: str
    negative: str | None
    access: str
    apply: str | None
    licence: str
    citation: str
    duplicates: str
    conflicts: tuple[str, ...]
    notes: tuple[str, ...]
    scale: str
    scale_title: str
    made_up: bool
    card: str
    sources: tuple[PageSource, ...]
    published: dict[str, PageFile]
    variants: tuple[str, ...]
    versions: dict[str, Any]


@dataclass(frozen=True)
class Found:
    """A count of one split; None where the source marks nothing that could be counted."""

    value: int | None
    expected: int | None = None
    share: float | None = None


@dataclass(frozen=True)
class Line:
    """One line of a page's table: a name and a count for each split."""

    name: str
    cells: tuple[Found, ...]


class SourceLine(Shape):
    """A source file as it was found."""

    role: str
    place: str
    url: str | None
    check: str
    bytes: int
    sha256: str
    origin: str
    retrieved: str


class Page(Shape):
    """Everything that a page shows."""

    recipe: PageRecipe
    card: Card
    sources: tuple[SourceLine, ...]

    @property
    def title(self) -> str:
        label = self.recipe.label or self.recipe.name
        return label if label == self.recipe.name else f"{label} ({self.recipe.name})"

    @property
    def warning(self) -> str:
        return self.recipe.scale_title if self.recipe.made_up else ""

    @property
    def kind(self) -> str:
        return KINDS.get(self.recipe.kind, self.recipe.kind)

    @property
    def access(self) -> str:
        return ACCESS.get(self.recipe.access, self.recipe.access)

    @property
    def export(self) -> str:
        """The command that writes the published form."""
        return commands.script(
            "export", self.recipe.name, "FOLDER", "--results", f"results/{self.recipe.scale}"
        )

    @property
    def published(self) -> list[tuple[str, PageFile]]:
        """The files of the published form, by split."""
        files = self.recipe.published
        return [(split, files[split]) for split in self.card.splits if split in files]

    @property
    def counts(self) -> list[Line]:
        """Every count but those by name and of repetitions, those that tell the size first."""
        measures = dict.fromkeys(self.card.sizes) | {
            measure: None for counts in self.card.counts.values() for measure in counts
        }
        shown = [m for m in measures if not m.startswith(NAMED) and m not in REPEATED]
        return [self._line(measure, measure) for measure in shown if self._is_counted(measure)]

    @property
    def repetitions(self) -> list[Line]:
        return [self._line(measure, measure) for measure in REPEATED if self._is_counted(measure)]

    @property
    def left_out(self) -> list[Line]:
        """What the source has and the examples don't, by reason."""
        return [self._line(f"left_out.{name}", name) for name in self.card.named("left_out.")]

    @property
    def labels(self) -> list[Line]:
        """How often each label stands, and its share of all of its split."""
        beginning = self.card.labels
        names = self.card.named(beginning) if beginning else []
        totals = [
            sum(self.card.count(split, beginning + name) or 0 for name in names) for split in self.card.splits
        ]
        return [self._line(beginning + name, name, totals) for name in names]

    @property
    def labels_are(self) -> str:
        """What is counted in `labels`."""
        return {"mentions.": "mentions by type", "words.": "labelled words by type"}.get(
            self.card.labels, "labels"
        )

    @property
    def lengths(self) -> dict[str, dict[str, float]]:
        """Words of white space in an input: name of the figure -> split -> value."""
        return {
            shown: {split: figures[name] for split, figures in self.card.lengths.items() if name in figures}
            for name, shown in LENGTHS.items()
        }

    def _is_counted(self, measure: str) -> bool:
        return any(measure in counts for counts in self.card.counts.values())

    def _line(self, measure: str, name: str, totals: list[int] | None = None) -> Line:
        cells = []
        for index, split in enumerate(self.card.splits):
            value = self.card.count(split, measure)
            share = value / totals[index] if totals and totals[index] and value is not None else None
            cells.append(Found(value, self.card.expect.get(split, {}).get(measure), share))
        return Line(name, tuple(cells))


def make_page(recipe: PageRecipe, results: Path) -> Page:
    """Read the card and the records of the sources; a `PubmillError` names what is absent or wrong."""
    card = read_card(results / recipe.card)
    if card.dataset != recipe.name:
        raise PubmillError(
            f"{results / recipe.card} is the card of {card.dataset}, expected {recipe.name}; "
            f"remove it and convert the dataset again"
        )
    sources = tuple(_source(recipe, card, source, results) for source in recipe.sources)
    return Page(recipe=recipe, card=card, sources=sources)


def _source(recipe: PageRecipe, card: Card, source: PageSource, results: Path) -> SourceLine:
    role = source.role
    record = parse(SourceRecord, read_json(results / source.record), str(results / source.record))
    if role not in card.sources or record.sha256 != card.sources[role].sha256:
        raise PubmillError(
            f"{results / source.record} is not of the file that {recipe.card} was made from ({role} of "
            f"{recipe.name}); remove {recipe.card} and run the same command, which converts the dataset again"
        )
    return SourceLine(
        role=role,
        place=source.place,
        url=source.url,
        check=CHECKS.get(source.check, source.check or ""),
        bytes=card.sources[role].bytes,
        sha256=card.sources[role].sha256,
        origin=record.origin,
        retrieved=record.retrieved[:10],
    )


def read_page(path: Path) -> Page:
    """Read a page as `scripts/dataset_page.py` wrote it."""
    return parse(Page, read_json(path), str(path))


def to_html(page: Page) -> str:
    """A page of its own, without scripts and without anything from elsewhere."""
    return environment().get_template("dataset_page.html.j2").render(page=page)


def to_markdown(page: Page) -> str:
    """The same for a repository, as a README."""
    template = environment(escape_markdown).get_template("dataset_page.md.j2")
    return template.render(page=page, recipe=page.recipe)


FORMS: dict[str, Callable[[Page], str]] = {"json": to_json, "md": to_markdown, "html": to_html}
