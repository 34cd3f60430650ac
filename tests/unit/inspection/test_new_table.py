"""Specs of new tables."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.inspection.new_table import table_values, write_table
from pubmill.specs import load


def test_a_new_table_is_a_valid_spec(specs: Path) -> None:
    known = load(specs, "full")
    values = table_values("mine/table01", ["bc2gm", "chemprot@blurb"], ["pubmedbert-base"], "blurb", known)
    written = write_table(values, specs)
    assert [path.name for path in written] == ["table01.yaml", "table01.published.csv"]
    lines = written[0].read_text().splitlines()
    keys = [line.partition(":")[0] for line in lines if line[0].isalpha()]
    assert keys[:5] == ["name", "kind", "paper", "title", "caption"], "as they are explained, not sorted"
    table = load(specs, "full").tables["mine/table01"]
    assert [row.dataset for row in table.rows] == ["bc2gm", "chemprot@blurb"]
    assert (table.columns[0].model, table.setting) == ("pubmedbert-base", "standard")
    assert [row.label for row in table.rows] == ["BC2GM", "ChemProt (BLURB)"]
    assert table.columns[0].label == known.models["pubmedbert-base"].label != "pubmedbert-base"
    with pytest.raises(PubmillError, match="exists; give the new table another name"):
        write_table(values, specs)


@pytest.mark.parametrize("name", ["first", "section3", "table00"])
def test_a_table_of_results_without_a_number_is_no_spec(specs: Path, name: str) -> None:
    """Its page, the audit and the contradictions name it by its number."""
    values = table_values("mine/table01", ["bc2gm"], ["pubmedbert-base"], "blurb", load(specs, "full"))
    write_table(values | {"name": name}, specs)
    with pytest.raises(PubmillError, match=rf"tables/mine/{name}\.yaml:\d+: name: .*table0\*"):
        load(specs, "full")


@pytest.mark.parametrize(
    ("name", "dataset", "model", "message"),
    [
        ("table01", "bc2gm", "pubmedbert-base", "expected PAPER/tableNN"),
        ("mine/first", "bc2gm", "pubmedbert-base", "expected PAPER/tableNN"),
        ("mine/section3", "bc2gm", "pubmedbert-base", "expected PAPER/tableNN"),
        ("mine/table00", "bc2gm", "pubmedbert-base", "expected PAPER/tableNN"),
        ("mine/table01", "bc2gn", "pubmedbert-base", "there is no dataset 'bc2gn'; the nearest: bc2gm"),
        (
            "mine/table01",
            "bc2gm",
            "pubmedbert",
            "there is no model 'pubmedbert'; the nearest: pubmedbert-base",
        ),
    ],
)
def test_unknown_names_are_reported(specs: Path, name: str, dataset: str, model: str, message: str) -> None:
    with pytest.raises(PubmillError) as error:
        table_values(name, [dataset], [model], "blurb", load(specs, "full"))
    assert message in str(error.value)
