"""Recipes and records of tables."""

from pathlib import Path

from pubmill.graph import Graph, checked_graph
from pubmill.specs.study import check_study


def targets(root: Path, **config: object) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    return checked_graph(
        *check_study({**base, "models": ["pubmedbert-base", "no-pretraining"], **config}, root / "specs")
    )


def test_records_name_the_scale_and_every_expected_seed(root: Path) -> None:
    made = targets(root, datasets=["bc2gm"])
    records = made.tables.records("gu2020/table06")
    assert list(records) == ["pubmedbert-base", "no-pretraining"]
    assert records["pubmedbert-base"] == {
        "bc2gm": [f"runs/blurb/pubmedbert-base/bc2gm/standard/final/seed-{seed}.json" for seed in (1, 2)]
    }
    assert all(path.startswith("results/demo/") for path in made.tables.record_files("gu2020/table06"))


def test_what_is_not_run_has_its_reason(root: Path) -> None:
    missing = targets(root, datasets=["bc2gm"]).tables.recipe("gu2020/table06").missing
    assert missing["bc5-chem"] == "not run in this study"
    assert missing["biobert-base"] == "not run in this study"
    assert missing["biosses"] == "not run in this study"


def ways(made: Graph, table: str, column: str, row: str) -> set[str]:
    """The protocols and settings of a cell's runs."""
    return {"/".join(Path(path).parts[1:5:3]) for path in made.tables.records(table)[column][row]}


def test_cells_have_the_protocol_of_the_cell_the_column_or_the_table(root: Path) -> None:
    """tinn2021: standard fine-tuning is gu2020's, BIOSSES of Table 2 is Table 3's improved optimisation."""
    tables = ["tinn2021/table02", "tinn2021/table08"]
    made = targets(root, scale="full", models=None, tables=tables)
    assert ways(made, tables[0], "pubmedbert-base", "bc2gm") == {"blurb/standard"}
    assert ways(made, tables[0], "pubmedbert-base", "biosses") == {"tinn2021/standard"}
    assert ways(made, tables[1], "pubmedbert-base", "biosses") == {"blurb/standard"}
    assert ways(made, tables[1], "pubmedbert-base.optimal", "pubmedqa") == {"blurb/single-segment"}
    assert ways(made, tables[1], "pubmedelectra-base.optimal", "biosses") == {"tinn2021/optimal+train+dev"}


def test_no_row_has_the_same_runs_for_standard_and_optimal_fine_tuning(root: Path) -> None:
    tables = ["tinn2021/table08", "tinn2021/table09"]
    made = targets(root, scale="full", models=None, tables=tables)
    for table in tables:
        records = made.tables.records(table)
        for column in (name for name in records if "." not in name):
            optimal = records[f"{column}.optimal"]
            assert len(optimal) == 12  # BioASQ needs registration
            assert all(optimal[row] != paths for row, paths in records[column].items())


def test_a_copied_cell_has_no_runs_and_names_its_origin(root: Path) -> None:
    made = targets(root, scale="full", models=None, tables=["alrowili2021/table02"])
    records = made.tables.records("alrowili2021/table02")
    missing = made.tables.recipe("alrowili2021/table02").missing
    assert list(records["pubmedbert-base"]) == ["squad-v2"]
    assert missing["pubmedbert-base/bc5-chem"] == (
        "the paper copied this value from gu2020 Table 6, so no run of its own stands behind it"
    )
    assert missing["roberta-base/squad-v2"].startswith("the paper copied this value from Dai et al. 2020,")
    spec = made.specs.tables["alrowili2021/table02"]
    assert sum(one.copied is not None for column in spec.columns for one in column.cells.values()) == 31
