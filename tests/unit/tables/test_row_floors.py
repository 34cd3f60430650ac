"""Floors of a table's rows and composites, and the room above them in every form of the table."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.storage.files import write_json
from pubmill.tables.aggregation import finished_table
from pubmill.tables.cells import Table, read_table
from pubmill.tables.row_floors import HIGHEST, CeilingScore, DatasetFloors, FloorScores, RowFloors, row_floors
from tests.pages import parsed
from tests.unit.toy_tables import PUBLISHED, recipe, write_all


def put(results: Path, dataset: str, ceilings: dict[str, CeilingScore] | None = None, **scores: Any) -> str:
    """Write the floors of a dataset: name -> metrics."""
    floors = {
        name: FloorScores(definition=f"what {name} is", metrics=found) for name, found in scores.items()
    }
    found = DatasetFloors(dataset=dataset, floors=floors, ceilings=ceilings or {})
    write_json(results / f"floors/{dataset}.json", found.model_dump())
    return f"floors/{dataset}.json"


def made(results: Path, **changes: Any) -> Table:
    write_all(results)
    published = results / "table06.published.csv"
    published.write_text(PUBLISHED)
    return finished_table(recipe(**changes), published, results)


def test_the_room_is_between_the_highest_floor_and_the_ceiling() -> None:
    found = RowFloors(floors={"low": 20.0, "high": 50.0}, ceiling=CeilingScore(score=90.0, source="two"))
    assert (found.highest, found.score, found.ordered) == ("high", 50.0, [("high", 50.0), ("low", 20.0)])
    assert found.share(70.0) == 0.5 and found.share(40.0) == -0.25
    assert RowFloors(floors={"high": 50.0}, ceiling=CeilingScore(score=50.0)).share(70.0) is None


def test_rows_have_the_scores_by_their_own_metric_and_folds_their_mean(tmp_path: Path) -> None:
    one = put(tmp_path, "one", low={"entity_f1": 0.2, "x": 0.9}, other={"entity_f1": 0.9})
    ceilings = {"entity_f1": CeilingScore(score=80.0, source="annotators")}
    two = put(tmp_path, "two", ceilings, low={"entity_f1": 0.4}, rare={"x": 0.1})
    found = row_floors(recipe(floors={"bc2gm": [one, two]}), tmp_path)
    assert found["bc2gm"].floors == {"low": pytest.approx(30.0)}
    assert found["bc2gm"].ceiling.score == 90.0 and "blurb" not in found
    assert row_floors(recipe(floors={"bc2gm": [put(tmp_path, "three", low={"x": 1.0})]}), tmp_path) == {}


def test_a_composite_has_the_mean_of_the_highest_floors(tmp_path: Path) -> None:
    files = {
        "bc2gm": [put(tmp_path, "bc2gm", low={"entity_f1": 0.4}, high={"entity_f1": 0.5})],
        "gad": [put(tmp_path, "gad", low={"micro_f1": 0.7})],
    }
    assert row_floors(recipe(floors=files), tmp_path)["blurb"].floors == {HIGHEST: pytest.approx(60.0)}


def test_tables_show_floors_and_the_share_of_the_room(tmp_path: Path) -> None:
    """bert has 81.00, and 80.90 in the paper, of a room from 61.80 to 100."""
    file = put(tmp_path, "bc2gm", dictionary_train={"entity_f1": 0.618}, random={"entity_f1": 0.01})
    table = made(tmp_path, floors={"bc2gm": [file]}, comparable=True)
    bc2gm, gad = table.rows
    assert table.room(bc2gm, 81.0) == pytest.approx(0.5026, abs=1e-4)
    assert table.room(gad, 81.0) is None and table.room(bc2gm, None) is None
    forms = {form: render(table) for form, render in TABLE_RENDERERS.items()}
    (tmp_path / "table.json").write_text(forms["json"])
    assert read_table(tmp_path / "table.json") == table
    header, line, *_ = forms["csv"].splitlines()
    cells = dict(zip(header.split(",")[-5:], line.split(",")[-5:], strict=True))
    assert cells["floor"] == "dictionary_train" and cells["floor_score"] == "61.8"
    assert cells["share_of_room"] == "0.502618" and cells["published_share_of_room"] == "0.5"
    assert "| Dataset | Floor | BERT | Ours |" in forms["md"]
    assert "| BC2GM<br>entity F1 | 61.80<br>dictionary\\_train | **81.00**" in forms["md"]
    assert "<br>ours 50 % of room<br>published 50 % of room |" in forms["md"]
    assert "- BC2GM: dictionary\\_train 61.80, random 1.00; ceiling 100.00\n" in forms["md"]
    [line] = parsed(forms["html"]).xpath("//details[summary='Floors and headroom']//tbody/tr")
    shown = [" ".join(cell.text_content().split()) for cell in line]
    assert shown == ["BC2GM", "dictionary train", "61.80", "100.00", "91.00 76 %", "80.90 50 %"]


def test_a_value_below_the_floor_has_a_minus_sign_and_other_data_no_published_share(tmp_path: Path) -> None:
    table = made(tmp_path, floors={"bc2gm": [put(tmp_path, "bc2gm", majority={"entity_f1": 0.85})]})
    text = TABLE_RENDERERS["md"](table)
    assert "ours \N{MINUS SIGN}27 % of room" in text and "-27" not in text
    assert "<br>published \N{MINUS SIGN}27 %" not in text
    page = parsed(TABLE_RENDERERS["html"](table))
    [line] = page.xpath("//details[summary='Floors and headroom']//tbody/tr")
    assert line[-1].text_content().strip() == "—"
    table = made(tmp_path)
    for form in ("csv", "md", "html"):
        assert "loor" not in TABLE_RENDERERS[form](table) and "of room" not in TABLE_RENDERERS[form](table)
