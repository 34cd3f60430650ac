"""Recipes and records of tables."""

from pathlib import Path

import pytest

from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.storage.files import write_json
from tests.unit.toy_studies import GraphOf, targets


def test_records_name_the_scale_and_every_expected_seed(root: Path) -> None:
    made = targets(root, datasets=["bc2gm"])
    records = made.tables.records("gu2020/table06")
    assert list(records) == ["pubmedbert-base", "no-pretraining"]
    assert records["pubmedbert-base"] == {
        "bc2gm": [f"runs/blurb/pubmedbert-base/bc2gm/standard/final/seed-{seed}.json" for seed in (1, 2)]
    }
    assert all(path.startswith("results/demo/") for path in made.tables.record_files("gu2020/table06"))
    missing = made.tables.recipe("gu2020/table06").missing
    for place in ("bc5-chem", "biobert-base", "biosses"):
        assert missing[place] == "not run in this study"


def ways(made: Graph, table: str, column: str, row: str) -> set[str]:
    """The protocols and settings of a cell's runs."""
    return {"/".join(Path(path).parts[1:5:3]) for path in made.tables.records(table)[column][row]}


def test_cells_have_the_protocol_of_the_cell_the_column_or_the_table(root: Path) -> None:
    """tinn2021: of its two ways to fine-tune, each cell has the one whose value is printed."""
    known = {number: f"tinn2021/table{number}" for number in ("02", "08", "04", "06", "09", "10")}
    made = targets(root, scale="full", models=None, tables=list(known.values()))
    for cell, way in (
        ("02 pubmedbert-base bc2gm", "blurb/standard"), ("02 pubmedbert-base biosses", "tinn2021/standard"),
        ("08 pubmedbert-base biosses", "blurb/standard"),
        ("08 pubmedbert-base.optimal pubmedqa", "blurb/single-segment"),
        ("08 pubmedelectra-base.optimal biosses", "tinn2021/optimal+train+dev"),
        ("08 pubmedelectra-base bc2gm", "tinn2021/standard"),
        ("08 pubmedelectra-base ddi@blurb", "blurb/standard"),
        ("04 pubmedelectra-base pubmedqa", "blurb/standard"),
        ("04 pubmedelectra-base biosses", "tinn2021/standard"),
        ("06 biobert-large biosses", "tinn2021/layer-reinit"),
        ("06 biobert-large pubmedqa", "tinn2021/layerwise-decay"),
        *((f"{number} pubmedbert-large bc2gm", "tinn2021/standard") for number in ("06", "09", "10")),
    ):  # fmt: skip
        number, column, row = cell.split()
        assert ways(made, known[number], column, row) == {way}, cell


def test_optimal_fine_tuning_has_runs_of_its_own_unless_the_standard_value_is_printed(root: Path) -> None:
    tables = ["tinn2021/table08", "tinn2021/table09"]
    made = targets(root, scale="full", models=None, tables=tables)
    same = set()
    for table in tables:
        records = made.tables.records(table)
        for column in (name for name in records if "." not in name):
            optimal = records[f"{column}.optimal"]
            assert len(optimal) == 12  # BioASQ needs registration
            same |= {(column, row) for row, paths in records[column].items() if optimal[row] == paths}
    assert same == {("pubmedbert-base", "bc5-chem"), ("pubmedbert-base", "bc5-disease")}


def test_a_model_that_the_study_names_gets_no_second_column(full_specs: Specs, graph_of: GraphOf) -> None:
    """Every column of tinn2021 Table 8 has a setting; a column of the model alone would have the same key."""
    made = graph_of(full_specs, tables=("tinn2021/table08",), models=("pubmedbert-base", "scibert-cased"))
    keys = [column.name for column in made.table_models.columns("tinn2021/table08")]
    assert len(keys) == len(set(keys)) and keys[-1] == "scibert-cased"
    assert ways(made, "tinn2021/table08", "pubmedbert-base", "ncbi-disease") == {"blurb/standard"}


def test_a_copied_cell_has_no_runs_and_names_its_origin(root: Path) -> None:
    made = targets(root, scale="full", models=None, tables=["alrowili2021/table02"])
    records = made.tables.records("alrowili2021/table02")
    missing = made.tables.recipe("alrowili2021/table02").missing
    assert list(records["pubmedbert-base"]) == ["squad-v2"]
    why = (
        "the paper copied this value from gu2020 Table 6 (caption of the table), so no run of its own stands"
    )
    assert missing["pubmedbert-base/bc5-chem"] == f"{why} behind it"
    assert missing["roberta-base/squad-v2"].startswith("the paper copied this value from Dai et al. 2020 (")
    spec = made.specs.tables["alrowili2021/table02"]
    assert sum(one.copied is not None for column in spec.columns for one in column.cells.values()) == 31


