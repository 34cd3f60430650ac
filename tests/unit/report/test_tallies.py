"""Counts of verdicts, and the models against the tables."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.report.tallies import LEVELS, VerdictTally, composite_scores, model_lines, tally
from pubmill.statistics.verdict_models import Verdict
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up

NAMES = ("reproduced", "within the minimal detectable difference", "not reproduced")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made_up.write_all(tmp_path)
    return made_up.table(tmp_path)


def with_verdict(table: Table, verdict: str) -> Table:
    cells = {column: dict(of_column) for column, of_column in table.cells.items()}
    known = Verdict.model_validate({"verdict": verdict, "why": "so"})
    cells["bert"]["bc2gm"] = cells["bert"]["bc2gm"].model_copy(update={"verdict": known})
    return replace(table, cells=cells)


@pytest.mark.parametrize(
    ("reproduced", "judged", "level"),
    [(0, 0, None), (0, 9, 0), (1, 99, 1), (5, 10, 2), (98, 99, LEVELS - 1), (99, 99, LEVELS)],
)
def test_only_none_is_the_lowest_step_and_only_all_the_highest(
    reproduced: int, judged: int, level: int | None
) -> None:
    found = VerdictTally(Counter({"reproduced": reproduced, "not reproduced": judged - reproduced}))
    assert (found.judged, found.level) == (judged, level)


@pytest.mark.parametrize("verdict", NAMES)
def test_every_published_value_is_counted_once(table: Table, verdict: str) -> None:
    found = tally([with_verdict(table, verdict)])
    published = [cell for *_, cell in table.read() if cell.published]
    assert found.published == len(published)
    assert found.verdicts == {verdict: 1} and found.judged == 1
    assert found.short == ("1/1" if verdict == "reproduced" else "0/1")
    assert sum(found.empty.values()) == len(published) - 1


def test_values_without_ours_are_counted_by_reason(table: Table) -> None:
    reasons = tally([table]).empty
    assert "relation extraction is not run" in reasons


def test_each_model_with_runs_has_a_line(table: Table) -> None:
    lines = model_lines({"gu2020/table06": table, "gu2020/table07": table})
    assert [line.label for line in lines] == ["BERT", "Ours"]
    assert list(lines[0].tallies) == ["gu2020/table06", "gu2020/table07"]
    assert lines[1].tallies["gu2020/table06"].short == "·"  # nothing is published of it


def test_a_composite_without_a_value_is_not_shown(table: Table) -> None:
    assert not composite_scores({"gu2020/table06": table})
