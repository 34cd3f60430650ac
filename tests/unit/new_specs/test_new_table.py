"""Specs of new tables."""

import re
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.new_table import BLANK, HEADING, write_table
from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.tables.published_values import check_published, read_published


def test_a_new_table_is_a_valid_spec_and_its_values_have_their_keys(specs: Path, full_specs: Specs) -> None:
    models = ["pubmedbert-base"]
    asked = ("mine/table01", ["bc2gm", "chemprot@blurb"], models, "blurb", full_specs, specs)
    spec, file = write_table(*asked)
    assert (spec.name, file.name) == ("table01.yaml", "table01.published.csv")
    keys = [line.partition(":")[0] for line in spec.read_text().splitlines() if line[0].isalpha()]
    assert keys[:5] == ["name", "kind", "paper", "title", "caption"], "as they are explained, not sorted"
    with pytest.raises(PubmillError, match="exists; give the new table another name"):
        write_table(*asked)
    known = load(specs, "full")
    table = known.tables["mine/table01"]
    assert [row.dataset for row in table.rows] == ["bc2gm", "chemprot@blurb"]
    assert (table.columns[0].model, table.setting) == ("pubmedbert-base", "standard")
    assert [row.label for row in table.rows] == ["BC2GM", "ChemProt (BLURB)"]
    assert table.columns[0].label == known.models["pubmedbert-base"].label != "pubmedbert-base"

    assert file.read_text().splitlines() == [
        HEADING, f"pubmedbert-base,bc2gm,entity_f1,,{BLANK}", f"pubmedbert-base,chemprot,micro_f1,,{BLANK}",
    ]  # fmt: skip
    study = Study(study="mine", title="", scale="full", tables=("mine/table01",))
    recipe = Graph(study, known).tables.recipe("mine/table01")
    check_published(file, recipe)
    file.write_text(file.read_text().replace(f"micro_f1,,{BLANK}", "micro_f1,77.24,"))
    check_published(file, recipe)
    assert read_published(file)["printed"].tolist() == ["", "77.24"]
    for wrong, message in (
        ("pubmedbert-base,bc2gn,entity_f1,80.1,", ":2: no cell pubmedbert-base / bc2gn / entity_f1; the "
         "nearest: pubmedbert-base / bc2gm / entity_f1"),
        ("bc2gm,pubmedbert-base,entity_f1,80.1,", ":2: no cell bc2gm / pubmedbert-base / entity_f1"),
        ("pubmedbert-base,bc2gm,entity_f1,80.1 %,", ":2: the value '80.1 %' is not a number, such as 93.33"),
        ("pubmedbert-base,bc2gm,entity_f1,80.1", ":2: expected 5 fields; quote notes that contain commas"),
    ):  # fmt: skip
        file.write_text(f"{HEADING}\n{wrong}\n")
        with pytest.raises(PubmillError) as error:
            check_published(file, recipe)
        assert f"{file}{message}" in str(error.value)


def test_a_table_of_results_without_a_number_is_no_spec(specs: Path, full_specs: Specs) -> None:
    """Its page and the audit name it by its number."""
    asked = ("mine/table01", ["bc2gm"], ["pubmedbert-base"], "blurb", full_specs, specs)
    spec, _ = write_table(*asked)
    names = ("first", "section3", "table00")
    for name in names:
        text = spec.read_text().replace("name: table01", f"name: {name}")
        spec.with_name(f"{name}.yaml").write_text(text)
    with pytest.raises(PubmillError) as error:
        load(specs, "full")
    for name in names:
        assert re.search(rf"tables/mine/{name}\.yaml:\d+: name: .*table0\*", str(error.value))


@pytest.mark.parametrize(("name", "dataset", "model", "message"), [
    *((name, "bc2gm", "pubmedbert-base", "expected PAPER/tableNN")
      for name in ("table01", "mine/first", "mine/section3", "mine/table00")),
    ("mine/table01", "bc2gn", "pubmedbert-base", "there is no dataset 'bc2gn'; the nearest: bc2gm"),
    ("mine/table01", "bc2gm", "pubmedbert", "there is no model 'pubmedbert'; the nearest: pubmedbert-base"),
])  # fmt: skip
def test_unknown_names_are_named(
    full_specs: Specs, tmp_path: Path, name: str, dataset: str, model: str, message: str
) -> None:
    with pytest.raises(PubmillError) as error:
        write_table(name, [dataset], [model], "blurb", full_specs, tmp_path)
    assert message in str(error.value)


def test_a_table_whose_runs_the_protocol_cannot_make_is_refused(full_specs: Specs, tmp_path: Path) -> None:
    asked = ("mine/table01", ["squad-v1", "bc2gm"], ["pubmedbert-base"], "blurb", full_specs, tmp_path)
    with pytest.raises(PubmillError) as error:
        write_table(*asked)
    assert str(error.value).startswith("mine/table01 can't be run: ") and "squad-v1" in str(error.value)
