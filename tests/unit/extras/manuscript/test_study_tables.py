"""The finished tables of a study, read from the results folder, and their cells."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.study_tables import CellKey, cell_of, read_study_tables
from pubmill.report.rendering import to_json
from pubmill.storage.result_paths import BELOW
from tests.unit import toy_tables
from tests.unit.extras.manuscript.toy_study import NAME, study


def test_tables_and_comparisons_are_read(tmp_path: Path) -> None:
    made = study(tmp_path)
    for path, shown in (
        (BELOW.table(NAME, "json"), made.tables),
        (BELOW.comparisons(NAME, "json"), made.compared),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(to_json(shown[NAME]))
    assert read_study_tables("toy", "small", [NAME], tmp_path) == made


def test_a_study_that_is_not_finished_is_an_error_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(
        PubmillError, match=r"there is no .*table06.json, .*make its tables: .*pubmill run gu2020"
    ):
        read_study_tables("gu2020", "full", [NAME], tmp_path)
    with pytest.raises(PubmillError, match="study facts has no table of results"):
        read_study_tables("facts", "full", [], tmp_path)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (("gu2020/table6", "bc2gm", "bert"), "no table 'gu2020/table6'; the nearest: gu2020/table06"),
        (("gu2020/table06", "bc2", "bert"), "gu2020/table06: there is no row 'bc2'; the nearest: bc2gm"),
        (("gu2020/table06", "bc2gm", "bart"), "there is no column 'bart'; the nearest: bert"),
    ],
)
def test_an_unknown_name_is_reported_with_the_nearest(
    tmp_path: Path, key: tuple[str, str, str], message: str
) -> None:
    toy_tables.write_all(tmp_path)
    tables = {"gu2020/table06": toy_tables.table(tmp_path)}
    with pytest.raises(PubmillError, match=message):
        cell_of(tables, CellKey(*key))
