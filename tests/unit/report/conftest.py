"""A table of made-up records, and the results folder of a report with it."""

from pathlib import Path

import pytest

from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up
from tests.unit.report.toy_reports import put_study


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """BERT 80 and 82 on bc2gm, published 80.90; ours 90 and 92."""
    made_up.write_all(tmp_path)
    return made_up.table(tmp_path)


@pytest.fixture
def results(tmp_path: Path, table: Table) -> Path:
    return put_study(tmp_path, table)
