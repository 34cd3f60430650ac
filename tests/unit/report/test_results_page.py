"""The page on finished studies, from made-up records."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pubmill.errors import PubmillError
from pubmill.recipes.reading import build
from pubmill.recipes.report import StudyResults
from pubmill.report.results_page import StudyResult, read_result, render
from pubmill.storage.files import write_json
from tests.unit import toy_tables as made_up
from tests.unit.report.toy_reports import STUDY, put_study

SVG = "{http://www.w3.org/2000/svg}"
FINISHED = 1_700_000_000.0
"""2023-11-14."""


def study(**changes: Any) -> StudyResults:
    folders = ["pretraining/base/step-2", "pretraining/base/step-4"]
    parts = {"pretraining": {"base": folders}, "corpora": ["abstracts"], "vocabs": ["uncased"]}
    return build(StudyResults, STUDY | parts | changes, "here")


def read(results: Path, **recipe: Any) -> StudyResult:
    made_up.write_all(results)
    put_study(results, made_up.table(results, made_up.recipe(**recipe)))
    for record in results.rglob("final/seed-*.json"):
        os.utime(record, (FINISHED, FINISHED))
    return read_result(study(comparable=recipe.get("comparable", False)), results)


def test_the_page_states_how_the_study_was_made_and_what_it_does_not_show(tmp_path: Path) -> None:
    trial = tmp_path / "runs/blurb/bert/bc2gm/standard/trials/a/seed-1.training.json"
    write_json(trial, {"seconds": 20.0})
    found = read(tmp_path)
    text = render([found], "results")
    for part in (
        "## A study\n",
        "`.venv/bin/pubmill run small`",
        "| Finished | 2023-11-14 |",
        f"commit `{'c' * 40}`",
        "| Machine | a processor, 2 cores |",
        "| Corpus abstracts | 7 of 10 citations, 900 words |",
        "4 steps, 4 k tokens, 1 min 0 s",
        "| Search | 1 trial, 20 s |",
        "4 of 4 runs, 0 failed, 40 s",
        "| Cost | 2 min 0 s of training",
        "**81.00** ± 1.41 (2/2)",
        "1 of 1 comparisons",
        "BC2GM: Ours is above BERT by 10.00 points (adjusted p 0.02, 60 documents)",
        "No published value is tested; 1 published values: 1 not comparable.",
        "some values have only 2 runs",
        "0 of 2 columns and 2 of 3 rows of the paper's table",
        "](results/small-gu2020-table06.svg)",
    ):
        assert part in text.replace("\N{NO-BREAK SPACE}", " "), part
    assert "GAD" not in text
    assert text == render([read_result(study(), tmp_path)], "results")


def test_a_study_at_full_scale_states_its_verdicts(tmp_path: Path) -> None:
    text = render([read(tmp_path, comparable=True)], "results")
    assert "of 1 tested published values are reproduced" in text
    assert "No published value is tested" not in text


def test_the_spread_over_seeds_is_a_limit_only_where_there_are_few(tmp_path: Path) -> None:
    found = read(tmp_path)
    [result] = found.tables
    for runs, few in ((1, True), (4, True), (5, False), (0, False)):
        changes = {"n": runs} if runs else {"n": 1, "seeds": (), "spread": None}
        cells = {
            column: {row: cell.model_copy(update=changes) for row, cell in rows.items()}
            for column, rows in result.whole.cells.items()
        }
        table = replace(result, whole=replace(result.whole, cells=cells))
        assert table.fewest_runs == runs
        assert ("How far seeds scatter" in render([replace(found, tables=(table,))], "results")) == few


def test_the_figure_is_an_image_of_its_own(tmp_path: Path) -> None:
    found = read(tmp_path)
    figure = etree.fromstring(found.tables[0].figure.encode())
    assert len(list(figure.iter(f"{SVG}use"))) == 1 and not list(figure.iter(f"{SVG}script"))
    assert "BC2GM, entity F1" in [text.text for text in figure.iter(f"{SVG}text")]
    [signs] = figure.iter(f"{SVG}defs")
    assert {use.get("href") for use in figure.iter(f"{SVG}use")} <= {f"#{one.get('id')}" for one in signs}


def test_a_table_without_differences_has_no_figure(tmp_path: Path) -> None:
    [result] = read(tmp_path).tables
    cells = {
        column: {row: cell.model_copy(update={"difference": None}) for row, cell in rows.items()}
        for column, rows in result.whole.cells.items()
    }
    assert replace(result, whole=replace(result.whole, cells=cells)).figure == ""


def test_the_command_names_folders_of_the_users_own(tmp_path: Path) -> None:
    read(tmp_path)
    found = read_result(study(), tmp_path, ["abstracts", "notes"])
    settings = """'local_files={"abstracts": "/path/to/folder", "notes": "/path/to/folder"}'"""
    assert found.command == f".venv/bin/pubmill run small --config {settings}"


def test_a_table_that_is_not_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match=r"tables/gu2020/table06\.json does not exist"):
        read_result(study(), tmp_path)


def test_names_are_escaped(tmp_path: Path) -> None:
    columns = [made_up.column("bert", "<b>BERT</b>"), made_up.column("ours", "Ours")]
    text = render([read(tmp_path, columns=columns)], "results")
    assert "<b>BERT" not in text and "&lt;b&gt;BERT" in text
