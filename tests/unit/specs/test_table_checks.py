"""Tables against the other specs: words, settings, metrics, columns and cells that do not fit them."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pubmill.specs import Specs
from pubmill.specs.table_checks import copied_cell, faults_of_references, obstacles, subtracted_cell
from pubmill.specs.table_specs import CellReference, TableSpec
from tests.unit.specs.toy_mistakes import mistakes, wrong_references


def test_the_metric_of_a_table_is_checked_on_folds_too(folder: Path) -> None:
    path = folder / "tables/tinn2021/table11.yaml"
    path.write_text(
        path.read_text().partition("rows:")[0]
        + "protocol: lewis2020\nrows: [{dataset: gad, label: GAD, group: re}]\ncomposites: []\n"
    )
    assert "gad (sequence, relation) has no relaxed_f1" in mistakes(folder)


def test_a_row_without_a_dataset_needs_a_metric(full_specs: Specs) -> None:
    rows = [
        {"dataset": "gone", "label": "G", "group": "g", "missing": "later"},
        {"dataset": "gone", "key": "own", "label": "O", "group": "g", "missing": "later", "metric": "f1"},
        {"dataset": "gad@blurb", "label": "R", "group": "g"},
    ]
    values = {
        "name": "table01", "kind": "results", "paper": "p", "title": "T", "caption": "C", "protocol": "blurb",
        "setting": "standard", "columns": [{"model": "biobert-base", "label": "B"}], "rows": rows,
    }  # fmt: skip
    made = {kind: getattr(full_specs, kind) for kind in ("protocols", "models", "datasets")}
    found = list(obstacles(TableSpec.model_validate(values), made))
    assert found == [(("rows", 0), "gone has no dataset spec, so it needs a `metric`")]
    assert list(obstacles(TableSpec.model_validate(values | {"metric": "micro_f1"}), made)) == []


def spec(name: str, cells: dict[str, Any] | None = None, **changes: Any) -> TableSpec:
    values = {
        "name": name, "kind": "results", "paper": name[:5], "title": "T", "caption": "C", "protocol": "blurb",
        "setting": "standard", "metric": "micro_f1",
        "columns": [
            {"model": "bert", "label": "B", "cells": cells or {}}, {"model": "roberta", "label": "R"}
        ],
        "rows": [{"dataset": name, "label": name, "group": "g"} for name in ("gad", "ddi")],
        "composites": [{"name": "both", "label": "Both", "groups": {"re": ["gad", "ddi"]}}],
    }  # fmt: skip
    return TableSpec.model_validate(values | changes)


def difference(**changes: Any) -> dict[str, Any]:
    values = {
        "name": "delta", "label": "D", "row": "both", "minus": {"table": "older/table01"},
        "columns": {"bert": "roberta"}, "published": "both", "printed": "delta", "why": "Table 6",
    }  # fmt: skip
    return {"differences": [values | changes]}


def faults(table: TableSpec, **others: TableSpec) -> list[tuple[Any, str]]:
    return list(faults_of_references(table, {"older/table01": spec("table01"), **others}, {}))


def test_a_copied_cell_is_that_of_the_same_model_dataset_and_metric() -> None:
    table = spec("table02", {"gad": {"copied": "older/table01", "why": "caption"}})
    found = copied_cell(table, table.columns[0], table.rows[0], {"older/table01": spec("table01")}, {})
    assert found == CellReference(table="older/table01", column="bert", row="gad")
    assert copied_cell(table, table.columns[1], table.rows[0], {}, {}) is None
    rows = [
        {"key": key, "dataset": "gad", "label": key, "group": "g", "metric": metric}
        for key, metric in (("first", "accuracy"), ("second", "micro_f1"))
    ]
    two = {"older/table01": spec("table01", rows=rows, composites=[])}
    found = copied_cell(table, table.columns[0], table.rows[0], two, {})
    assert found and found.row == "second"


@pytest.mark.parametrize(("copied", "fault"), [
    ("older/table1", "there is no table of results 'older/table1'; the nearest: older/table01"),
    ("older Table 1", "write older/table01 for 'older Table 1'"),
    ({"table": "older/table01", "column": "brt"}, "no column of that table 'brt'; the nearest: bert"),
    ({"table": "older/table01", "row": "gadd"}, "no row of that table 'gadd'; the nearest: gad"),
    ("older/table03", "older/table03 copied bert/gad itself; name the table it is from"),
    ("older/table04", "give the `column` of that table; none fits of only"),
    ("older/table05", "give the `column` of that table; several fit: bert, again"),
])  # fmt: skip
def test_a_copied_cell_without_a_clear_origin_is_reported(copied: Any, fault: str) -> None:
    second = spec("table03", {"gad": {"copied": "older/table01", "why": "caption"}})
    none = spec("table04", columns=[{"key": "only", "label": "O", "missing": "elsewhere"}])
    twice = [{"model": "bert", "label": "B"}, {"model": "bert", "key": "again", "label": "A"}]
    others = {"older/table03": second, "older/table04": none, "older/table05": spec("table05", columns=twice)}
    [(place, found)] = faults(spec("table02", {"gad": {"copied": copied, "why": "caption"}}), **others)
    assert place == ("columns", 0, "cells", "gad") and fault in found


@pytest.mark.parametrize("text", ["Dai et al. 2020", "older Table 9", "older"])
def test_text_about_other_work_needs_no_table(text: str) -> None:
    assert faults(spec("table02", {"gad": {"copied": text, "why": "caption"}})) == []


def test_a_difference_subtracts_the_cell_that_its_column_names() -> None:
    table = spec("table02", **difference())
    [one] = table.differences
    assert faults(table) == []
    found = subtracted_cell(one, "bert", {"older/table01": spec("table01")})
    assert found == CellReference(table="older/table01", column="roberta", row="both")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"minus": {"table": "older/table2"}}, "there is no table of results 'older/table2'"),
        ({"minus": {"table": "older/table01", "row": "bth"}},
         "no row of that table 'bth'; the nearest: both"),
        ({"columns": {"bert": "robert"}}, "no column of that table 'robert'; the nearest: roberta"),
    ],
)  # fmt: skip
def test_a_difference_to_no_cell_is_reported(changes: dict[str, Any], fault: str) -> None:
    [(place, found)] = faults(spec("table02", **difference(**changes)))
    assert place == ("differences", 0) and fault in found


DIFFERS = {"why": "x", "model": "a", "dataset": "b", "not_comparable": "y"}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (difference(row="all"), "difference delta names an unknown row: all"),
        (difference(columns={"brt": "bert"}), "difference delta names unknown columns: brt"),
        (difference(minus={"table": "older/table01", "column": "bert"}), "remove `minus.column`"),
        (difference(name="both"), "duplicate rows: both"),
        (difference(columns={}), "at least 1 item"),
        (difference(why=""), "at least 1 character"),
        ({"cells": {"gad": DIFFERS}}, None),
        ({"cells": {"gad": {"not_comparable": "y"}}}, None),
        ({"cells": {"gad": {"why": "x"}}}, "a cell needs `copied`, `not_comparable`"),
        ({"cells": {"gad": {"model": "bert"}}}, "needs `why`"),
        ({"cells": {"gad": {"dataset": "gad"}}}, "needs `why`"),
        ({"cells": {"gad": {"copied": "older/table01"}}}, "needs `why`"),
        ({"cells": {"gad": {"copied": "Dai", "why": "x", "model": "b"}}}, "keep `copied` and `why` only"),
        ({"cells": {"gad": {"copied": "Dai", "why": "x", "not_comparable": "other split"}}},
         "keep `copied` and `why` only"),
        ({"cells": {"gad": {"not_comparable": ""}}}, "at least 1 character"),
    ],
)  # fmt: skip
def test_differences_and_cells_are_whole_and_have_reasons(changes: dict[str, Any], fault: str | None) -> None:
    if fault is None:
        assert spec("table02", **changes).columns[0].cells
    else:
        with pytest.raises(ValidationError, match=fault):
            spec("table02", **changes)


def test_the_model_is_that_of_the_cell_the_row_or_the_column_and_the_dataset_alike() -> None:
    rows = [
        {"dataset": "gad", "label": "G", "group": "g"},
        {"dataset": "ddi", "label": "D", "group": "g", "model": "large"},
    ]
    columns = [
        {"model": "bert", "label": "B", "cells": {"ddi": {"model": "small", "dataset": "ddi@x", "why": "w"}}},
        {"model": "roberta", "label": "R", "dataset": "gad@y"},
        {"key": "other", "label": "O", "missing": "elsewhere"},
    ]
    table = spec("table02", rows=rows, columns=columns, composites=[])
    found = {
        (column.name, row.name): (table.model_of(column, row), table.dataset_of(column, row))
        for column in table.columns
        for row in table.rows
    }
    assert found == {
        ("bert", "gad"): ("bert", "gad"), ("bert", "ddi"): ("small", "ddi@x"),
        ("roberta", "gad"): ("roberta", "gad@y"), ("roberta", "ddi"): ("large", "gad@y"),
        ("other", "gad"): (None, "gad"), ("other", "ddi"): (None, "ddi"),
    }  # fmt: skip
    assert table.datasets() == ("gad", "ddi", "ddi@x", "gad@y")


def test_specs_of_columns_cells_and_rows_are_named_and_only_a_missing_column_may_lack_its_model() -> None:
    rows = [
        {"dataset": "gad", "label": "G", "group": "g", "model": "large"},
        {"dataset": "ddi", "label": "D", "group": "g"},
    ]
    columns = [
        {"model": "bert", "label": "B", "missing": "no weights", "dataset": "gad@y"},
        {"model": "roberta", "label": "R", "cells": {"ddi": {"model": "small", "dataset": "x", "why": "w"}}},
        {"key": "best", "label": "M", "best_of": ["bert", "roberta"]},
    ]
    made = spec("table02", rows=rows, columns=columns, composites=[])
    assert wrong_references(tables={"t": made}, protocols={made.protocol: None}) == {
        ("columns", 1, "model"): "there is no specs/models/roberta.yaml",
        ("rows", 0, "model"): "there is no specs/models/large.yaml",
        ("columns", 1, "cells", "ddi", "model"): "there is no specs/models/small.yaml",
        ("columns", 0, "dataset"): "there is no specs/datasets/gad@y.yaml",
        ("rows", 0, "dataset"): "there is no specs/datasets/gad.yaml",
        ("rows", 1, "dataset"): "there is no specs/datasets/ddi.yaml",
        ("columns", 1, "cells", "ddi", "dataset"): "there is no specs/datasets/x.yaml",
    }
