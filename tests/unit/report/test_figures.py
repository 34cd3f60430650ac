"""Coordinates of figures and charts: axes with margins on both sides, lanes below each other, round ticks."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pubmill.messages.stage_groups import GROUPS
from pubmill.report import figures
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up


@pytest.mark.parametrize(("low", "high", "about", "values"), [
    (0, 10, 5, [0, 2, 4, 6, 8, 10]), (0, 10, 4, [0, 5, 10]), (79.3, 92.7, 4, [80, 85, 90]),
    (0.12, 0.47, 4, [0.2, 0.3, 0.4]), (-3, 3, 6, [-3, -2, -1, 0, 1, 2, 3]), (1.1, 1.9, 1, [1.5]),
])  # fmt: skip
def test_ticks_are_at_multiples_of_one_two_or_five(
    low: float, high: float, about: int, values: list[float]
) -> None:
    axis = figures.Axis(low, high, 0, 100)
    assert axis.ticks(about) == [(axis.at(value), value) for value in values]
    assert [figures.Axis(0, 4, 200, 0).at(value) for value in (0, 1, 4)] == [200, 150, 0], "down the page"


def test_a_strip_has_a_lane_for_each_model_within_the_figure(table: Table) -> None:
    [strip] = figures.strips(table)
    assert (strip.axis.start, strip.axis.end, strip.height) == (14, 326, 8 + 2 * 40 + 26)
    assert (strip.axis.low, strip.axis.high) == pytest.approx((80 - 0.72, 92 + 0.72))
    assert [lane.y for lane in strip.lanes] == [34, 74]
    bert, ours = strip.lanes
    assert [x for x, _ in bert.points] == [strip.axis.at(80), strip.axis.at(82)]
    assert (bert.together, bert.published) == (strip.axis.at(81), strip.axis.at(80.9))
    assert (ours.together, ours.published) == (strip.axis.at(91), None)
    assert strip.description == (
        "BERT: seed 1 80.00, seed 2 82.00; mean 81.00; published 80.90. "
        "Ours: seed 1 90.00, seed 2 92.00; mean 91.00; no published value."
    )


def test_scores_that_hardly_differ_have_an_axis_of_half_a_point(tmp_path: Path) -> None:
    failed = made_up.record("ours", "bc2gm", 1, 0, metrics=None, counts=None, failed="nan")
    made_up.write(tmp_path, *(made_up.record("bert", "bc2gm", seed, 0.8) for seed in (1, 2)), failed)
    [strip] = figures.strips(made_up.table(tmp_path, published=made_up.HEADER))
    assert (strip.axis.low, strip.axis.high) == pytest.approx((79.75, 80.25))
    assert strip.lanes[1].note.endswith("of 2 seeds without a score") and strip.lanes[0].note == ""


def test_a_curve_begins_at_no_tokens_and_marks_all_checkpoints_but_the_last() -> None:
    made = figures.curve("base", [(100, 8.0), (200, 6.0), (400, 4.0)], [(200, 2000), (400, 4000)])
    assert made is not None
    assert (made.x.low, made.x.high, made.x.start, made.x.end) == (0, 400, 38, 328)
    assert (made.y.low, made.y.high, made.y.start, made.y.end) == (4 - 0.24, 8 + 0.24, 182, 12)
    assert made.path == f"M{110.5:g} {made.y.at(8):g} L{183:g} {made.y.at(6):g} L{328:g} {made.y.at(4):g}"
    assert made.marks == ((183.0, "step 2,000"),)
    assert made.last == (328.0, made.y.at(4), "4.00")
    assert made.description == (
        "Training loss of base: 8.00 at the first logged step, 4.00 at the last, after 400 tokens; "
        "lowest 4.00."
    )
    flat = figures.curve("base", [(100, 4.0), (200, 4.0)], [])
    assert flat and (flat.y.low, flat.y.high) == (3.95, 4.05)
    assert figures.curve("base", [(1, 2.0)], []) is None


@example(1.0, 400401.0, 2)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 8))
def test_ticks_lie_on_the_axis_at_round_steps(low: float, length: float, about: int) -> None:
    axis = figures.Axis(low, low + length, 0, 300)
    ticks = axis.ticks(about)
    assert 1 <= len(ticks) <= about + 1
    assert all(-1 <= position <= 301 for position, _ in ticks)


@given(st.integers(2, 5000))
def test_thinning_is_even_and_keeps_both_ends(n: int) -> None:
    points = [(i, float(i)) for i in range(n)]
    kept = figures.thinned(points)
    assert len(kept) == min(n, figures.MAX_POINTS) and kept[0] == points[0] and kept[-1] == points[-1]
    gaps = {after[0] - before[0] for before, after in pairwise(kept)}
    assert max(gaps) - min(gaps) <= 1 <= min(gaps)


def test_times_are_of_each_models_runs(tmp_path: Path) -> None:
    """Of a dataset in two rows once, and of no supplied predictions."""
    made_up.write_all(tmp_path)
    made_up.write(tmp_path, made_up.record("ours", "bc2gm", 2, 0.92, seconds=40.0))
    assert figures.times(made_up.table(tmp_path)) == [("BERT", [10.0, 10.0]), ("Ours", [10.0, 40.0])]
    keys = ("one", "two")
    rows = [made_up.row("bc2gm", "BC2GM", "ner", "entity_f1", key=key) for key in keys]
    records = {name: dict.fromkeys(keys, made_up.paths(name, "bc2gm")) for name in ("bert", "ours")}
    margins = {key: {"points": 1, "why": "made up"} for key in keys}
    rule = {"alpha": 0.05, "power": 0.8, "margins": margins, "runs": dict.fromkeys(margins, 5)}
    made = made_up.recipe(rows=rows, records=records, composites=[], missing={}, equivalence=rule)
    assert [len(runs) for _, runs in figures.times(made_up.table(tmp_path, made, made_up.HEADER))] == [2, 2]
    assert [label for label, _ in figures.times(made_up.table_with_systems(tmp_path))] == ["Bert", "Ours"]


ALL = dict.fromkeys(GROUPS, "1 thing")


def test_a_stage_that_is_not_shown_is_passed_through() -> None:
    assert figures.drawn_sources("models", ["download", "models"]) == ["download"]
    figure = figures.pipeline_figure(
        ALL | dict.fromkeys(("parse", "select", "vocabulary", "pack", "pretrain", "trials"), ""), {}
    )
    stages = [box.stage for box in figure.boxes]
    assert stages == [
        "download", "models", "convert", "fine-tune", "predictions", "score", "tables", "report",
    ]  # fmt: skip
    assert "models: 1 thing, reads download." in figure.description
    assert "fine-tune: 1 thing, reads models and convert." in figure.description
    every = figures.pipeline_figure(ALL, {"models": ("take_model",)})
    assert [box.stage for box in every.boxes] == list(GROUPS)
    assert {box.stage: box.rules for box in every.boxes if box.rules} == {"models": ("take_model",)}
    assert len({(box.x, box.y) for box in every.boxes}) == len(GROUPS)
    assert len(every.arrows) == sum(map(len, GROUPS.values()))
    few = figures.pipeline_figure(
        dict.fromkeys(("download", "models", "convert", "fine-tune"), "1 thing"), {}
    )
    assert few.arrows == ("M52 36V52", "M102 19H170V52", "M52 86V102", "M170 86V119H102")
