"""Comparisons of a cell with the best of its row, as explained: from these records or from older ones."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from pubmill.inspection.explain.cell_explanations import Explanation, explain
from pubmill.metrics.records import Record
from pubmill.storage.files import write_json
from pubmill.tables.aggregation import build
from pubmill.tables.recorded_runs import load_runs
from tests.unit import toy_tables as made_up
from tests.unit.inspection.toy_explanations import MODEL, OTHER, TABLE, explainer, printed, put_records


def compared(tmp_path: Path, column: str, *since: Record) -> Explanation:
    """Explain a cell of two models on BC2GM, with made-up comparisons, and later records."""
    results = tmp_path / "demo"
    for model, first in ((MODEL, 0.9), (OTHER, 0.5)):
        for seed in (1, 2):
            made_up.write(results, made_up.record(model, "bc2gm", seed, first, scale="demo"))
    made = explainer(tmp_path, models=[MODEL, OTHER])
    recipe = made.graph.tables.recipe(TABLE)
    table = build(recipe, made_up.unpublished(), load_runs(recipe, results))
    write_json(results / f"tables/{TABLE}.comparisons.json", to_jsonable_python(made_up.compared(table)))
    made_up.write(results, *since)
    return explain(made, TABLE, "bc2gm", column)


def anew(model: str, seed: int, score: float, **changes: Any) -> Record:
    return made_up.record(model, "bc2gm", seed, score, scale="demo", **changes)


@pytest.mark.parametrize("column", [MODEL, OTHER])
@pytest.mark.parametrize(
    ("since", "reported"),
    [
        ([anew(OTHER, 2, 0.6)], "no: the scores of its row have changed"),
        ([anew(OTHER, seed, 0.95) for seed in (1, 2)], "no: the scores of its row have changed"),
        ([anew(OTHER, 2, 0.5, data_sha256="e" * 64)], "no: .* must not share one row"),
        ([anew(OTHER, 2, 0.5, commit="e" * 40)], "True"),
    ],
)
def test_a_comparison_of_other_records_is_said_to_be(
    tmp_path: Path, column: str, since: list[Record], reported: str
) -> None:
    """This holds for whichever model of the row was run again."""
    account = compared(tmp_path, column, *since).compared
    assert account and re.match(reported, str(account["matches the records"]))


def test_a_cell_that_the_comparison_lacks_is_said_to_be_new(tmp_path: Path) -> None:
    """The comparison was made before a second model had runs."""
    put_records(tmp_path / "demo", 0.8, 0.9)
    made = explainer(tmp_path, models=[MODEL, OTHER])
    recipe = made.graph.tables.recipe(TABLE)
    table = build(recipe, made_up.unpublished(), load_runs(recipe, tmp_path / "demo"))
    path = tmp_path / f"demo/tables/{TABLE}.comparisons.json"
    write_json(path, to_jsonable_python(made_up.compared(table)))
    assert explain(made, TABLE, "bc2gm", MODEL).compared is None
    made_up.write(tmp_path / "demo", anew(OTHER, 1, 0.5), anew(OTHER, 2, 0.5))
    for column in (MODEL, OTHER):
        account = explain(made, TABLE, "bc2gm", column).compared
        assert account and "not with these runs yet" in account["compared"]


def test_a_comparison_is_explained_with_either_of_its_models(tmp_path: Path) -> None:
    best, other = (compared(tmp_path, name) for name in (MODEL, OTHER))
    assert best.compared == other.compared and other.compared is not None
    assert other.compared["best"] == "PubMedBERT uncased"
    assert other.compared["drawn"] == "60 documents, 1000 times"
    [(name, pair)] = other.compared["best minus"].items()
    assert (name, pair["difference"], pair["interval"]) == ("No pretraining", pytest.approx(40), (-0.25, 2.5))
    assert other.compared["matches the records"] is True
    text = printed(other)
    for fact in (
        "Compared with the best of its row",
        "adjusted bootstrap p 0.02",
        "paired bootstrap",
        ".comparisons.json",
    ):
        assert fact in text, fact


def test_a_cell_says_that_it_is_not_compared_yet(tmp_path: Path) -> None:
    put_records(tmp_path / "demo", 0.8, 0.9)
    found = explain(explainer(tmp_path), TABLE, "BC2GM", MODEL)
    assert found.compared == {"file": f"tables/{TABLE}.comparisons.json", "compared": "not yet"}
