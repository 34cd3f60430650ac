"""`pubmill seeds`: the rows that are compared, and the number of the others."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.cli.conftest import Said


@pytest.mark.parametrize(
    ("compared", "line"),
    [
        (3, ""),
        (2, "not compared by seeds: 1 row (of several folds, or without two models of several seeds)"),
        (0, "not compared by seeds: 3 rows (of several folds, or without two models of several seeds)"),
    ],
)
def test_rows_that_are_shown_but_not_compared_are_counted(
    started: Said, monkeypatch: pytest.MonkeyPatch, compared: int, line: str
) -> None:
    recipes = {
        "a": SimpleNamespace(rows=[SimpleNamespace(shown=one) for one in (True, False, True)]),
        "b": SimpleNamespace(rows=[SimpleNamespace(shown=True)]),
    }
    graphs: list[dict[str, Any]] = []
    graph = SimpleNamespace(
        tables=SimpleNamespace(recipe=recipes.__getitem__),
        requests=SimpleNamespace(result_tables=lambda: list(recipes)),
        results="results/x",
        records=SimpleNamespace(is_current=True),
    )

    def of_study(*_: Any, **how: Any) -> Any:
        graphs.append(how)
        return graph

    plans = {"a": ["row 1", "row 2"][:compared], "b": ["row 3"][: max(0, compared - 2)]}
    named = {id(recipe): name for name, recipe in recipes.items()}
    monkeypatch.setattr("pubmill.cli.seeds_command.configured_graph", of_study)
    monkeypatch.setattr("pubmill.tables.seed_plan.row_plans", lambda recipe, *_: plans[named[id(recipe)]])
    monkeypatch.setattr("pubmill.tables.seed_plan.as_text", ", ".join)
    first, *more = " ".join(started("seeds", "gu2020").split("\n")).partition("not compared")
    assert first.strip() == ", ".join(["row 1", "row 2", "row 3"][:compared])
    assert " ".join("".join(more).split()) == line
    assert graphs == [{"every_seed": True}]
