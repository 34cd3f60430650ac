"""The page of a study's floors: which rows have some, the room above them, its formats, and its section."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.cli.studies import target_of_study
from pubmill.errors import PubmillError
from pubmill.extras.floors.floors_recipes import (
    CeilingScore,
    DatasetFloors,
    FloorsPageRecipe,
    TableOfFloors,
)
from pubmill.extras.floors.floors_stages import Floors, FloorsPage
from pubmill.extras.floors.headroom import (
    HEADROOM_RENDERERS,
    RowFloor,
    StudyHeadroom,
    study_headroom,
)
from pubmill.report.rendering import to_json
from pubmill.report.study_report import read_report, render
from pubmill.specs import Specs
from pubmill.storage.files import write_json
from pubmill.tables.aggregation import finished_table
from tests.pages import parsed
from tests.unit.programs import run_program
from tests.unit.report.toy_reports import put, put_study, put_table
from tests.unit.report.toy_reports import recipe as report_recipe
from tests.unit.toy_studies import GraphOf
from tests.unit.toy_tables import PUBLISHED, recipe, write_all
from tests.unit.toy_tables import table as made_up_table

TABLE = "tables/small/gu2020-table06.json"
Scores = dict[str, float]


def measured(
    results: Path, dataset: str, ceilings: dict[str, CeilingScore] | None = None, **scores: Scores
) -> str:
    """Write the floors of a dataset, name -> metrics, and return their file."""
    found = DatasetFloors(floors=scores, ceilings=ceilings or {})
    write_json(results / f"floors/{dataset}.json", found.model_dump())
    return f"floors/{dataset}.json"


def page(results: Path, comparable: bool = True, **rows: list[str]) -> FloorsPageRecipe:
    """Write the table of `recipe`, and return the recipe of its page. bert has 81.00, and 80.90 in the paper;
    ours has 91.00."""
    write_all(results)
    published = results / "table06.published.csv"
    published.write_text(PUBLISHED)
    made = recipe(comparable=comparable)
    put_table(results, finished_table(made, published, results))
    files = {row: tuple(of) for row, of in rows.items()}
    table = TableOfFloors(file=TABLE, rows=files, composites=made.composites)
    return FloorsPageRecipe(title="A study", tables=(table,))


def test_the_room_is_between_the_floor_and_the_ceiling() -> None:
    found = RowFloor(name="linear", score=50.0, ceiling=CeilingScore(score=90.0, source="two"))
    assert (found.share(70.0), found.share(40.0), found.share(None)) == (0.5, -0.25, None)
    assert RowFloor(name="linear", score=50.0, ceiling=CeilingScore(score=50.0)).share(70.0) is None


def test_rows_have_the_highest_by_their_own_metric_and_folds_their_mean(tmp_path: Path) -> None:
    one = measured(
        tmp_path, "one", low={"entity_f1": 0.2}, high={"entity_f1": 0.3, "x": 0.9}, other={"entity_f1": 0.9}
    )
    ceilings = {"entity_f1": CeilingScore(score=80.0, source="annotators")}
    two = measured(
        tmp_path, "two", ceilings, low={"entity_f1": 0.4}, high={"entity_f1": 0.7}, rare={"x": 0.1}
    )
    none = measured(tmp_path, "none", low={"x": 1.0})
    made = page(tmp_path, bc2gm=[one, two], gad=[none])
    [(_, [found])] = study_headroom(made, tmp_path).tables
    assert (found.row, found.floor.name) == ("BC2GM", "high") and found.floor.score == pytest.approx(50.0)
    assert found.floor.ceiling.score == 90.0 and found.share == pytest.approx(41 / 40)
    assert study_headroom(page(tmp_path, gad=[none]), tmp_path).tables == ()


def test_a_composite_has_the_mean_of_the_highest_floors(tmp_path: Path) -> None:
    bc2gm = measured(tmp_path, "bc2gm", low={"entity_f1": 0.4}, high={"entity_f1": 0.5})
    made = page(tmp_path, bc2gm=[bc2gm], gad=[measured(tmp_path, "gad", low={"micro_f1": 0.7})])
    [(_, [*_, found])] = study_headroom(made, tmp_path).tables
    assert (found.row, found.floor.name) == ("BLURB", "highest of each dataset")
    assert found.floor.score == pytest.approx(60.0) and found.ours is None
    assert found.published_share == pytest.approx(19.31 / 40)


def test_the_program_writes_the_page_in_all_formats(tmp_path: Path) -> None:
    """The room is from 61.80 to 100."""
    file = measured(tmp_path, "bc2gm", dictionary={"entity_f1": 0.618}, random={"entity_f1": 0.01})
    words = ["--recipe", to_json(page(tmp_path, bc2gm=[file])), "--results", tmp_path]
    run_program("floors_page", *words, "--output", tmp_path / "small.floors.html")
    [line] = parsed((tmp_path / "small.floors.html").read_text()).xpath("//tbody/tr")
    shown = [" ".join(cell.text_content().split()) for cell in line]
    assert shown == ["BC2GM entity F1", "dictionary", "61.80", "100.00", "91.00 76 %", "80.90 50 %"]
    found = StudyHeadroom.model_validate_json((tmp_path / "small.floors.json").read_text())
    assert found.tables[0][1][0].share == pytest.approx(0.7644, abs=1e-4)


def test_a_score_below_the_floor_has_a_minus_sign_and_other_data_no_published_one(tmp_path: Path) -> None:
    made = page(tmp_path, comparable=False, bc2gm=[measured(tmp_path, "bc2gm", majority={"entity_f1": 0.95})])
    page_of_floors = parsed(HEADROOM_RENDERERS["html"](study_headroom(made, tmp_path)))
    *_, ours, published = page_of_floors.xpath("//tbody/tr/*")
    assert " ".join(ours.text_content().split()) == "91.00 \N{MINUS SIGN}80 %"
    assert (
        published.text_content() == "—" and "not comparable with the paper" in page_of_floors.text_content()
    )


def test_the_report_has_the_floors_that_are_asked_for(tmp_path: Path) -> None:
    results = put_study(tmp_path, made_up_table(tmp_path))
    made = page(results, bc2gm=[measured(results, "bc2gm", dictionary={"entity_f1": 0.618})])
    put(results / "reports/small.floors.json", to_json(study_headroom(made, results)))
    shown = parsed(render(read_report(report_recipe(sections=["floors_page"]), results)))
    [title] = shown.xpath("//h2[@id='floors']")
    assert title.text_content() == "Floors and headroom" and shown.xpath("//nav//a[@href='#floors']")
    assert shown.xpath("//details[summary[contains(., 'Table 6')]]//td[.='61.80']")
    assert not parsed(render(read_report(report_recipe(), results))).xpath("//*[@id='floors']")


def test_a_study_asks_for_the_page_by_a_word_or_for_the_section_too(
    demo_specs: Specs, graph_of: GraphOf
) -> None:
    config = {"results": "results", "scale": "full", "study": "gu2020", "own_tables": ""}
    assert target_of_study("floors", config) == "results/full/reports/gu2020.floors.html"
    table = "gu2020/table06"
    without = graph_of(demo_specs, tables=(table,), datasets=("bc5-chem", "hoc@blurb"))
    html, json = (without.paths.report("x", f"floors.{form}") for form in ("html", "json"))
    assert html not in without.scope.everything() and json not in without.report.inputs()
    made = graph_of(demo_specs, tables=(table,), datasets=("bc5-chem", "hoc@blurb"), extras=("floors",))
    assert html in made.scope.everything() and json in made.report.inputs()
    assert made.report.recipe().sections == ("floors_page",)
    expected = {name: (f"floors/{name}.json",) for name in ("bc5-chem", "hoc@blurb")}
    stage = made.stage(FloorsPage)
    assert [one.rows for one in stage.recipe_of(None).tables] == [expected]
    files = [made.paths.at(file) for of in expected.values() for file in of]
    assert stage.inputs() == without.stage(FloorsPage).inputs() == [made.paths.table(table, "json"), *files]
    found = made.stage(Floors).recipe_of(SimpleNamespace(dataset="hoc@blurb"))
    assert (found.name, found.kind, found.task) == ("hoc@blurb", "multilabel", "classification")
    with pytest.raises(PubmillError, match="study x has no tables of results that could have floors"):
        graph_of(demo_specs, tables=("gu2020/table03",), extras=("floors",)).stage(FloorsPage).inputs()


def test_floors_are_of_rows_whose_datasets_have_train_and_are_scored_on_test(
    full_specs: Specs, graph_of: GraphOf
) -> None:
    tables = ("gu2020/table06", "lewis2020/table03", "alrowili2021/table02")
    untrained = full_specs.datasets["jnlpba"].model_copy(update={"splits": ("test",)})
    specs = full_specs.model_copy(update={"datasets": full_specs.datasets | {"jnlpba": untrained}})
    made = graph_of(specs, tables=tables).stage(FloorsPage).recipe_of(None)
    blurb, folds, squad = (one.rows for one in made.tables)
    assert blurb["bc2gm"] == ("floors/bc2gm.json",) and len(folds["gad"]) == 9
    assert not {"jnlpba", "bioasq-yesno"} & blurb.keys() and "squad-v2" not in squad != {}
