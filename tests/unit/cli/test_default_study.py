"""The study that explain, compare and diff use if none is named."""

from pathlib import Path

import pytest

from pubmill.cli.default_study import study_of_words
from pubmill.cli.studies import table_of_study
from pubmill.errors import PubmillError


def meant(table: str) -> str:
    return study_of_words(None, table, None, None)


def make(checkout: Path, scale: str, table: str) -> None:
    file = checkout / f"results/{scale}/tables/{table}.json"
    file.parent.mkdir(parents=True)
    file.touch()


def test_a_table_of_one_study_names_it(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert meant("gu2020/table09") == "gu2020"
    assert capsys.readouterr().err == ""
    assert study_of_words("small", "gu2020/table09", None, None) == "small"


def test_results_decide_and_the_choice_is_reported(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert meant("gu2020/table06") == "gu2020"
    make(checkout, "small", "gu2020/table06")
    assert meant("table06") in ("contrasts", "small")
    make(checkout, "demo", "gu2020/table06")
    assert meant("table06") == "demo"
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(
        "pubmill: study demo is meant (gu2020/table06 is in demo, contrasts, gu2020, small)"
    )
    assert said.endswith("name another with --study")


def test_a_table_of_several_papers_or_none_is_refused(checkout: Path) -> None:
    with pytest.raises(
        PubmillError, match="table10 may be gu2020/table10 or tinn2021/table10; write the pap"
    ):
        meant("table10")
    make(checkout, "full", "tinn2021/table10")
    assert meant("table10") == "tinn2021"
    with pytest.raises(PubmillError, match=r"there is no table 'tabel06'; the nearest: .* with --study"):
        meant("tabel06")


def test_a_table_of_another_study_is_not_called_unknown() -> None:
    config = {"study": "gu2020", "tables": ["gu2020/table06"]}
    assert table_of_study("table06", config) == "gu2020/table06"
    with pytest.raises(
        PubmillError, match="tinn2021/table08 is no table of study gu2020: add it to `tables:`"
    ):
        table_of_study("tinn2021/table08", config)
    with pytest.raises(PubmillError, match="there is no table 'table66'; the nearest: gu2020/table06"):
        table_of_study("table66", config)
