"""Cells of tables that refer to cells of other tables, and cells of models and datasets of their own."""

from functools import cache
from pathlib import Path
from typing import Any

from pubmill.recipes.reading import as_json
from pubmill.recipes.tables import Reason
from pubmill.specs import Specs, TableSpec, load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.storage.result_paths import RunKey, manifest_of
from tests.conftest import ROOT
from tests.unit import toy_tables as made_up

COPIES, ORIGIN = "alrowili2021/table02", "gu2020/table06"
LARGE, BASE = "tinn2021/table06", "tinn2021/table08"


@cache
def specs() -> Specs:
    """Load the specs once for all tests, as loading takes longer than most of them."""
    return load(ROOT / "specs", "full")


def graph(results: Path, *tables: str, own: Specs | None = None, **config: Any) -> Graph:
    study = {"study": "x", "title": "x", "scale": "full", "tables": tables, "results": str(results)}
    made = Graph(Study.model_validate(study | config), own or specs())
    made.availability.model = lambda model: None  # type: ignore[method-assign]
    return made


def with_cell(table: str, column: str, row: str, **cell: Any) -> Specs:
    """The specs with a cell of a table changed."""
    spec = specs().tables[table]
    values = spec.model_dump()
    [changed] = [one for one in values["columns"] if (one["key"] or one["model"]) == column]
    changed["cells"][row] = cell
    tables = specs().tables | {table: TableSpec.model_validate(values)}
    return specs().model_copy(update={"tables": tables})


def test_a_table_names_the_cells_that_it_refers_to(tmp_path: Path) -> None:
    recipe = graph(tmp_path, COPIES, ORIGIN).tables.recipe(COPIES)
    origin = recipe.copied["biobert-base/bc5-chem"]
    assert (origin.table, origin.column, origin.row) == (ORIGIN, "biobert-base", "bc5-chem")
    assert origin.linked and not recipe.copied["bio-lm-large/bc5-chem"].linked
    part = recipe.others[ORIGIN]
    assert {one.key for one in part.rows} == {"bc5-chem", "bc5-disease", "ncbi-disease", "chemprot@blurb"}
    assert "bert-base-uncased" not in {one.key for one in part.columns}
    assert part.composites == () and part.equivalence.runs.keys() == {one.key for one in part.rows}
    assert part.records["biobert-base"].keys() == {one.key for one in part.rows}


def test_cells_of_a_table_of_the_study_are_inputs_and_others_are_taken_from_the_disk(tmp_path: Path) -> None:
    both, alone = graph(tmp_path, COPIES, ORIGIN), graph(tmp_path, COPIES)
    files = both.tables.other_files(COPIES)
    assert f"{tmp_path}/full/runs/blurb/biobert-base/bc5-chem/standard/final/records.json" in files
    assert set(files) <= set(both.tables.record_files(ORIGIN)) and not both.tables.all_found_records(COPIES)
    part = alone.tables.recipe(COPIES).others[ORIGIN]
    assert alone.tables.other_files(COPIES) == [] and not any(part.records.values())
    assert part.missing["biobert-base"] == "gu2020 Table 6 is not a table of this study"


def test_a_record_on_disk_of_a_table_outside_the_study_is_read(tmp_path: Path) -> None:
    made = graph(tmp_path, COPIES)
    run = RunKey("blurb", "biobert-base", "bc5-chem", "standard")
    digest = made.records.recipe(run, 1).made_by
    score = made_up.record("biobert-base", "bc5-chem", 1, 0.9, scale="full")
    made_up.write(tmp_path / "full", score.model_copy(update={"made_by": digest}))
    path = Path("runs") / run[0] / run[1] / run[2] / run[3] / "final/seed-1"
    (tmp_path / "full" / f"{path}.items.npz").touch()
    part = graph(tmp_path, COPIES).tables.recipe(COPIES).others[ORIGIN]
    assert f"{path}.json" in part.records["biobert-base"]["bc5-chem"]
    assert part.found == ("biobert-base/bc5-chem",)
    assert f"{path}.json" in graph(tmp_path, COPIES).tables.all_found_records(COPIES)


def test_a_difference_has_the_margin_of_its_row_and_all_records_of_both_cells(tmp_path: Path) -> None:
    recipe = graph(tmp_path, LARGE, BASE).tables.recipe(LARGE)
    [one] = recipe.differences
    assert recipe.equivalence.margins["delta"] == recipe.equivalence.margins["blurb"]
    assert one.of == "blurb" and len(one.minus) == 4
    part = recipe.others[BASE]
    assert [composite.name for composite in part.composites] == ["blurb"] and len(part.rows) == 13
    base = part.records["pubmedelectra-base.stabilised"]
    settings = {row: paths[0].split("/")[4] for row, paths in base.items()}
    assert (settings.pop("biosses"), settings.pop("pubmedqa")) == ("layer-reinit", "layerwise-decay")
    assert set(settings.values()) == {"standard"}


def test_stabilised_base_models_need_no_run_but_those_of_other_tables(tmp_path: Path) -> None:
    """PubMedBERT and PubMedELECTRA: the runs of Tables 2 and 4, and of standard fine-tuning in Table 8."""
    tables = [f"tinn2021/table{number:02d}" for number in (2, 4, 8)]
    made = graph(tmp_path, *tables).tables

    def manifests(column: str) -> set[str]:
        paths = [path for of_row in made.records(tables[2])[column].values() for path in of_row]
        assert len(paths) > 60
        return {manifest_of(f"{tmp_path}/full/{path}") for path in paths}

    known = {*made.record_files(tables[0]), *made.record_files(tables[1])}
    for model in ("pubmedbert-base", "pubmedelectra-base"):
        assert manifests(f"{model}.stabilised") <= known | manifests(model)


