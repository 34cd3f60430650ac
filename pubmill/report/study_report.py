"""The report of a study: one page with its runs, tables, figures, data and sources.

Extras add sections: the constants of type `Section` in a module named `STAGE_section`.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, get_args

from markupsafe import Markup

import pubmill
from pubmill import extras
from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.recipes.report import Reference, ReportRecipe
from pubmill.recipes.tables import printed_name
from pubmill.report import figures, table_views
from pubmill.report.dataset_pages import Page, make_page
from pubmill.report.figures import Chart
from pubmill.report.rendering import count, environment, page_script, quantity, script_digest
from pubmill.report.run_trainings import Trainings, read_trainings
from pubmill.specs.fidelity import FidelityRow, rows_of
from pubmill.specs.spec_types import Standing
from pubmill.specs.study import DEMO
from pubmill.storage.files import read_json
from pubmill.storage.result_paths import (
    DIAGNOSIS,
    RELATIVE,
    STATISTICS,
    Paths,
    below_sources,
    source_of_record,
)
from pubmill.tables.aggregation import machine
from pubmill.tables.cells import NO_RECORD, Table, read_as, read_table
from pubmill.tables.comparisons import Comparisons
from pubmill.tables.dataset_cards import Card
from pubmill.tables.fact_table_models import FactTable

CITATION = (
    f"The pubmill authors. pubmill {pubmill.__version__}: from PubMed XML to the result tables of biomedical "
    "language model papers, as one graph."
)
"""How to cite pubmill."""
LISTED_FILES = 20
"""Source folders with more files are shown as one line with one digest."""

MOST_DRAWN_RUNS = 1000
"""Studies with more runs have no figure with a point for each; the cards of cells list them."""
COUNTS = ("parsed", "documents", "words", "bytes", "rejected", "samples", "by_source", "years")
PIECES = ("size", "documents", "distinct_words", "subwords_per_word", "split_words", "unknown_words")
STATE = ("step", "tokens", "seconds", "hardware")
SOURCE = ("url", "bytes", "sha256", "origin", "retrieved")
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
    modules = {one.__name__.rpartition(".")[2].removesuffix(ENDING): one for one in extras.modules(ENDING)}
    of_stages = (one for stage in recipe.sections for one in vars(modules[stage]).values())
    made = [(one, one.content(recipe, results)) for one in of_stages if isinstance(one, Section)]
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
    strips: dict[str, list[figures.Strip]] | None
    trainings: Trainings
    pretrainings: list[PretrainingSummary]
    corpora: dict[str, dict[str, Any]]
    vocabs: Mapping[str, Mapping[str, object]]
    datasets: dict[str, Page]
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
    def views(self) -> list[table_views.TableView]:
        """The tables of results as the page shows them."""
        return table_views.table_views(self.tables, self.comparisons)

    @property
    def matrices(self) -> dict[str, list[table_views.ModelLine]]:
        """Paper -> the verdicts on its published values by model and table."""
        papers: dict[str, dict[str, Table]] = {}
        for name, table in self.tables.items():
            papers.setdefault(table.paper, {})[name] = table
        by_paper = {paper: table_views.model_lines(tables) for paper, tables in papers.items()}
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
        runs = map(table_views.table_runs, self.tables.values())
        seeds = [seed for one in runs for seed in one.recorded.values()]
        return {seed.record: seed.seconds for seed in seeds if seed.seconds is not None}

    @property
    def times(self) -> dict[str, list[tuple[str, list[float]]]]:
        """Table -> its models, each with the seconds of its fine-tunings."""
        return {name: models for name, table in self.tables.items() if (models := figures.times(table))}

    @property
    def records(self) -> int:
        """Number of recorded runs, each once even if several tables show it."""
        seeds = (seed for table in self.tables.values() for *_, cell in table.read() for seed in cell.seeds)
        return len({seed.record for seed in seeds if seed.failed != NO_RECORD})

    @property
    def pipeline(self) -> figures.PipelineFigure:
        """The stages of the study as a figure, each with its counts."""
        corpora = self.corpora.values()
        provenance = [table.provenance for table in self.tables.values()]
        systems = {model for one in provenance for model in one.systems}
        return figures.pipeline_figure(
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
                "predictions": rounded_count(len(systems), "system"),
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


def read_report(recipe: ReportRecipe, results: Path) -> Report:
    """Read the content of a report; a `PubmillError` names the first file that is missing or wrong."""
    below = Paths(study=recipe.study)
    tables = {name: read_table(results / below.table(name, "json")) for name in recipe.tables}
    runs = sum(len(cell.seeds) for table in tables.values() for *_, cell in table.read())
    has_figures = runs <= MOST_DRAWN_RUNS
    return Report(
        recipe=recipe,
        tables=tables,
        comparisons={
            name: read_as(Comparisons, results / below.comparisons(name, "json")) for name in recipe.tables
        },
        fact_tables={
            name: read_as(FactTable, results / below.table(name, "json")) for name in recipe.fact_tables
        },
        strips={name: figures.strips(table) for name, table in tables.items()} if has_figures else None,
        trainings=read_trainings(tables.values(), results),
        pretrainings=[
            read_pretraining(name, [results / folder for folder in folders])
            for name, folders in recipe.pretraining.items()
        ],
        corpora={
            name: _read_object(results / RELATIVE.corpus(name, STATISTICS), COUNTS) for name in recipe.corpora
        },
        vocabs={
            name: _read_object(results / RELATIVE.vocab(name, DIAGNOSIS), PIECES) for name in recipe.vocabs
        },
        datasets={one.name: make_page(one, results) for one in recipe.datasets},
        sections=shown_sections(recipe, results),
        sources=read_sources(results, recipe.sources),
        statements=statements_by_paper(map(Path, recipe.statements)),
    )


def _read_object(path: Path, keys: Sequence[str]) -> dict[str, Any]:
    value = read_json(path)
    lacking = [key for key in keys if not isinstance(value, dict) or key not in value]
    if lacking:
        raise PubmillError(f"{path} lacks {', '.join(lacking)}; remove it and build it again")
    return dict(value)


def read_pretraining(name: str, folders: Sequence[Path]) -> PretrainingSummary:
    """Read a pretraining from its checkpoints, given in order; each log and its times start at step 0."""
    lines = read_log(folders[-1] / "log.jsonl")
    states = [_read_object(folder / "state.json", STATE) for folder in folders]
    ends = [(state["tokens"], state["step"]) for state in states]
    held_out: list[HeldOut] = []
    for state in states:
        for masking, values in (state.get("held_out") or {}).items():
            names = [key for key in values if key.endswith("_loss") and values[key] is not None]
            losses = {key.removesuffix("_loss").upper(): float(values[key]) for key in names}
            held_out.append((state["step"], masking, losses))
    return PretrainingSummary(
        name=name,
        steps=states[-1]["step"],
        tokens=states[-1]["tokens"],
        seconds=states[-1]["seconds"],
        machines=tuple(dict.fromkeys(machine(state["hardware"]) for state in states)),
        last=lines[-1],
        curve=figures.curve(name, [(line["tokens"], line["loss"]) for line in lines], ends),
        held_out=tuple(held_out),
    )


def read_log(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a training log, each with at least step, tokens and loss."""
    texts = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if not texts:
        raise PubmillError(f"{path} is empty or absent; run this pretraining segment again")
    lines = []
    for number, text in enumerate(texts, 1):
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            line = None
        if not isinstance(line, dict) or not {"step", "tokens", "loss"} <= line.keys():
            raise PubmillError(f"{path}:{number}: expected step, tokens and loss, found {text[:80]}")
        lines.append(line)
    return lines


