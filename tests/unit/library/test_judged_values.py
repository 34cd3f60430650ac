"""Verdicts on one's own scores, and tables as data frames."""

from pathlib import Path

import pytest
from lxml import etree
from pandas import DataFrame

from pubmill import draw_verdicts, judge, load_table
from pubmill.errors import PubmillError
from pubmill.report.rendering import to_json
from tests.unit import toy_tables as made_up

SCORES = {"near": [80.1, 80.3, 79.9], "far": [70.0, 70.2, 69.8], "wide": [70.0, 90.0], "same": [80.0, 80.0]}
PUBLISHED = {"near": 80.0, "far": 80.0, "wide": 79.0, "same": 80.0, "<b>": 80.0}


def test_each_verdict_is_reached_and_drawn() -> None:
    found = judge({**SCORES, "<b>": SCORES["near"]}, PUBLISHED, margin=1.0)
    assert dict(zip(found["name"], found["verdict"], strict=True)) == {
        "near": "reproduced", "far": "not reproduced", "wide": "within the minimal detectable difference",
        "same": "no verdict", "<b>": "reproduced",
    }  # fmt: skip
    for margin, verdict in ((1.0, "within the minimal detectable difference"), (2.0, "reproduced")):
        assert judge({"a": [80.4, 80.6]}, {"a": 80.0}, margin=margin)["verdict"].tolist() == [verdict]
    near = found.iloc[0]
    assert near["difference"] == pytest.approx(0.1) and near["low"] < 0.1 < near["high"] < near["margin"]
    drawing = draw_verdicts(found)
    tree = etree.fromstring(drawing)
    marks = [mark.get("fill") for mark in tree.iter("{*}circle")]
    assert len(marks) == 5 and marks[0] == marks[4] != marks[1] and drawing._repr_svg_() == drawing
    assert [float(mark.get("cx", 0)) for mark in tree.iter("{*}circle")][1] >= 150


@pytest.mark.parametrize(("scores", "options", "message"), [
    ({"near": [1.0]}, {}, "near: 1 scores; a verdict needs those of two runs or more"),
    ({}, {}, "near: 0 scores"), (SCORES, {"margin": 0}, "margin must be above 0"),
    (SCORES, {"published_runs": 0}, "published_runs at least 1"),
])  # fmt: skip
def test_what_cannot_be_judged_is_refused(
    scores: dict[str, list[float]], options: dict[str, float], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        judge(scores, {"near": 80.0}, **options)  # type: ignore[arg-type]


def test_drawings_and_tables_say_what_they_need(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="expected the rows that judge"):
        draw_verdicts(judge(SCORES, {"near": 80.0})[["name", "value"]])
    with pytest.raises(
        PubmillError, match=r"table06\.json is not there; make it: pubmill run gu2020 gu2020/t"
    ):
        load_table("gu2020/table06", tmp_path)


def test_a_table_is_a_frame_with_a_cell_a_row(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    path = tmp_path / "tables/gu2020/gu2020-table06.json"
    path.parent.mkdir(parents=True)
    path.write_text(to_json(made_up.table(tmp_path)))
    found = load_table("gu2020/table06", tmp_path)
    values = {(one.column, one.row): one.value for one in found.itertuples() if one.row == "bc2gm"}
    assert values == {("bert", "bc2gm"): pytest.approx(81), ("ours", "bc2gm"): pytest.approx(91)}


def test_a_drawing_has_its_marks_at_their_values() -> None:
    row = {"name": "a<b", "difference": 0.5, "low": -1.0, "high": 2.0, "margin": 1.0}
    rows = [{**row, "verdict": "reproduced"}, {**row, "difference": -1.0, "verdict": "no verdict"}]
    tree = etree.fromstring(draw_verdicts(DataFrame(rows)))

    def x(value: float) -> str:
        return f"{150 + 410 * (value + 2.2) / 4.4:.1f}"

    zero, *intervals = tree.iter("{*}line")
    assert (zero.get("x1"), zero.get("x2"), zero.get("y2")) == (x(0), x(0), "52")
    assert [(one.get("x1"), one.get("x2"), one.get("y1"), one.get("y2")) for one in intervals] == [
        (x(-1), x(2), "13.0", "13.0"), (x(-1), x(2), "39.0", "39.0"),
    ]  # fmt: skip
    first, second = tree.iter("{*}circle")
    assert [(one.get("cx"), one.get("cy"), one.get("fill")) for one in (first, second)] == [
        (x(0.5), "13.0", "#1b7f4d"), (x(-1), "39.0", "#777"),
    ]  # fmt: skip
    bands = [(one.get("x"), one.get("y"), one.get("width")) for one in tree.iter("{*}rect")]
    width = f"{round(float(x(1)) - float(x(-1)), 1)}"
    assert bands == [(x(-1), "3.0", width), (x(-1), "29.0", width)]
    texts = [(one.text, one.get("y")) for one in tree.iter("{*}text")]
    assert texts[:2] == [("a<b", "17.0"), ("a<b", "43.0")] and texts[2][1] == "70"
    assert tree.get("viewBox") == "0 0 560 78"
