"""Floors that a study measures."""

from types import SimpleNamespace

from pubmill.specs import Specs
from pubmill.stages.dataset_jobs import Floors
from tests.unit.toy_studies import GraphOf

TABLE = "gu2020/table06"


def test_floors_belong_to_rows_with_train_and_test(graph_of: GraphOf, demo_specs: Specs) -> None:
    assert graph_of(demo_specs, tables=(TABLE,)).tables.recipe(TABLE).floors == {}
    graph = graph_of(demo_specs, tables=(TABLE,), floors=True, datasets=("bc5-chem", "hoc@blurb"))
    expected = {name: (f"floors/{name}.json",) for name in ("bc5-chem", "hoc@blurb")}
    assert graph.tables.recipe(TABLE).floors == expected
    assert graph.tables.floor_files(TABLE) == [graph.paths.dataset_floors(name) for name in sorted(expected)]
    recipe = graph.stage(Floors).recipe_of(SimpleNamespace(dataset="hoc@blurb"))
    assert (recipe.name, recipe.kind, recipe.task) == ("hoc@blurb", "multilabel", "classification")
