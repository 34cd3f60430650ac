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
