"""What the rules of report and checklist wait for is what their programs read: no file more or less."""

import re
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.metrics.records import write_record
from pubmill.report.rendering import to_json
from pubmill.report.study_report import read_report
from pubmill.stages import Graph, checked_graph
from tests import full_report
from tests.conftest import ROOT
from tests.pages import parsed
from tests.unit import toy_tables as made_up
from tests.unit.report import toy_cards as cards_made_up
from tests.unit.report import toy_reports as reports_made_up
from tests.unit.tables import test_fact_cells as test_facts
from tests.unit.toy_studies import loaded, study_of

FIT = {"datasets": {"bc2gm": {"test": {"entity_words": {"subwords_per_word": 1.5}}}}}


def targets(results: Path) -> Graph:
    """A study of a table of results and one of facts, with a pretraining."""
    only = {"models": ["pubmedbert-base"], "datasets": ["bc2gm", "chemprot@blurb"], "results": str(results)}
    return checked_graph(*study_of(ROOT, tables=["gu2020/table06", "gu2020/table03"], **only))


def put(results: Path, file: str) -> None:
    """Something in the form that the file has."""
    path, parts = results / file, Path(file).parts
    datasets = loaded(ROOT / "specs", "demo").datasets
    if parts[0] == "runs" and parts[-2] == "final":
        seed = int(path.stem.removeprefix("seed-"))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_record(path, made_up.record(parts[2], parts[3], seed, 0.8))
    elif parts[-1] == "card.json":
        data = datasets[parts[1]]
        sources = {role: {"file": "f", "bytes": 5, "sha256": "5" * 64} for role in data.sources}
        cards_made_up.write(results, cards_made_up.card(data.name, data.kind, sources=sources))
    elif parts[0] == "pretraining":
        reports_made_up.put_checkpoint(path.parent, int(parts[2].removeprefix("step-")))
    elif parts[-1] == "gu2020-table03.json":
        reports_made_up.put(path, to_json(test_facts.table(results, test_facts.recipe())))
    else:
        reports_made_up.put(path, _content(results, file))


def _content(results: Path, file: str) -> object:
    if file.endswith(".source.json"):
        return reports_made_up.SOURCE
    table = made_up.table(results)
    return {
        "gu2020-table06.json": to_json(table),
        "gu2020-table06.comparisons.json": to_json(made_up.compared(table)),
        "stats.json": reports_made_up.STATISTICS,
        "diagnosis.json": reports_made_up.DIAGNOSIS,
    }.get(Path(file).name, FIT)


def test_the_inputs_are_what_is_read(tmp_path: Path) -> None:
    """Those of the rule, and the records of files in blocks, which come before a corpus's statistics."""
    made, results = targets(tmp_path / "results"), tmp_path / "results/demo"
    inputs = {*made.report.inputs(), *map(made.paths.at, made.report.source_records())}
    files = [path.removeprefix(f"{results}/") for path in sorted(inputs)]
    assert len(files) > 10
    results.mkdir(parents=True)
    for file in files:
        put(results, file)
    for path in {path for path in results.rglob("*") if path.is_file()} - {results / file for file in files}:
        path.unlink()
    read_report(made.report.recipe(), results)
    for file in files:
        (results / file).rename(tmp_path / "away")
        with pytest.raises(PubmillError, match=re.escape(Path(file).name)):
            read_report(made.report.recipe(), results)
        (tmp_path / "away").rename(results / file)


def test_a_scale_with_other_data_leads_to_the_example(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    example = targets(root / "results").report.recipe().example
    assert (root / "results/demo/reports" / example).resolve() == root / "docs/example-report.html"
    monkeypatch.chdir(root / "docs")
    assert targets(root / "results").report.recipe().example == "", "there is no checkout"


def test_the_example_is_what_the_report_makes_now(root: Path) -> None:
    stored = (root / full_report.EXAMPLE).read_text(encoding="utf-8")
    assert stored == full_report.example(), "make it again: .venv/bin/python -m tests.full_report"
    page = parsed(stored)
    assert all("made-up numbers" in text for text in page.xpath("//section/h2[starts-with(@id, 't')]/text()"))
    assert "every value called ours is made up" in page.xpath("string(//*[@class='banner'])")
