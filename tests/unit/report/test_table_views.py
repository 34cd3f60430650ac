"""Tables as the report shows them: order, best values, steps of a difference, comparisons, notes."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.report.table_views import (
    LEVELS,
    TableView,
    VerdictTally,
    composite_scores,
    dataset_notes,
    model_lines,
    table_runs,
    table_views,
    tally,
)
from pubmill.statistics.verdict_models import Verdict
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up


def view_of(table: Table) -> TableView:
    [view] = table_views({"gu2020/table06": table}, {"gu2020/table06": made_up.compared(table)})
    return view


@pytest.fixture
def ordered(tmp_path: Path) -> Table:
    """Ours before BERT in the runs, and a column without runs before both."""
    made_up.write_all(tmp_path)
    columns = [made_up.column(key, key.title()) for key in ("other", "bert", "ours")]
    conflicts = ["two counts are printed"]
    rows = [
        made_up.row("bc2gm", "BC2GM", "ner", "entity_f1", conflicts=conflicts),
        made_up.row("gad", "GAD", "re", "micro_f1"),
    ]
    return made_up.table(tmp_path, made_up.recipe(columns=columns, rows=rows))


def test_columns_with_runs_come_first_and_the_best_is_ours(ordered: Table) -> None:
    view = view_of(ordered)
    assert [column.key for column in view.columns] == ["bert", "ours", "other"]
    assert view.best == {"bc2gm": {"ours"}, "gad": set(), "blurb": set()}
    cells = {name: dict(of_column) for name, of_column in ordered.cells.items()}
    cells["bert"]["bc2gm"] = cells["bert"]["bc2gm"].model_copy(update={"value": None})
    assert view_of(replace(ordered, cells=cells)).best["bc2gm"] == set(), (
        "one value is not the best of several"
    )


@pytest.mark.parametrize(("difference", "verdict", "step"), [
    (None, "reproduced", 0), (0.0, "reproduced", 0), (-1.0, "reproduced", 0), (1.1, "reproduced", 1),
    (-2.0, "not reproduced", 1), (2.5, "not reproduced", 2), (-4.1, "not reproduced", 3),
    (50.0, "not reproduced", 3), (50.0, "not comparable", None), (50.0, None, None),
])  # fmt: skip
def test_a_difference_with_a_comparable_verdict_is_measured_by_the_margin(
    ordered: Table, difference: float | None, verdict: str | None, step: int | None
) -> None:
    known = Verdict.model_validate({"verdict": verdict, "why": "so"}) if verdict else None
    cell = ordered.cells["bert"]["bc2gm"].model_copy(update={"difference": difference, "verdict": known})
    assert view_of(ordered).gap(ordered.rows[0], cell) == step


def test_a_cell_is_compared_with_the_best_and_the_best_with_the_next(ordered: Table) -> None:
    view = view_of(ordered)
    columns = {column.key: column for column in view.columns}
    best, other = (view.rival(ordered.rows[0], columns[key]) for key in ("ours", "bert"))
    assert best and other
    assert (best.minus, round(best.difference, 6), best.interval) == ("Bert", 10.0, (-0.25, 2.5))
    assert (other.minus, round(other.difference, 6), other.interval) == ("Ours", -10.0, (-2.5, 0.25))
    assert view.rival(ordered.rows[0], columns["other"]) is None


def test_notes_on_datasets_stand_once(ordered: Table) -> None:
    assert dataset_notes([ordered, ordered]) == {"BC2GM": ("two counts are printed",)}
    view = view_of(ordered)
    assert view.notes and not any("two counts" in note for note in view.notes)


def test_a_run_that_several_cells_show_is_counted_once(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    shared = {"bert": {"bc2gm": made_up.paths("bert", "bc2gm", 3)}}
    columns = [made_up.column("bert", "BERT"), made_up.column("again", "BERT again", model="bert")]
    records = shared | {"again": shared["bert"]}
    made = made_up.table(tmp_path, made_up.recipe(columns=columns, records=records))
    found = table_runs(made)
    assert (len(found.recorded), found.expected, found.failed, found.seconds) == (2, 3, 0, 20.0)


NAMES = ("reproduced", "within the minimal detectable difference", "not reproduced")


def with_verdict(table: Table, verdict: str) -> Table:
    cells = {column: dict(of_column) for column, of_column in table.cells.items()}
    known = Verdict.model_validate({"verdict": verdict, "why": "so"})
    cells["bert"]["bc2gm"] = cells["bert"]["bc2gm"].model_copy(update={"verdict": known})
    return replace(table, cells=cells)


@pytest.mark.parametrize(("reproduced", "judged", "level"), [
    (0, 0, None), (0, 9, 0), (1, 99, 1), (5, 10, 2), (98, 99, LEVELS - 1), (99, 99, LEVELS),
])  # fmt: skip
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
    assert "relation extraction is not run" in found.empty


def test_each_model_with_runs_has_a_line(table: Table) -> None:
    lines = model_lines({"gu2020/table06": table, "gu2020/table07": table})
    assert [line.label for line in lines] == ["BERT", "Ours"]
    assert list(lines[0].tallies) == ["gu2020/table06", "gu2020/table07"]
    assert lines[1].tallies["gu2020/table06"].short == "·"  # nothing is published of it
    assert not composite_scores({"gu2020/table06": table})