def test_a_cell_of_another_model_and_dataset_is_run_and_noted(tmp_path: Path) -> None:
    place, other = "biobert-base/bc5-chem", {"model": "biobert-large", "dataset": "bc2gm", "why": "Table 9"}
    own = with_cell(ORIGIN, "biobert-base", "bc5-chem", setting=None, **other)
    models = ["biobert-large", "biobert-base"]
    made = graph(tmp_path, ORIGIN, own=own, models=models, datasets=["bc2gm", "jnlpba"])
    recipe = made.tables.recipe(ORIGIN)
    paths = recipe.records["biobert-base"]["bc5-chem"]
    assert paths[0] == "runs/blurb/biobert-large/bc2gm/standard/final/seed-1.json"
    assert recipe.datasets == {place: "bc2gm"}
    text = "ours has model biobert-large, dataset bc2gm: Table 9"
    assert Reason(text=text, cells=(place,)) in recipe.reasons
    assert set(made.scope.models()) == set(models)
    for config in ({"models": models[1:], "datasets": ["bc2gm"]}, {"models": models, "datasets": ["jnlpba"]}):
        without = graph(tmp_path, ORIGIN, own=own, **config).tables
        assert "bc5-chem" not in without.records(ORIGIN)["biobert-base"]
        assert without.recipe(ORIGIN).missing[place] == "not run in this study"
    own = with_cell(ORIGIN, "biobert-base", "bc5-chem", dataset="i2b2-2010", why="Table 9")
    assert "i2b2-2010" in graph(tmp_path, ORIGIN, own=own).table_datasets.wanted()
    assert "i2b2-2010" not in graph(tmp_path, ORIGIN).table_datasets.wanted()


def test_a_cell_that_is_not_comparable_is_noted_and_run(tmp_path: Path) -> None:
    own = with_cell(ORIGIN, "biobert-base", "bc5-chem", not_comparable="another split")
    recipe = graph(tmp_path, ORIGIN, own=own).tables.recipe(ORIGIN)
    assert recipe.not_comparable == {"biobert-base/bc5-chem": "another split"}
    assert Reason(text="not comparable: another split", cells=("biobert-base/bc5-chem",)) in recipe.reasons
    assert recipe.records["biobert-base"]["bc5-chem"]


def test_a_table_shows_why_its_cells_have_other_settings_and_what_is_known_of_its_models(
    tmp_path: Path,
) -> None:
    cell = {"protocol": "tinn2021", "setting": "layer-reinit", "why": "Table 9"}
    own = with_cell(ORIGIN, "biobert-base", "biosses", **cell)
    reasons = {one.text: one.cells for one in graph(tmp_path, ORIGIN, own=own).tables.recipe(ORIGIN).reasons}
    assert reasons["ours has protocol tinn2021, setting layer-reinit: Table 9"] == ("biobert-base/biosses",)
    [note] = specs().models["bluebert-base"].notes
    assert reasons[f"model: {note}"] == ("bluebert-base/",)


def test_a_table_shows_what_a_setting_tries_and_why(tmp_path: Path) -> None:
    frozen = specs().protocols["tinn2021"].overrides["layer-freeze-large"]
    values = frozen.model_copy(update={"values": {"dropout": 0.2}, "why": "made up"})
    protocol = specs().protocols["tinn2021"]
    protocol = protocol.model_copy(update={"overrides": protocol.overrides | {"layer-freeze-large": values}})
    own = specs().model_copy(update={"protocols": specs().protocols | {"tinn2021": protocol}})
    reasons = graph(tmp_path, "tinn2021/table05", own=own).tables.recipe("tinn2021/table05").reasons
    text = "setting layer-freeze, frozen_layers 6 or 12 or 18, dropout 0.2: made up"
    [found] = [one for one in reasons if "layer-freeze" in one.text]
    assert found.text == text and "biobert-large.freeze/" in found.cells and len(found.cells) == 4


def test_the_report_names_the_specs_with_statements_on_its_papers(tmp_path: Path) -> None:
    made = graph(tmp_path, "tinn2021/table01").report
    files = made.statement_files(ROOT / "specs")
    assert [Path(file).stem for file in files if "protocols" in file] == ["tinn2021"]
    assert any(file.endswith("tables/tinn2021/table06.yaml") for file in files)
    assert not any("gu2020" in file for file in files)
    assert all(Path(ROOT, file).is_file() for file in files)


def test_the_report_is_made_again_when_a_statement_or_its_value_changes(tmp_path: Path) -> None:
    spec = tmp_path / "specs/protocols/small.yaml"
    spec.parent.mkdir(parents=True)
    text = "name: small\npaper: x\nepochs: 3\nmethod:\n  epochs: {ours: not stated}\n"
    made, found = graph(tmp_path, "tinn2021/table01").report, []
    for one in (text, f"# a remark\n{text}", text.replace("3", "4"), text.replace("not stated", "guessed")):
        spec.write_text(one)
        found.append(as_json(made.recipe([str(spec)])))
    assert found[0] == found[1] and len(set(found)) == 3
