"""Which checkpoints a study measures by date, and from which files."""

from collections.abc import Callable
from types import SimpleNamespace

from pubmill.extras.drift.drift_stages import DriftStage
from pubmill.specs import Specs
from pubmill.stages import Graph

Made = Callable[..., Graph]
TABLE = "gu2020/table06"


def test_a_study_measures_its_last_checkpoints_if_it_says_so(graph_of: Made, demo_specs: Specs) -> None:
    assert graph_of(demo_specs, tables=(TABLE,)).requests.drifts() == []
    graph = graph_of(demo_specs, tables=(TABLE,), drift=True)
    found = graph.requests.drifts()
    assert found == [
        f"pretraining/{name}/drift-{step}.json" for name, step in graph.scope.last_steps().items()
    ]
    assert found and {graph.paths.at(path) for path in found} <= set(graph.report.inputs())
    assert graph.report.recipe().drifts == tuple(found)


def test_without_held_out_documents_nothing_is_measured(graph_of: Made, demo_specs: Specs) -> None:
    assert all(spec.held_out for spec in demo_specs.pretraining.values())
    none = {name: spec.model_copy(update={"held_out": 0.0}) for name, spec in demo_specs.pretraining.items()}
    specs = demo_specs.model_copy(update={"pretraining": none})
    assert graph_of(specs, tables=(TABLE,), drift=True).requests.drifts() == []


def test_each_part_has_its_shard_and_pubmeds_file(graph_of: Made, demo_specs: Specs) -> None:
    graph = graph_of(demo_specs, tables=(TABLE,), drift=True)
    stage, one = graph.stage(DriftStage), SimpleNamespace(recipe="pubmedbert-base", step="1")
    recipe, inputs = stage.recipe_of(one), stage.inputs_of(one)
    assert len(recipe.shards) == len(inputs["parts"]) == len(inputs["parsed"])
    assert {shard.file for shard in recipe.shards} == {graph.paths.below(path) for path in inputs["files"]}
    assert all(
        shard.file.endswith(f"/{shard.parsed.split('/')[1].removesuffix('.parquet')}.xml.gz")
        for shard in recipe.shards
    )
