"""Charts of the report: ours against published, checkpoints, vocabularies, losses and subwords by date."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from pubmill.report.charts import (
    DatedFit,
    DatedLoss,
    Drift,
    agreement,
    drift_charts,
    fragmentation,
    learning,
    read_drift,
)
from pubmill.storage.files import sealed, write_json
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """BERT 81 and ours 91 on bc2gm, where BERT's published value is 80.90."""
    made_up.write_all(tmp_path)
    return made_up.table(tmp_path)


def test_agreement_has_a_dot_for_each_cell_with_both_values(table: Table) -> None:
    chart = agreement(table)
    assert chart and [dot.text for dot in chart.series[0].dots] == ["BERT, BC2GM: 81.00, published 80.90"]
    [dot] = chart.series[0].dots
    assert (dot.x, dot.y) == (chart.x.at(80.90), chart.y.at(81.0))
    assert chart.x.low == chart.y.low < 80.90 and chart.x.high == chart.y.high > 81.0
    farthest = "BERT, BC2GM: 81.00, published 80.90"
    assert chart.description == f"Ours is higher in 1 of 1 cells. Farthest apart: {farthest}."


def test_without_published_values_there_is_no_agreement(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    assert agreement(made_up.table(tmp_path, published=made_up.HEADER)) is None


def test_checkpoints_of_one_recipe_are_joined_in_their_order(table: Table) -> None:
    [chart] = learning(table, {"ours": ("r", 100), "bert": ("r", 2000)})
    [line] = chart.series
    assert line.label == "r" and [dot.text for dot in line.dots] == ["step 100: 91.00", "step 2,000: 81.00"]
    assert line.path == f"M{line.dots[0].x:g} {line.dots[0].y:g} L{line.dots[1].x:g} {line.dots[1].y:g}"
    assert line.dots[0].x < line.dots[1].x and line.dots[0].y < line.dots[1].y  # y runs down the page


def test_models_of_different_recipes_make_no_curve(table: Table) -> None:
    assert learning(table, {"ours": ("one", 100), "bert": ("other", 2000)}) == []
    assert learning(table, {"ours": ("r", 100), "bert": ("r", 100)}) == [] == learning(table, {})


def test_vocabularies_that_differ_are_set_against_scores(table: Table) -> None:
    [chart] = fragmentation(table, {"bert": {"bc2gm": 2.5}, "ours": {"bc2gm": 1.5}})
    texts = [dot.text for dot in chart.series[0].dots]
    assert texts == ["BERT: 2.50 pieces, 81.00", "Ours: 1.50 pieces, 91.00"]
    assert fragmentation(table, {"bert": {"bc2gm": 2.5}, "ours": {"bc2gm": 2.5}}) == []


def drift(*dates: str) -> Drift:
    losses = tuple(DatedLoss(date=date, documents=2, masked=10, loss=2.0 + n) for n, date in enumerate(dates))
    fit = DatedFit(
        date="2019", documents=2, words=40, subwords_per_word=1.25, split_words=0.2, unknown_words=0.0
    )
    years = (fit, fit.model_copy(update={"date": "2020", "subwords_per_word": 1.5}))
    return Drift(
        recipe="r", step=1000, corpus="c", documents=9, undated=1, months=losses, years=(), fit=years
    )


def test_months_stand_at_their_middle_and_are_joined() -> None:
    loss, fit = drift_charts(drift("2019-01", "2019-12"))
    assert (loss.label, loss.subtitle) == ("r, step 1,000", "loss by month of publication")
    [line] = loss.series
    assert [dot.x for dot in line.dots] == pytest.approx(
        [loss.x.at(2019 + 0.5 / 12), loss.x.at(2019 + 11.5 / 12)]
    )
    assert (
        line.path.startswith("M")
        and "2019-12: 3.000 nats, 10 masked subwords of 2 documents" in loss.description
    )
    assert fit.series[0].dots[0].text == "2019: 1.250 subwords per word, 40 words"
    assert (loss.x.low, fit.y.low) == pytest.approx((2019 + 0.5 / 12 - 0.5, 1.25 - 0.02))


def test_one_date_makes_no_line() -> None:
    assert [chart.subtitle for chart in drift_charts(drift("2019-01"))] == [
        "subwords per word by year of publication"
    ]


def test_of_two_years_there_is_a_figure_and_of_one_there_is_none() -> None:
    whole = drift("2019-01", "2019-02")
    assert [chart.subtitle for chart in drift_charts(whole.model_copy(update={"years": whole.months}))] == [
        "loss by month of publication", "loss by year of publication",
        "subwords per word by year of publication",
    ]  # fmt: skip
    one = whole.model_copy(update={"fit": whole.fit[:1], "months": whole.months[:1]})
    assert drift_charts(one) == []


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_json(tmp_path / "d.json", sealed(drift("2019-01").model_dump()))
    assert read_drift(tmp_path / "d.json") == drift("2019-01")
    write_json(tmp_path / "d.json", {"recipe": "r"})
    with pytest.raises(ValidationError):
        read_drift(tmp_path / "d.json")
