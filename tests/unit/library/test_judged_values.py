"""Verdicts on one's own scores, and tables as data frames."""

from pathlib import Path

import pytest
from lxml import etree

from pubmill import draw_verdicts, judge, load_table
from pubmill.errors import PubmillError
from pubmill.report.rendering import to_json
from tests.unit import toy_tables as made_up

SCORES = {"near": [80.1, 80.3, 79.9], "far": [70.0, 70.2, 69.8], "wide": [70.0, 90.0], "same": [80.0, 80.0]}
PUBLISHED = {"near": 80.0, "far": 80.0, "wide": 79.0, "same": 80.0, "<b>": 80.0}


def test_each_verdict_is_reached_and_drawn() -> None:
    found = judge({**SCORES, "<b>": SCORES["near"]}, PUBLISHED, margin=1.0)
    assert dict(zip(found["name"], found["verdict"], strict=True)) == {
        "near": "reproduced",
        "far": "not reproduced",
        "wide": "within the minimal detectable difference",
        "same": "no verdict",
        "<b>": "reproduced",
    }
    near = found.iloc[0]
    assert near["difference"] == pytest.approx(0.1) and near["low"] < 0.1 < near["high"] < near["margin"]
    drawing = draw_verdicts(found)
    tree = etree.fromstring(drawing)
    marks = [mark.get("fill") for mark in tree.iter("{*}circle")]
    assert len(marks) == 5 and marks[0] == marks[4] != marks[1] and drawing._repr_svg_() == drawing
    assert [float(mark.get("cx", 0)) for mark in tree.iter("{*}circle")][1] >= 150


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"near": [1.0]}, {}, "near: 1 scores; a verdict needs those of two runs or more"),
        ({}, {}, "near: 0 scores"),
        (SCORES, {"margin": 0}, "margin must be above 0"),
        (SCORES, {"published_runs": 0}, "published_runs at least 1"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    scores: dict[str, list[float]], options: dict[str, float], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        judge(scores, {"near": 80.0}, **options)  # type: ignore[arg-type]


def test_drawings_and_tables_say_what_they_need(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="expected the rows that judge"):
        draw_verdicts(judge(SCORES, {"near": 80.0})[["name", "value"]])
    with pytest.raises(
        PubmillError, match=r"table06\.json is not there; make it: pubmill run STUDY gu2020/t"
    ):
        load_table("gu2020/table06", tmp_path)


def test_a_table_is_a_frame_with_a_cell_a_row(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    path = tmp_path / "tables/gu2020/table06.json"
    path.parent.mkdir(parents=True)
    path.write_text(to_json(made_up.table(tmp_path)))
    found = load_table("gu2020/table06", tmp_path)
    values = {(one.column, one.row): one.value for one in found.itertuples() if one.row == "bc2gm"}
    assert values == {("bert", "bc2gm"): pytest.approx(81), ("ours", "bc2gm"): pytest.approx(91)}


@pytest.mark.parametrize(
    ("runs", "options", "verdict"),
    [
        ([80.4, 80.6], {}, "within the minimal detectable difference"),
        ([80.4, 80.6], {"margin": 2.0}, "reproduced"),
        ([80.4, 80.6], {"margin": 2.0, "published_runs": 1}, "reproduced"),
        ([80.4, 80.5, 80.6], {}, "reproduced"),
    ],
)
def test_a_verdict_depends_on_margin_and_runs(
    runs: list[float], options: dict[str, float], verdict: str
) -> None:
    found = judge({"a": runs}, {"a": 80.0}, **options)  # type: ignore[arg-type]
    assert found["verdict"].tolist() == [verdict]
