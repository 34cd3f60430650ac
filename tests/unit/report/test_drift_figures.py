"""Charts of losses and subwords by date of publication."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from pubmill.report.drift_figures import DatedFit, DatedLoss, Drift, drift_charts, read_drift
from pubmill.storage.files import sealed, write_json


def made(*dates: str) -> Drift:
    losses = tuple(DatedLoss(date=date, documents=2, masked=10, loss=2.0 + n) for n, date in enumerate(dates))
    fit = DatedFit(
        date="2019", documents=2, words=40, subwords_per_word=1.25, split_words=0.2, unknown_words=0.0
    )
    years = (fit, fit.model_copy(update={"date": "2020", "subwords_per_word": 1.5}))
    return Drift(
        recipe="r", step=1000, corpus="c", documents=9, undated=1, months=losses, years=(), fit=years
    )


def test_months_stand_at_their_middle_and_are_joined() -> None:
    loss, fit = drift_charts(made("2019-01", "2019-12"))
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


def test_one_date_makes_no_line() -> None:
    assert [chart.subtitle for chart in drift_charts(made("2019-01"))] == [
        "subwords per word by year of publication"
    ]


def test_of_two_years_there_is_a_figure_and_of_one_there_is_none() -> None:
    whole = made("2019-01", "2019-02")
    assert [chart.subtitle for chart in drift_charts(whole.model_copy(update={"years": whole.months}))] == [
        "loss by month of publication", "loss by year of publication",
        "subwords per word by year of publication",
    ]  # fmt: skip
    one = whole.model_copy(update={"fit": whole.fit[:1], "months": whole.months[:1]})
    assert drift_charts(one) == []


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_json(tmp_path / "d.json", sealed(made("2019-01").model_dump()))
    assert read_drift(tmp_path / "d.json") == made("2019-01")
    write_json(tmp_path / "d.json", {"recipe": "r"})
    with pytest.raises(ValidationError):
        read_drift(tmp_path / "d.json")
