"""`pubmill explain`: which table, study and cell it explains, and in which form."""

import json
from pathlib import Path

from tests.unit.cli.conftest import Said


def test_a_table_is_named_by_its_number_where_one_study_has_it(started: Said) -> None:
    said = started("explain", "table12", "--all")
    assert said.startswith("gu2020/table12: ") and "with --all" not in said
    said = started("explain", "table09", "--study", "gu2020", "--json")
    assert json.loads(said)["table"] == "gu2020/table09"


def test_a_table_with_its_paper_needs_no_study_that_has_it(started: Said) -> None:
    assert "there is no table 'nobody/table01'" in started("explain", "nobody/table01", "BC2GM", "BERT")


def test_a_cell_is_explained_by_the_study_with_its_settings(started: Said, checkout: Path) -> None:
    (checkout / "mine.yaml").write_text("mirror: null\n")
    more = ("--configfile", "mine.yaml", "--config", "results=there")
    said = started("explain", "gu2020/table09", "bc2gm", "pubmedbert-base", *more)
    assert said.splitlines()[-1].startswith("  .venv/bin/pubmill run gu2020 there/full/")
    assert said.splitlines()[-1].endswith(" --configfile mine.yaml --config results=there")
