"""The content of a report, and the sections that extras add: the constant `SECTION` of a module named
`STAGE_section`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, get_args

from markupsafe import Markup
from pandas import concat

from pubmill import extras
from pubmill.messages import commands
from pubmill.recipes.report import Reference, ReportRecipe
from pubmill.recipes.tables import printed_name
from pubmill.report.contradictions import Contradictions
from pubmill.report.dataset_pages import Page
from pubmill.report.figures import Chart, PipelineFigure, Strip, pipeline_figure, times
from pubmill.report.rendering import count, quantity
from pubmill.report.run_trainings import Trainings
from pubmill.report.table_views import ModelLine, TableView, model_lines, table_views
from pubmill.specs.fidelity import FidelityRow, rows_of
from pubmill.specs.spec_types import Standing
from pubmill.specs.study import DEMO
from pubmill.storage.result_paths import RELATIVE
from pubmill.tables.cells import NO_RECORD, Table
from pubmill.tables.comparisons import Comparisons
from pubmill.tables.dataset_cards import Card
from pubmill.tables.fact_table_models import FactTable
from pubmill.tables.table_frames import run_frame

ENDING = "_section"


class Section(NamedTuple):
    """A section of the report.

    - `anchor`, `title`: its anchor and heading in the page.
    - `content`: function `(recipe, results)` that returns its HTML below the heading, from files of its
      stage (`Stage.reported`); None if there is nothing to show.
    """

    anchor: str
    title: str
    content: Callable[[ReportRecipe, Path], Markup | None]


def shown_sections(recipe: ReportRecipe, results: Path) -> list[tuple[Section, Markup]]:
    """Return the sections of the stages that the recipe names, with their content, without empty ones."""
    modules = extras.modules(ENDING)
    known = {one.__name__.rpartition(".")[2].removesuffix(ENDING): one.SECTION for one in modules}
    made = [(known[stage], known[stage].content(recipe, results)) for stage in recipe.sections]
    return [(section, content) for section, content in made if content is not None]


@dataclass(frozen=True)
class Statements:
    """The statements on a paper, counted by standing, and by spec (`protocols/blurb`)."""

    counts: dict[Standing, int]
    by_spec: dict[str, list[FidelityRow]]


def statements_by_paper(files: Iterable[Path]) -> dict[str, Statements]:
    """Return the statements in some specs, by paper."""
    papers = {}
    for paper, of_paper in groupby(rows_of(files), key=lambda row: row.paper):
        rows = list(of_paper)
        counts = Counter(row.statement.standing for row in rows)
        by_spec = {spec: list(of_spec) for spec, of_spec in groupby(rows, key=lambda row: row.spec)}
        papers[paper] = Statements({standing: counts[standing] for standing in get_args(Standing)}, by_spec)
    return papers


HeldOut = tuple[int, str, dict[str, float]]
"""Step of a checkpoint, masking, and its losses on held-out documents by name (`MLM`)."""


@dataclass(frozen=True)
class PretrainingSummary:
    """One pretraining up to its last checkpoint; `machines` includes those of all its segments."""

    name: str
    steps: int
    tokens: int
    seconds: float
    machines: tuple[str, ...]
    last: dict[str, Any]
    curve: Chart | None
    held_out: tuple[HeldOut, ...] = ()


@dataclass(frozen=True)
class SourceFolderSummary:
    """Source files of one folder; `sha256` is the digest of the `sha256sum` list of all its files."""

    name: str
    origins: tuple[str, ...]
    retrieved: str
    bytes: int
    sha256: str
    files: tuple[dict[str, Any], ...]
    count: int

    @property
    def host(self) -> str:
        """The host that the files come from."""
        return self.name.partition("/")[0]


@dataclass(frozen=True)
class Report:
    """The content of the page."""

    recipe: ReportRecipe
    tables: dict[str, Table]
    comparisons: dict[str, Comparisons]
    fact_tables: dict[str, FactTable]
    strips: dict[str, list[Strip]] | None
    charts: dict[str, list[Chart]]
    trainings: Trainings
    pretrainings: list[PretrainingSummary]
    corpora: dict[str, dict[str, Any]]
    vocabs: Mapping[str, Mapping[str, object]]
    datasets: dict[str, Page]
    contradictions: Contradictions
    sections: list[tuple[Section, Markup]]
    sources: list[SourceFolderSummary]
    statements: dict[str, Statements]

    @property
    def banner(self) -> str:
        """The warning of a scale that is not comparable with the papers, else nothing."""
        return "" if self.recipe.comparable else self.recipe.scale_title

    @property
    def models(self) -> list[str]:
        """The first label of each model that the study runs, in the order of the tables."""
        labels: dict[str, str] = {}
        for column in (column for table in self.tables.values() for column in table.columns):
            if column.model in self.recipe.models:
                labels.setdefault(str(column.model), column.label)
        return list(labels.values())

    @property
    def contents(self) -> dict[str, list[tuple[str, str, str]]]:
        """Paper -> printed name, anchor and topic of its tables in the order of their numbers, then of tables
        made from a section of its text."""
        papers: dict[str, list[tuple[str, str, str]]] = {}
        for letter, tables in (("t", self.tables), ("f", self.fact_tables)):
            for number, (name, table) in enumerate(tables.items(), 1):
                paper, _, file = name.partition("/")
                entry = (printed_name(file), f"{letter}{number}", table.title.partition(": ")[2])
                papers.setdefault(paper, []).append(entry)

        def order(entry: tuple[str, str, str]) -> tuple[bool, int]:
            word, number = entry[0].split()
            return word != "Table", int(number)

        return {paper: sorted(papers[paper], key=order) for paper in sorted(papers)}

    @cached_property
    def views(self) -> list[TableView]:
        """The tables of results as the page shows them."""
        return table_views(self.tables, self.comparisons)

    @property
    def matrices(self) -> dict[str, list[ModelLine]]:
        """Paper -> the verdicts on its published values by model and table."""
        papers: dict[str, dict[str, Table]] = {}
        for name, table in self.tables.items():
            papers.setdefault(table.paper, {})[name] = table
        by_paper = {paper: model_lines(tables) for paper, tables in papers.items()}
        return {paper: lines for paper, lines in by_paper.items() if any(one.tested for one in lines)}

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits of the code that made the runs."""
        of_tables = (commit for table in self.tables.values() for commit in table.provenance.commits)
        return tuple(dict.fromkeys(of_tables))

    @property
    def retrieved(self) -> str:
        """The days on which the source files were retrieved."""
        days = [day for folder in self.sources for day in folder.retrieved.split(" to ")]
        return days_in_words(days) if days else ""

    @property
    def embeds_pages(self) -> bool:
        """Whether the report contains the datasets' pages; at full scale they are only separate files."""
        return not self.recipe.comparable

    def page_link(self, dataset: str) -> str:
        """Return the address of a dataset's page."""
        return f"#page-{dataset}" if self.embeds_pages else f"../{RELATIVE.page(dataset, 'html')}"

    @property
    def command(self) -> str:
        """The command that makes the study."""
        study = self.recipe.study
        return commands.pubmill(*([DEMO] if study == DEMO else ["run", study]))

    @property
    def snakemake_command(self) -> str:
        """The Snakemake command that makes the study."""
        files = [] if self.recipe.study == DEMO else [f"studies/{self.recipe.study}.yaml"]
        return commands.snakemake(configuration=commands.configuration_options(files))

    @property
    def explain_command(self) -> str:
        """The command that explains a cell, without its table, row and column."""
        return commands.pubmill("explain", "--study", self.recipe.study)

    @property
    def references(self) -> list[Reference]:
        """How to cite the papers of all tables: as the protocol says, else by the first table's source."""
        cited: dict[str, Reference] = {}
        for table in (*self.tables.values(), *self.fact_tables.values()):
            cited.setdefault(table.paper, Reference(text=table.citation))
        cited |= {paper: one for paper, one in self.recipe.references.items() if paper in cited}
        return [cited[paper] for paper in sorted(cited) if cited[paper].text]

    @property
    def anchors(self) -> dict[str, str]:
        """Table of results -> its place on the page."""
        return {view.name: f"#{view.anchor}" for view in self.views}

    @property
    def runs(self) -> dict[str, float]:
        """Record -> seconds of every recorded fine-tuning, each once even if several tables show it."""
        runs = []
        for table in self.tables.values():
            pipelines = [column.key for column in table.columns if column.pipeline]
            timed = run_frame(table).dropna(subset="seconds")
            runs.append(timed[~timed["column"].isin(pipelines)])
        return dict(concat(runs).drop_duplicates("record").set_index("record")["seconds"]) if runs else {}

    @property
    def times(self) -> dict[str, list[tuple[str, list[float]]]]:
        """Table -> its models, each with the seconds of its fine-tunings."""
        return {name: models for name, table in self.tables.items() if (models := times(table))}

    @property
    def own_contradictions(self) -> Contradictions:
        """The contradictions that involve a value of the study's tables."""
        return self.contradictions.of_tables(self.recipe.tables)

    @property
    def records(self) -> int:
        """Number of recorded runs, each once even if several tables show it."""
        seeds = (seed for table in self.tables.values() for *_, cell in table.read() for seed in cell.seeds)
        return len({seed.record for seed in seeds if seed.failed != NO_RECORD})

    @property
    def pipeline(self) -> PipelineFigure:
        """The stages of the study as a figure, each with its counts."""
        corpora = self.corpora.values()
        provenance = [table.provenance for table in self.tables.values()]
        pipelines = {model for one in provenance for model in one.pipelines}
        return pipeline_figure(
            {
                "download": rounded_count(sum(folder.count for folder in self.sources), "file"),
                "parse": rounded_count(sum(corpus["parsed"] for corpus in corpora), "citation"),
                "select": rounded_count(sum(corpus["documents"] for corpus in corpora), "document"),
                "vocabulary": rounded_count(len(self.vocabs), "vocabulary", "vocabularies"),
                "pack": rounded_count(len(self.corpora), "corpus", "corpora"),
                "pretrain": rounded_count(len(self.pretrainings), "recipe"),
                "models": rounded_count(len(self.recipe.models), "model"),
                "convert": rounded_count(len(self.recipe.datasets), "dataset"),
                "trials": "hyper-parameters" if self.trainings.searched else "",
                "fine-tune": rounded_count(len(self.runs), "run"),
                "annotate": rounded_count(len(pipelines), "system"),
                "score": rounded_count(self.records, "run"),
                "tables": rounded_count(len(self.tables) + len(self.fact_tables), "table"),
                "report": "this page",
            },
            self.recipe.rules,
        )

    @property
    def datasets_by_sizes(self) -> dict[tuple[str, ...], dict[str, Card]]:
        """The dataset cards grouped by the counts that describe their size; each group becomes one table."""
        groups: dict[tuple[str, ...], dict[str, Card]] = {}
        for name, page in self.datasets.items():
            groups.setdefault(page.card.sizes, {})[name] = page.card
        return groups


def rounded_count(number: int, one: str, many: str = "") -> str:
    """Return a number of things in words; nothing if there are none."""
    if not number:
        return ""
    figure = count(number) if number < 10_000 else quantity(number)
    return f"{figure} {one if number == 1 else many or one + 's'}"


def days_in_words(days: Sequence[str]) -> str:
    """Return the first and the last day, or the only one."""
    first, last = min(days), max(days)
    return first if first == last else f"{first} to {last}"