def read_sources(results: Path, records: Sequence[str]) -> list[SourceFolderSummary]:
    """Read the listed records of source files (paths below `results`), grouped by folder."""
    folders: dict[str, list[dict[str, Any]]] = {}
    for record in sorted(records):
        path, file = results / record, Path(source_of_record(record))
        if not path.is_file():
            raise PubmillError(
                f"{path} does not exist, so the origin of {file.name} is unknown; remove {file} "
                f"from {results} and run the study again, which fetches the file and its record again"
            )
        place = below_sources(file.parent.as_posix())
        folders.setdefault(place, []).append({**_read_object(path, SOURCE), "name": file.name})
    summaries = []
    for name, files in folders.items():
        listing = "".join(f"{file['sha256']}  {file['name']}\n" for file in files)
        summaries.append(
            SourceFolderSummary(
                name=name,
                origins=tuple(sorted({file["origin"] for file in files})),
                retrieved=days_in_words([file["retrieved"][:10] for file in files]),
                bytes=sum(file["bytes"] for file in files),
                sha256=hashlib.sha256(listing.encode()).hexdigest(),
                files=tuple(dict(file) for file in files) if len(files) <= LISTED_FILES else (),
                count=len(files),
            )
        )
    return summaries


def render(report: Report) -> str:
    """Return the report as one self-contained page, which can be read without its script."""
    script, made = page_script("grids", "sorting", "cards", "navigation"), environment()
    study = report.recipe.study
    files = [] if study == DEMO else [f"studies/{study}.yaml"]
    made.globals |= {
        "run_command": commands.pubmill(*([DEMO] if study == DEMO else ["run", study])),
        "snakemake_command": commands.snakemake(configuration=commands.configuration_options(files)),
        "explain_command": commands.pubmill("explain", "--study", study),
        "table_file": Paths(study=study).table,
        "runs_of_tables": {name: table_views.table_runs(table) for name, table in report.tables.items()},
        "tally": table_views.tally(report.tables.values()),
        "composite_scores": table_views.composite_scores(report.tables),
        "shared_notes": table_views.shared_notes(report.tables),
        "dataset_notes": table_views.dataset_notes(report.tables.values()),
        "trainings_of": report.trainings.folders,
        "version": pubmill.__version__,
        "citation": CITATION,
        "script": Markup(script),
        "script_hash": script_digest(script),
    }
    return made.get_template("report.html.j2").render(report=report)
