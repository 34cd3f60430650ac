"""Explanations of cells: runs, recipe, cells behind others, and the commands that make what is missing."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pubmill.errors import PubmillError
from pubmill.inspection.explain.cell_explanations import explain, missing_name
from pubmill.inspection.explain.explanation_printing import print_explanation, to_json
from pubmill.storage.files import write_json
from tests.unit import toy_tables as made_up
from tests.unit.inspection.toy_explanations import MODEL, TABLE, TEST, explainer, printed, put_records
from tests.unit.report import toy_cards as made_up_cards

FULL: dict[str, Any] = {"scale": "full", "models": None}


def test_a_cell_has_its_runs_and_what_they_were_run_with(tmp_path: Path) -> None:
    put_records(tmp_path / "demo", 0.8, 0.9, recipe={"learning_rate": 2e-3, "segments": "single"})
    found = explain(explainer(tmp_path), TABLE, "BC2GM", MODEL)
    assert found.value["value"] == pytest.approx(85) and found.value["n"] == 2 and not found.to_do
    assert found.value["published"]["value"] == 84.52
    assert {run.seed: run.score for run in found.runs} == pytest.approx({1: 80, 2: 90})
    assert found.runs[0].file == f"runs/blurb/{MODEL}/bc2gm/standard/final/seed-1.json"
    assert found.recipe and found.recipe["learning_rate"] == 2e-3 and found.recipe["tagging"] == "bio"
    assert not {"segments", "pooling", "stride", "crf", "frozen_layers"} & found.recipe.keys()
    folder = f"{tmp_path}/demo/runs/blurb/{MODEL}/bc2gm/standard/final"
    assert found.setting == {"protocol": "blurb", "setting": "standard", "folder": folder}
    text = printed(found)
    for fact in ("85.00", "84.52", "+0.48", "c" * 40, "a processor, 2 cores", "torch 2.13.0", TEST, "0.002"):
        assert fact in text, fact
    assert json.loads(to_json(found))["runs"][1]["facts"]["seconds"] == 10.0
    assert 20 < len(printed(found, whole=False, width=120).splitlines()) <= 40, "one screen"
    assert len(printed(found, width=120).splitlines()) > 150
    assert "2 runs, entity_f1: 80.00, 90.00" in printed(found, whole=False)


def test_a_run_without_record_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    made = explainer(tmp_path)
    nothing = printed(explain(made, TABLE, "bc2gm", MODEL)).splitlines()[1]
    assert nothing == "no mean: 0 of 2 seeds (no record: seed 1, 2), 84.52 published"
    put_records(tmp_path / "demo", 0.8)
    found = explain(made, TABLE, "bc2gm", MODEL)
    assert found.value["value"] is None and "seed 2" in found.value["missing"]
    [lacking] = found.lacking
    assert lacking.endswith("bc2gm/standard/final/seed-2.json")
    [command] = found.to_do
    assert command.startswith(".venv/bin/pubmill run x ") and command.endswith(" --config results=here")
    assert f"{tmp_path}/demo/{lacking.replace('seed-2', 'records')} " in command  # what a job makes
    text = StringIO()
    print_explanation(Console(file=text, width=60), found)
    assert command in text.getvalue(), "in one line, however narrow the terminal"
    failed = made_up.record(MODEL, "bc2gm", 2, 0, scale="demo", metrics=None, counts=None, failed="nan")
    made_up.write(tmp_path / "demo", failed)
    found = explain(made, TABLE, "bc2gm", MODEL)
    assert found.runs[1].failed == "nan" and found.value["value"] is None
    assert not found.to_do, "running it again would fail again"


def test_runs_that_must_not_stand_together_are_refused_and_still_reported(tmp_path: Path) -> None:
    put_records(tmp_path / "demo", 0.8, 0.9)
    other = made_up.record(MODEL, "bc2gm", 2, 0.9, scale="demo", model_sha256="e" * 64)
    made_up.write(tmp_path / "demo", other)
    found = explain(explainer(tmp_path), TABLE, "bc2gm", MODEL)
    assert found.refused and "model weights" in found.refused and "value" not in found.value
    assert len(found.runs) == 2 and "e" * 64 in printed(found)


def test_a_composite_is_explained_by_its_parts(tmp_path: Path) -> None:
    put_records(tmp_path / "demo", 0.8, 0.9)
    found = explain(explainer(tmp_path), TABLE, "BLURB score", MODEL)
    parts = {part.row: part for part in found.parts}
    assert len(parts) == 13 and parts["BC2GM (bc2gm)"].value["value"] == pytest.approx(85)
    assert len(parts["BC2GM (bc2gm)"].runs) == 2
    assert found.value["value"] is None and found.value["expected"] == 13 and not found.runs
    commands = [command for command in found.to_do if command.startswith(".venv/bin/pubmill run ")]
    page = f"{tmp_path}/demo/tables/x/gu2020-table06.html"
    assert commands == [f".venv/bin/pubmill run x {page} --config results=here"]
    assert "85.00" in printed(found)


@pytest.mark.parametrize(("table", "column", "parts"), [
    ("tinn2021/table10", "scispacy-max", ["scispacy-jnlpba", "scispacy-bc5cdr"]),
    ("tinn2021/table07", "drop", ["pubmedbert-base", "removed-2", "removed-4", "removed-6"]),
])  # fmt: skip
def test_a_column_without_runs_is_explained_by_the_columns_behind_it(
    tmp_path: Path, table: str, column: str, parts: list[str]
) -> None:
    made = explainer(tmp_path, tables=[table])
    row = made.graph.tables.recipe(table).rows[0].key
    found = explain(made, table, row, column)
    keys = [re.sub(r".* \((.*)\)", r"\1", part.column) for part in found.parts]
    assert keys == parts and {part.row for part in found.parts} == {found.row}


@pytest.mark.parametrize(("table", "row", "model", "reported"), [
    (TABLE, "bc2gm", "bert-base-uncased", "models=[pubmedbert-base, bert-base-uncased]"),
    ("shin2020/table07", "squad-v1", "megatron-3.9b", "specs/models"),
])  # fmt: skip
def test_a_model_that_is_not_run_has_the_command_that_would(
    tmp_path: Path, table: str, row: str, model: str, reported: str
) -> None:
    found = explain(explainer(tmp_path, tables=[table]), table, row, model)
    [to_do] = found.to_do
    assert found.value["missing"] and not found.runs and reported in to_do
    assert to_do.count("--config ") <= 1, "of several, Snakemake heeds the last alone"


def test_a_fact_of_a_dataset_is_explained(tmp_path: Path) -> None:
    made = explainer(tmp_path, tables=["gu2020/table03"], datasets=["bc2gm"])
    found = explain(made, "gu2020/table03", "bc2gm", "blurb/train")
    assert found.value["published"] == "15197" and found.value["value"] is None
    assert found.lacking == ("datasets/bc2gm/card.json",) and "card.json" in found.to_do[0]
    assert found.data[0]["dataset"] == "bc2gm" and "15197" in printed(found)
    write_json(tmp_path / "demo/datasets/bc2gm/card.json", made_up_cards.card("bc2gm", "tokens"))
    found = explain(made, "gu2020/table03", "bc2gm", "blurb/train")
    assert found.value["value"] == 2 and not found.lacking and not found.to_do


@pytest.mark.parametrize(("place", "wrong", "nearest"), [
    (("gu2020/table66", "bc2gm", MODEL), "no table", "gu2020/table06"),
    ((TABLE, "bc3gm", MODEL), "no row", "BC2GM"), ((TABLE, "bc2gm", "pubmedbart"), "no column", "PubMedBERT"),
    (("gu2020/table03", "bc3gm", "blurb/train"), "no row", "BC2GM"),
])  # fmt: skip
def test_a_wrong_name_gives_what_there_is_the_nearest_first(
    tmp_path: Path, place: tuple[str, str, str], wrong: str, nearest: str
) -> None:
    with pytest.raises(PubmillError) as error:
        explain(explainer(tmp_path, tables=[TABLE, "gu2020/table03"]), *place)
    said, _, listed = str(error.value).partition("; the nearest: ")
    assert wrong in said and listed.startswith(nearest) and 2 < len(listed.split(", ")) < 6


def test_a_first_word_or_a_unique_beginning_is_enough(tmp_path: Path) -> None:
    made = explainer(tmp_path)
    found = explain(made, TABLE, "bc2gm", MODEL)
    for row, column in (("BC2GM", "pubmedbert"), ("bc2gm", "PubMedB"), ("PubMedBERT", "BC2")):
        assert explain(made, TABLE, row, column) == found, "also turned round"


@pytest.mark.parametrize(("row", "column"), [("bc2gm", "BERT"), ("BC5", MODEL)])
def test_a_name_that_means_several_lists_them(tmp_path: Path, row: str, column: str) -> None:
    with pytest.raises(PubmillError, match="matches several (rows|columns)") as error:
        explain(explainer(tmp_path), TABLE, row, column)
    both = ("BERT uncased (bert-base-uncased)", "BERT cased") if column == "BERT" else ("bc5-chem", "bc5-dis")
    assert all(name in str(error.value) for name in both) and "BioBERT" not in str(error.value)


def test_a_copied_cell_is_explained_by_the_cell_that_it_is_from(tmp_path: Path) -> None:
    for seed in range(1, 6):
        made_up.write(tmp_path / "full", made_up.record(MODEL, "bc5-chem", seed, 0.93, scale="full"))
    tables = ["alrowili2021/table02", TABLE]
    found = explain(explainer(tmp_path, **FULL, tables=tables), tables[0], "bc5-chem", MODEL)
    assert found.value["missing"].startswith("the paper copied this value from gu2020 Table 6")
    [origin] = found.parts
    assert (origin.table, len(origin.runs)) == (TABLE, 5) and not found.to_do
    assert origin.value["value"] == pytest.approx(93) and origin.value["published"]["value"] == 93.33
    assert "gu2020/table06: BC5-chem (bc5-chem), PubMedBERT uncased (pubmedbert-base)" in printed(found)


def test_a_difference_is_explained_by_both_of_its_cells(tmp_path: Path) -> None:
    tables = ["tinn2021/table06", "tinn2021/table08"]
    made = explainer(tmp_path, **FULL, tables=tables)
    found = explain(made, tables[0], "delta", "pubmedbert-large")
    assert [(one.table, len(one.parts)) for one in found.parts] == [(tables[0], 13), (tables[1], 13)]
    assert found.value["published"]["value"] == 0.58 and found.value["expected"] == 2
    files = {file for part in found.parts for file in part.lacking}
    assert set(found.lacking) == files and any("layer-reinit" in file for file in files)
    assert found.to_do[0].endswith(f"{tmp_path}/full/tables/x/tinn2021-table06.html --config results=here")
    assert "tinn2021/table08: BLURB score (blurb), PubMedBERT, stabilised" in printed(found)


@pytest.mark.parametrize(("tables", "dataset", "column", "needed", "others"), [
    (["tinn2021/table06", "tinn2021/table08"], "bc2gm", "pubmedbert-large", "delta", ["bc2gm", "blurb"]),
    (["alrowili2021/table02", TABLE], "bc5-chem", MODEL, "bc5-chem", ["squad-v2"]),
])  # fmt: skip
def test_other_cells_of_a_table_that_refers_to_another_need_none_of_its_records(
    tmp_path: Path, tables: list[str], dataset: str, column: str, needed: str, others: list[str]
) -> None:
    """Neither cells of the same row nor those of a composite that a difference shows, nor those beside copied
    ones."""
    bad = tmp_path / f"full/runs/blurb/{MODEL}/{dataset}/standard/final/seed-1.json"
    bad.parent.mkdir(parents=True)
    bad.write_text("no record")
    made = explainer(tmp_path, **FULL, tables=tables)
    assert [explain(made, tables[0], row, column).refused for row in others] == [None] * len(others)
    with pytest.raises(PubmillError, match=r"seed-1\.json"):
        explain(made, tables[0], needed, column)


def test_the_choice_behind_a_run_is_shown_once_it_is_made(tmp_path: Path) -> None:
    made = explainer(tmp_path)
    found = explain(made, TABLE, "bc2gm", MODEL).search
    assert found is not None and found["chosen"] == "not yet"
    assert (found["models"], found["seeds"], found["grid"]["learning_rate"]) == ([MODEL], 1, (0.002,))
    write_json(Path(found["file"]), {"chosen": {"learning_rate": 3e-5}, "mean_dev": 0.5, "more": 1})
    again = explain(made, TABLE, "bc2gm", MODEL)
    assert again.search == found | {"chosen": {"learning_rate": 3e-5}, "mean_dev": 0.5, "failed": None}
    line = f"by {MODEL}, 1 seed each, on dev of bc2gm; chosen: learning_rate 3e-05"
    assert line in printed(again, whole=False)


def test_a_recipe_has_only_what_its_runs_use(tmp_path: Path) -> None:
    made = explainer(tmp_path, **FULL)
    for row, used, unused in (
        ("bc2gm", {"tagging", "labelled_subwords", "loss"}, {"entities", "pooling", "segments", "stride"}),
        ("chemprot@blurb", {"entities", "dummies", "pooling"}, {"tagging", "segments", "words", "unit"}),
        ("biosses", {"segments", "pooling"}, {"loss", "tagging", "entities", "oversample"}),
    ):
        recipe = explain(made, TABLE, row, MODEL).recipe
        assert recipe is not None and used <= recipe.keys() and not unused & recipe.keys(), row
        assert len(recipe) < 22 and {"warmup", "dropout", "max_length", "head_dropout"} <= recipe.keys()


def test_an_empty_cell_says_what_it_depends_on_and_why_it_is_not_comparable(tmp_path: Path) -> None:
    table = "lewis2020/table02"
    found = explain(explainer(tmp_path, **FULL, tables=[table]), table, "hoc@blue", "roberta-base")
    assert found.value["value"] is None
    why = "not comparable: the program of the paper opens"
    assert any(reason.startswith(why) for reason in found.reasons)
    about = {one.row.about for one in found.statements}
    assert "HOC - score" in about
    assert not {"end of RoBERTa's inputs", "ChemProt - score", "folds"} & about
    text = printed(found, whole=False)
    assert "86.0 published" in text and "differs: HOC - score" in text, "86.0 has one decimal in the paper"
    biosses = explain(explainer(tmp_path, **FULL), TABLE, "biosses", MODEL)
    assert biosses.statements[0].row.about == "hyperparameters.bias_correction"
    assert "1.7 points" in printed(biosses, whole=False)


@pytest.mark.parametrize(("name", "first", "listed"), [
    ("bc2gm", "COLUMN is missing: a cell has a row and a column. gu2020/table06 has these columns:",
     "  PubMedBERT uncased (pubmedbert-base)"),
    ("pubmedbert-base", "ROW is missing: a cell has a row and a column. gu2020/table06 has these rows:",
     "  BLURB score (blurb)"),
])  # fmt: skip
def test_a_name_alone_lists_what_goes_with_it(tmp_path: Path, name: str, first: str, listed: str) -> None:
    lines = missing_name(explainer(tmp_path).graph, TABLE, name).splitlines()
    assert lines[0] == first and listed in lines[1:]
    with pytest.raises(PubmillError, match="there is no row 'foo'"):
        missing_name(explainer(tmp_path).graph, TABLE, "foo")


def test_a_dataset_that_is_not_run_has_the_command_that_would(tmp_path: Path) -> None:
    """With a model that is not run both are added; where the study limits neither, the doctor knows."""
    made = explainer(tmp_path, datasets=["bc2gm"])
    [to_do] = explain(made, TABLE, "jnlpba", MODEL).to_do
    assert "datasets=[bc2gm, jnlpba]" in to_do and "models=" not in to_do and "table06.html" in to_do
    [to_do] = explain(made, TABLE, "jnlpba", "bert-base-uncased").to_do
    assert "datasets=[bc2gm, jnlpba]" in to_do and f"models=[{MODEL}, bert-base-uncased]" in to_do
    open_ = explainer(tmp_path, scale="full", models=None)
    [to_do] = explain(open_, TABLE, "bioasq-yesno", MODEL).to_do
    assert to_do.startswith(".venv/bin/pubmill doctor --configfile studies/x.yaml")


def test_the_one_run_of_supplied_predictions_has_no_choice(tmp_path: Path) -> None:
    table, model = "tinn2021/table10", "scispacy-bc5cdr"
    (tmp_path / "bc2gm.conll").touch()
    made = explainer(tmp_path, tables=[table], models=[model], local_files={model: str(tmp_path)})
    found = explain(made, table, "bc2gm", model)
    assert found.setting and found.setting["protocol"] == "off-the-shelf"
    assert (found.recipe, found.search, len(found.runs)) == (None, None, 1)
    assert not any(one.row.spec.startswith(("protocols/", "choices/")) for one in found.statements)
    assert found.runs[0].failed == "no record" and len(found.lacking) == 1
