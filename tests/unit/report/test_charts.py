"""Charts of the report: checkpoints, vocabularies, losses and subwords by date."""

from pathlib import Path

import pytest

from pubmill.report.charts import fragmentation, learning
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """BERT 81 and ours 91 on bc2gm, where BERT's published value is 80.90."""
    made_up.write_all(tmp_path)
    return made_up.table(tmp_path)


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
