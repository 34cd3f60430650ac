"""The finished tables of a study, read from the results folder."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.study_tables import read_study_tables
from pubmill.report.rendering import to_json
from pubmill.storage.result_paths import BELOW
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
