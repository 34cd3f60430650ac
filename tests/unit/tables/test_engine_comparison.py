"""Columns that are engines of one prompted model."""

from pathlib import Path

from pubmill.tables.engine_comparison import engine_lines
from tests.unit import toy_tables as made_up


def test_each_row_states_the_variance_between_engines(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    table = made_up.table(tmp_path)
    (line,) = engine_lines(table, {"ours": "ours", "bert": "ours"})
    scores = {
        column.key: [seed.value for seed in table.cells[column.key]["bc2gm"].seeds]
        for column in table.columns
    }
    assert all(len(of_column) == 2 for of_column in scores.values())
    gap = abs(sum(scores["ours"]) - sum(scores["bert"])) / 2  # type: ignore[arg-type]
    assert line.startswith("ours, bc2gm: standard deviation between 2 engines ")
    assert float(line.split("engines ")[1].split(" points")[0]) <= gap / 2**0.5 + 0.01


def test_columns_of_different_models_have_no_engines(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    table = made_up.table(tmp_path)
    assert not list(engine_lines(table, {}))
    assert not list(engine_lines(table, {"ours": "ours", "bert": "bert"}))
