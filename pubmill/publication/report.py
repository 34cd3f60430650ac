"""The report of a study: one page with its runs, tables, figures, data and sources."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pandas import DataFrame, concat

from pubmill.errors import PubmillError
from pubmill.publication.charts import Chart, agreement, fragmentation, learning
from pubmill.publication.contradictions import Contradictions, read_contradictions
from pubmill.publication.dataset_pages import Page, read_page
from pubmill.publication.fact_rendering import fact_marks
from pubmill.publication.figures import Curve, Strip, curve, strips
from pubmill.publication.rendering import environment, reasons
from pubmill.publication.statements import Statements, statements_by_paper
from pubmill.publication.training_times import ModelTimes, time_strip, times
from pubmill.recipes.publication import ReportRecipe
from pubmill.storage.files import read_json
from pubmill.storage.path_lists import paths_of
from pubmill.storage.result_paths import BELOW, DIAGNOSIS, STATISTICS, below_sources, source_of_record
from pubmill.tables.aggregation import machine
from pubmill.tables.audit import Audit, read_audit, with_unreachable
from pubmill.tables.cells import Table, read_table
from pubmill.tables.comparisons import Comparisons, read_comparisons
from pubmill.tables.dataset_cards import Card
from pubmill.tables.fact_table_models import FactTable, read_fact_table
from pubmill.tables.table_frames import run_frame

LISTED_FILES = 20
"""Source folders with more files are shown as one line with one digest."""

COUNTS = ("parsed", "documents", "words", "bytes", "rejected", "samples", "by_source", "years")
PIECES = ("size", "documents", "distinct_words", "subwords_per_word", "split_words", "unknown_words")
STATE = ("step", "tokens", "seconds", "hardware")
SOURCE = ("url", "bytes", "sha256", "origin", "retrieved")


@dataclass(frozen=True)
class PretrainingSummary:
    """One pretraining up to its last checkpoint; `machines` includes those of all its segments."""

    name: str
    steps: int
    tokens: int
    seconds: float
    machines: tuple[str, ...]
    last: dict[str, Any]
    curve: Curve | None


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


@dataclass(frozen=True)
class Report:
    """The content of the page."""

    recipe: ReportRecipe
    tables: dict[str, Table]
    comparisons: dict[str, Comparisons]
    fact_tables: dict[str, FactTable]
    strips: dict[str, list[Strip]]
    charts: dict[str, list[Chart]]
    pretrainings: list[PretrainingSummary]
    corpora: dict[str, dict[str, Any]]
    vocabs: dict[str, dict[str, Any]]
    datasets: dict[str, Page]
    contradictions: Contradictions
    audit: Audit
    sources: list[SourceFolderSummary]
    statements: dict[str, Statements]

    @property
    def banner(self) -> str:
        """The warning of a scale that is not comparable with the papers, else nothing."""
        return "" if self.recipe.comparable else self.recipe.scale_title

    @property
    def models(self) -> list[str]:
        """Labels of the models that the study runs, in the order of the tables; the first label of each
        model."""
        labels: dict[str, str] = {}
        for column in (column for table in self.tables.values() for column in table.columns):
            if column.model in self.recipe.models:
                labels.setdefault(str(column.model), column.label)
        return list(labels.values())

    @property
    def contents(self) -> dict[str, list[tuple[str, str]]]:
        """Paper -> its tables, each with its printed name and its anchor on the page."""
        found: dict[str, list[tuple[str, str]]] = {}
        for letter, tables in (("t", self.tables), ("f", self.fact_tables)):
            for number, table in enumerate(tables, 1):
                paper, _, name = table.partition("/")
                title = f"Table {name.removeprefix('table').lstrip('0')}"
                found.setdefault(paper, []).append((title, f"{letter}{number}"))
        return {
            paper: sorted(tables, key=lambda place: int(place[0].split()[1]))
            for paper, tables in sorted(found.items())
        }

    @property
    def anchors(self) -> dict[str, str]:
        """Table of results -> its place on the page."""
        return {table: f"#t{number}" for number, table in enumerate(self.tables, 1)}

    @property
    def runs(self) -> dict[str, float]:
        """Record -> seconds of every recorded fine-tuning, each once even if several tables show it."""
        runs = [_timed_runs(table) for table in self.tables.values()]
        return dict(concat(runs).drop_duplicates("record").set_index("record")["seconds"]) if runs else {}

    @property
    def times(self) -> dict[str, list[ModelTimes]]:
        """Table -> fine-tuning times of its models."""
        return {name: found for name, table in self.tables.items() if (found := times(table))}

    @property
    def time_strips(self) -> list[Strip]:
        """The fine-tuning times as figures."""
        made = (time_strip(name, found) for name, found in self.times.items())
        return [strip for strip in made if strip]

    @property
    def own_contradictions(self) -> Contradictions:
        """The contradictions that involve a value of the study's tables."""
        return self.contradictions.of_tables(self.recipe.tables)

    @property
    def own_audit(self) -> Audit:
        """The verdicts on the published values of the study's tables."""
        return self.audit.of_tables(self.recipe.tables)

    @property
    def datasets_by_sizes(self) -> dict[tuple[str, ...], dict[str, Card]]:
        """The dataset cards grouped by the counts that describe their size; each group becomes one table."""
        groups: dict[tuple[str, ...], dict[str, Card]] = {}
        for name, page in self.datasets.items():
            groups.setdefault(page.card.sizes, {})[name] = page.card
        return groups


