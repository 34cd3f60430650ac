"""Times of fine-tuning."""

from pathlib import Path

import pytest

from pubmill.report.training_times import ModelTimes, time_strip, times
from tests.unit import toy_tables as made_up


def test_times_are_of_each_models_runs(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    made_up.write(tmp_path, made_up.record("ours", "bc2gm", 2, 0.92, seconds=40.0))
    bert, ours = times(made_up.table(tmp_path))
    assert (bert.label, bert.by_dataset) == ("BERT", {"BC2GM": (10.0, 10.0)})
    assert (ours.runs, ours.means) == ([10.0, 40.0], {"BC2GM": 25.0})


def test_rows_of_one_dataset_share_their_runs(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    twice = [
        made_up.row("bc2gm", "BC2GM", "ner", "entity_f1"),
        made_up.row("bc2gm", "again", "ner", "entity_f1", key="again"),
    ]
    both = {
        model: dict.fromkeys(("bc2gm", "again"), made_up.paths(model, "bc2gm")) for model in ("bert", "ours")
    }
    margins = {key: {"points": 1, "why": "made up"} for key in ("bc2gm", "again")}
    rule = {"alpha": 0.05, "power": 0.8, "margins": margins, "runs": {"bc2gm": 5, "again": 5}}
    made = made_up.recipe(rows=twice, records=both, composites=[], missing={}, equivalence=rule)
    table = made_up.table(tmp_path, made, made_up.HEADER)
    assert [len(one.runs) for one in times(table)] == [2, 2]


def test_pipelines_have_no_time_of_fine_tuning(tmp_path: Path) -> None:
    assert [one.label for one in times(made_up.table_with_pipelines(tmp_path))] == ["Bert", "Ours"]


@pytest.mark.parametrize(
    ("seconds", "metric", "aside"),
    [
        (2.5, "seconds of one run", "2.5"),
        (119.0, "seconds of one run", "119"),
        (120.0, "minutes of one run", "2"),
        (5400.0, "minutes of one run", "90"),
        (9000.0, "hours of one run", "2.5"),
    ],
)
def test_a_strip_is_in_the_unit_of_the_longest_time(seconds: float, metric: str, aside: str) -> None:
    strip = time_strip("t", [ModelTimes("Ours", {"A": (seconds,)})])
    assert strip and (strip.metric, strip.lanes[0].aside) == (metric, aside)


def test_a_lane_has_a_point_for_each_dataset_and_the_mean_of_all_runs() -> None:
    """From 0, so that twice as far is twice as long."""
    found = [ModelTimes("Ours", {"A": (60.0, 180.0), "B": (480.0,)}), ModelTimes("BERT", {"A": (240.0,)})]
    strip = time_strip("t", found)
    assert strip and strip.metric == "minutes of one run"
    ours, bert = strip.lanes
    assert 0 < ours.y < bert.y < strip.height
    assert [message for _, message in ours.points] == ["A: 2 min", "B: 8 min"]
    assert [x for x, _ in ours.points] == [strip.axis.at(2), strip.axis.at(8)] and strip.axis.low == 0
    assert ours.together == strip.axis.at(4) and bert.points[0][0] == strip.axis.at(4)
    assert strip.description == (
        "Ours: A 2 min, B 8 min; mean of 3 runs 4 min. BERT: A 4 min; mean of 1 runs 4 min."
    )


def test_instant_runs_have_an_axis_and_no_runs_no_strip() -> None:
    strip = time_strip("t", [ModelTimes("Ours", {"A": (0.0,)})])
    assert strip and strip.axis.high == 1 and strip.axis.ticks(5)
    assert time_strip("t", []) is None
