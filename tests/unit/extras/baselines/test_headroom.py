"""Headroom: floors, ceilings, published scores, and the table of them."""

import json
from pathlib import Path

import pytest

from pubmill.examples.kinds import RegressionExample
from pubmill.extras.baselines.headroom import (
    BASELINE_RENDERERS,
    HEADINGS,
    NUMBERS,
    DatasetHeadroom,
    annotators_correlation,
    ceiling_of,
)
from pubmill.extras.baselines.measured import MeasuredFloor
from pubmill.specs import DatasetSpec, Specs, load
from pubmill.tables.published_values import PublishedScore, published_scores
from pubmill.tables.row_floors import CeilingScore


def floor(name: str, score: float | None) -> MeasuredFloor:
    return MeasuredFloor("d", name, f"what {name} is", "test", "accuracy", score, {}, {}, "", {})


FOUND = DatasetHeadroom(
    "d",
    "accuracy",
    [floor("low", 0.2), floor("high", 0.5), floor("none", None)],
    CeilingScore(score=90.0, source="two annotators"),
    [PublishedScore(70.0, "p/table01", "m"), PublishedScore(40.0, "p/table01", "n")],
)


@pytest.fixture(scope="module")
def specs(root: Path) -> Specs:
    return load(root / "specs", "full")


def test_the_share_of_the_room_is_between_floor_and_ceiling() -> None:
    assert FOUND.highest == floor("high", 0.5) and FOUND.best == FOUND.published[0]
    assert FOUND.share(70.0) == 0.5 and FOUND.share(40.0) == -0.25
    assert FOUND.below == 1
    assert FOUND._replace(ceiling=CeilingScore(score=50.0)).share(70.0) is None
    bare = FOUND._replace(floors=[floor("none", None)], published=[])
    assert (bare.highest, bare.best, bare.below, bare.share(70.0)) == (None, None, 0, None)


def test_published_scores_are_those_of_the_main_metric(specs: Specs, root: Path) -> None:
    """gu2020 Table 6 has nine models on PubMedQA, six of which are below the majority class."""
    found = list(published_scores(specs.datasets["pubmedqa"], specs, root / "specs"))
    scores = [one.value for one in found if one.table == "gu2020/table06"]
    assert len(scores) == 9 and sum(value < 55.2 for value in scores) == 6
    bc2gm = list(published_scores(specs.datasets["bc2gm"], specs, root / "specs"))
    assert 84.52 in [one.value for one in bc2gm]


def rated(*ratings: float) -> RegressionExample:
    return RegressionExample(
        id=str(ratings), document=None, text="t", text_pair="u", score=1.0, ratings=list(ratings)
    )


def test_ceilings_are_published_or_computed_from_ratings(specs: Specs) -> None:
    assert ceiling_of(specs.datasets["pubmedqa"], []).score == 78.0
    assert ceiling_of(specs.datasets["bc2gm"], []) == CeilingScore()
    pairs = [rated(0.0, 1.0), rated(1.0, 2.0), rated(4.0, 3.0)]
    biosses: DatasetSpec = specs.datasets["biosses"]
    computed = ceiling_of(biosses, pairs)
    assert computed.source and 90 < computed.score < 100
    found = annotators_correlation([one.ratings for one in pairs])
    assert found is not None and computed.score == pytest.approx(100 * found)
    assert ceiling_of(biosses, [rated(1.0, 1.0), rated(1.0, 2.0)]) == CeilingScore()
    assert ceiling_of(biosses, [rated()]) == CeilingScore()


def test_the_agreement_of_annotators_leaves_each_out_once() -> None:
    assert annotators_correlation([[0, 0, 0], [1, 1, 1], [4, 4, 4]]) == pytest.approx(1.0)
    assert annotators_correlation([[0, 1], [1, 0]]) == pytest.approx(-1.0)
    assert annotators_correlation([[0.0], [1.0]]) is None
    assert annotators_correlation([[0.0, 1.0], [1.0]]) is None


def test_the_table_lists_floors_from_the_highest() -> None:
    lines = BASELINE_RENDERERS["text"]([FOUND]).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["d", "accuracy", "high", "50.0", "90.0", "70.00", "(p/table01)", "50", "%", "1", "of", "2"],
        ["low", "20.0"],
        ["none", "not", "defined"],
    ]
    assert lines[4:] == ["d: the ceiling is two annotators."]
    markdown = BASELINE_RENDERERS["md"]([FOUND]).splitlines()
    assert markdown[2] == "| d | accuracy | high | 50.0 | 90.0 | 70.00 (p/table01) | 50 % | 1 of 2 |"
    assert {line.count("|") for line in markdown[:5]} == {9}


def test_a_floor_near_100_is_pointed_out() -> None:
    leaked = FOUND._replace(floors=[floor("text", 0.995)], published=[], ceiling=CeilingScore())
    assert BASELINE_RENDERERS["text"]([leaked]).splitlines()[-1] == (
        "d: text scores 99.5. What it reads gives the labels away: what text is."
    )
    [values] = json.loads(BASELINE_RENDERERS["json"]([leaked]))
    assert values["labels_given_away"] == ["text"] and values["best_published"] is None
    [values] = json.loads(BASELINE_RENDERERS["json"]([FOUND]))
    assert values["share_of_room"] == 0.5 and values["floors"]["none"] is None


def test_columns_of_numbers_are_scores_and_shares() -> None:
    numbers = [heading for place, heading in enumerate(HEADINGS) if place in NUMBERS]
    assert numbers == ["Score", "Ceiling", "Share of room", "Published below"]