def _timed_runs(table: Table) -> DataFrame:
    """Return the runs of a table's fine-tuned models that have a record."""
    pipelines = [column.key for column in table.columns if column.pipeline]
    runs = run_frame(table).dropna(subset="seconds")
    return runs[~runs["column"].isin(pipelines)]


def read_report(recipe: ReportRecipe, results: Path) -> Report:
    """Read the content of a report; a `PubmillError` names the first file that is missing or wrong."""
    audit = Audit(findings=())
    if recipe.tables and recipe.comparable:
        audit = read_audit(results / BELOW.audit("json"))
    found = {name: read_table(results / BELOW.table(name, "json")) for name in recipe.tables}
    tables = {name: with_unreachable(table, audit) for name, table in found.items()}
    contradictions = Contradictions(found=())
    if recipe.tables:
        contradictions = read_contradictions(results / BELOW.contradictions("json"))
    return Report(
        recipe=recipe,
        tables=tables,
        comparisons={
            name: read_comparisons(results / BELOW.comparisons(name, "json")) for name in recipe.tables
        },
        fact_tables={
            name: read_fact_table(results / BELOW.table(name, "json")) for name in recipe.fact_tables
        },
        strips={name: strips(table) for name, table in tables.items()},
        charts=_charts(tables, recipe, results),
        pretrainings=[
            read_pretraining(name, [results / folder for folder in folders])
            for name, folders in recipe.pretraining.items()
        ],
        corpora={
            name: _read_object(results / BELOW.corpus(name, STATISTICS), COUNTS) for name in recipe.corpora
        },
        vocabs={name: _read_object(results / BELOW.vocab(name, DIAGNOSIS), PIECES) for name in recipe.vocabs},
        datasets={name: read_page(results / BELOW.page(name, "json")) for name in recipe.datasets},
        contradictions=contradictions,
        audit=audit,
        sources=read_sources(results, list(paths_of(recipe.sources))),
        statements=statements_by_paper(map(Path, recipe.statements)),
    )


def _charts(tables: Mapping[str, Table], recipe: ReportRecipe, results: Path) -> dict[str, list[Chart]]:
    """Return the charts of all tables, by type; each is labelled with its table."""
    rates = {
        model: {
            name: rate
            for name, path in found.items()
            if (rate := _fragmentation_rate(results / path)) is not None
        }
        for model, found in recipe.fits.items()
    }
    found: dict[str, list[Chart]] = {"Ours against published": [], "Checkpoints": [], "Vocabularies": []}
    for name, table in tables.items():
        chart = agreement(table)
        charts = ([chart] if chart else [], learning(table, recipe.checkpoints), fragmentation(table, rates))
        for of_all, ones in zip(found.values(), charts, strict=True):
            of_all += [replace(one, label=f"{name} {one.label}".strip()) for one in ones]
    return found


def _fragmentation_rate(path: Path) -> float | None:
    """Return the pieces per word in mentions of a dataset's test split."""
    splits = _read_object(path, ["splits"])["splits"]
    words = splits.get("test", splits.get("dev", {})).get("entity_words", {})
    rate = words.get("subwords_per_word")
    return None if rate is None else float(rate)


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
    return PretrainingSummary(
        name=name,
        steps=states[-1]["step"],
        tokens=states[-1]["tokens"],
        seconds=states[-1]["seconds"],
        machines=tuple(dict.fromkeys(machine(state["hardware"]) for state in states)),
        last=lines[-1],
        curve=curve(name, [(line["tokens"], line["loss"]) for line in lines], ends),
    )


def read_log(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a training log, each with at least step, tokens and loss."""
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; run this pretraining segment again")
    lines = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise PubmillError(f"{path}:{number}: not valid JSON: {error.msg}") from None
        if not isinstance(line, dict) or not {"step", "tokens", "loss"} <= line.keys():
            raise PubmillError(f"{path}:{number}: expected step, tokens and loss, found {text[:80]}")
        lines.append(line)
    if not lines:
        raise PubmillError(f"{path} is empty; run this pretraining segment again")
    return lines


def read_sources(results: Path, records: Sequence[str]) -> list[SourceFolderSummary]:
    """Read the listed records of source files (paths below `results`), grouped by folder."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in sorted(records):
        path, file = results / record, Path(source_of_record(record))
        if not path.is_file():
            raise PubmillError(
                f"{path} does not exist, so the origin of {file.name} is unknown; remove {file} "
                f"from {results} and run the study again, which fetches the file and its record again"
            )
        place = below_sources(file.parent.as_posix())
        found.setdefault(place, []).append({**_read_object(path, SOURCE), "name": file.name})
    return [_source_folder(name, files) for name, files in found.items()]


def _source_folder(name: str, files: Sequence[Mapping[str, Any]]) -> SourceFolderSummary:
    days = sorted(file["retrieved"][:10] for file in files)
    listing = "".join(f"{file['sha256']}  {file['name']}\n" for file in files)
    return SourceFolderSummary(
        name=name,
        origins=tuple(sorted({file["origin"] for file in files})),
        retrieved=days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}",
        bytes=sum(file["bytes"] for file in files),
        sha256=hashlib.sha256(listing.encode()).hexdigest(),
        files=tuple(dict(file) for file in files) if len(files) <= LISTED_FILES else (),
        count=len(files),
    )


def render(report: Report) -> str:
    """Return the report as one self-contained page, whose only script sorts its tables."""
    template = environment().get_template("report.html.j2")
    return template.render(report=report, reasons=reasons, fact_marks=fact_marks)
