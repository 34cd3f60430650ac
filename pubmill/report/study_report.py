"""The report of a study: one page with its runs, tables, figures, data and sources."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

import pubmill
from pubmill.errors import PubmillError
from pubmill.recipes.report import ReportRecipe
from pubmill.report.contradictions import Contradictions
from pubmill.report.dataset_pages import Page
from pubmill.report.figures import Chart, curve, fragmentation, learning, strips
from pubmill.report.rendering import environment, page_script, script_digest
from pubmill.report.report_content import (
    HeldOut,
    PretrainingSummary,
    Report,
    SourceFolderSummary,
    days_in_words,
    shown_sections,
    statements_by_paper,
)
from pubmill.report.run_trainings import read_trainings
from pubmill.report.table_rendering import fact_marks
from pubmill.report.table_views import composite_scores, dataset_notes, shared_notes, table_runs, tally
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
from pubmill.tables.cells import Table, read_as, read_table
from pubmill.tables.comparisons import Comparisons
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


def read_report(recipe: ReportRecipe, results: Path) -> Report:
    """Read the content of a report; a `PubmillError` names the first file that is missing or wrong."""
    below = Paths(study=recipe.study)
    tables = {name: read_table(results / below.table(name, "json")) for name in recipe.tables}
    runs = sum(len(cell.seeds) for table in tables.values() for *_, cell in table.read())
    contradictions = Contradictions(found=())
    if recipe.tables:
        contradictions = read_as(Contradictions, results / RELATIVE.contradictions("json"))
    return Report(
        recipe=recipe,
        tables=tables,
        comparisons={
            name: read_as(Comparisons, results / below.comparisons(name, "json")) for name in recipe.tables
        },
        fact_tables={
            name: read_as(FactTable, results / below.table(name, "json")) for name in recipe.fact_tables
        },
        strips=None if runs > MOST_DRAWN_RUNS else {name: strips(table) for name, table in tables.items()},
        charts=_charts(tables, recipe, results),
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
        datasets={name: read_as(Page, results / RELATIVE.page(name, "json")) for name in recipe.datasets},
        contradictions=contradictions,
        sections=shown_sections(recipe, results),
        sources=read_sources(results, recipe.sources),
        statements=statements_by_paper(map(Path, recipe.statements)),
    )


def _charts(tables: Mapping[str, Table], recipe: ReportRecipe, results: Path) -> dict[str, list[Chart]]:
    """Return the charts of all tables, by type; each is labelled with its table."""
    rates: dict[str, dict[str, float]] = {}
    for model, paths in recipe.fits.items():
        for dataset, path in paths.items():
            splits = _read_object(results / path, ["splits"])["splits"]
            words = splits.get("test", splits.get("dev", {})).get("entity_words", {})
            if words.get("subwords_per_word") is not None:  # pieces per word in mentions
                rates.setdefault(model, {})[dataset] = float(words["subwords_per_word"])
    by_type: dict[str, list[Chart]] = {"Checkpoints": [], "Vocabularies": []}
    for name, table in tables.items():
        charts = (learning(table, recipe.checkpoints), fragmentation(table, rates))
        for of_all, ones in zip(by_type.values(), charts, strict=True):
            of_all += [replace(one, label=f"{name} {one.label}".strip()) for one in ones]
    return by_type


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
        curve=curve(name, [(line["tokens"], line["loss"]) for line in lines], ends),
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
    made.globals |= {
        "table_file": Paths(study=report.recipe.study).table,
        "runs_of_tables": {name: table_runs(table) for name, table in report.tables.items()},
        "tally": tally(report.tables.values()),
        "composite_scores": composite_scores(report.tables),
        "shared_notes": shared_notes(report.tables),
        "dataset_notes": dataset_notes(report.tables.values()),
        "training_place": report.trainings.place,
        "version": pubmill.__version__,
        "citation": CITATION,
        "script": Markup(script),
        "script_hash": script_digest(script),
    }
    return made.get_template("report.html.j2").render(report=report, fact_marks=fact_marks)