@pytest.fixture
def full(full_specs: Specs, graph_of: GraphOf) -> Graph:
    return graph_of(full_specs, tables=("gu2020/table06", "lewis2020/table03", "shin2020/table02"))


def test_rows_have_the_papers_runs_and_the_margin_of_their_dataset(full: Graph) -> None:
    """gu2020 has 10 runs on its smallest datasets; lewis2020 5 on each of 9 folds."""
    rule = full.tables.recipe("gu2020/table06").equivalence
    assert {key for key, runs in rule.runs.items() if runs == 10} == {"biosses", "pubmedqa", "bioasq-yesno"}
    assert rule.runs["bc2gm"] == 5 and "blurb" not in rule.runs
    margins = full.specs.protocols["blurb"].equivalence.margins
    assert rule.margins["biosses"] == margins["biosses"] != rule.margins["bc2gm"]
    assert rule.margins["bc2gm"] == rule.margins["blurb"] == margins["default"]
    folds = full.tables.recipe("lewis2020/table03").equivalence
    assert (folds.runs["gad"], folds.runs["bc5-chem@blue"]) == (45, 5)


def test_rows_have_their_folds_names_in_print_and_whether_they_are_shown(full: Graph) -> None:
    recipe, records = full.tables.recipe("lewis2020/table03"), full.tables.records("lewis2020/table03")
    rows, paths = {row.key: row for row in recipe.rows}, next(iter(records.values()))["gad"]
    assert recipe.aggregate == "median" and rows["bc2gm"].folds == ()
    assert rows["gad"].folds == tuple(f"gad@fold-{number}" for number in range(2, 11))
    assert len(paths) == 45 and [path.split("/")[3] for path in paths[::5]] == [*rows["gad"].folds]
    metrics = [row.metric for row in rows.values()]
    assert [key for key, row in rows.items() if row.metric == "entity_f1"] == [
        "i2b2-2010", "i2b2-2012", "i2b2-2014",
    ]  # fmt: skip
    assert metrics.count("seqeval_0_0_12_f1") == 8 and rows["jnlpba@biobert"].metric == "seqeval_0_0_12_f1"
    assert not any(row.shown for row in rows.values())
    assert (rows["hoc@blue"].published, rows["hoc@blue"].printed) == ("hoc", "macro_f1")
    rows = {row.key: row for row in full.tables.recipe("gu2020/table06").rows}
    assert all(row.shown for row in rows.values())
    assert (rows["chemprot@blurb"].published, rows["chemprot@blurb"].printed) == ("chemprot", "micro_f1")
    strict = {row.key: row for row in full.tables.recipe("shin2020/table02").rows}["strict"]
    assert (strict.dataset, strict.metric) == ("bioasq-factoid@7b-biobert", "strict_accuracy")


def test_what_is_not_run_has_the_obstacle_of_its_model_or_dataset(full: Graph) -> None:
    missing = full.tables.recipe("shin2020/table02").missing
    apply = "needs files that you apply for at https://participants-area.bioasq.org"
    assert missing["strict"].startswith(apply)
    weights = "needs the weights of megatron-1.2b in a folder of your own"
    assert missing["biomegatron-1.2b"].startswith(weights)
    assert not any("/" in key for key in missing), "a reason of the row or column is enough"


def test_records_on_disk_that_no_current_recipe_makes_are_not_shown(full: Graph, graph_of: GraphOf) -> None:
    study = {"tables": ("gu2020/table06",), "models": ("pubmedbert-base",), "datasets": ("bc2gm",)}
    record = "runs/blurb/pubmedbert-base/jnlpba/standard/final/seed-1.json"
    write_json(Path(full.paths.at(record)), {})
    tables = graph_of(full.specs, **study).tables
    assert tables.found("gu2020/table06")[0] == {}
    missing = tables.recipe("gu2020/table06").missing
    reason = "not run in this study; its records on disk are from an older"
    assert missing["pubmedbert-base/jnlpba"] == f"{reason} recipe or stage version"
