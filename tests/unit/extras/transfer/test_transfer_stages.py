"""Inputs of transfers: which datasets have mentions of one type."""

from collections.abc import Callable

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.transfer.transfer_stages import Transfer, TransferMatrixStage
from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.storage.result_paths import RunKey

Made = Callable[..., Graph]
TABLE, RUN = "gu2020/table06", ("blurb", "pubmedbert-base")


def test_the_matrix_has_all_pairs_of_a_type(graph_of: Made, demo_specs: Specs) -> None:
    graph = graph_of(demo_specs, tables=(TABLE,))
    assert graph.stage(TransferMatrixStage).types() == {"disease": ("bc5-disease", "ncbi-disease")}
    recipe = graph.stage(TransferMatrixStage).recipe(*RUN, "standard")
    at = graph.paths
    own = at.below(at.record(RunKey(*RUN, "ncbi-disease", "standard"), 1))
    other = at.below(at.transfer("bc5-disease", RunKey(*RUN, "ncbi-disease", "standard"), 1))
    assert recipe.scores["ncbi-disease"]["ncbi-disease"][0] == own
    assert recipe.scores["ncbi-disease"]["bc5-disease"][0] == other
    assert {at.at(own), at.at(other)} <= set(graph.stage(TransferMatrixStage).inputs(*RUN, "standard"))


def test_a_study_without_two_datasets_of_a_type(graph_of: Made, demo_specs: Specs) -> None:
    graph = graph_of(demo_specs, tables=(TABLE,), datasets=("bc5-disease", "bc2gm"))
    with pytest.raises(PubmillError, match="the study has no two datasets with mentions of one type"):
        graph.stage(TransferMatrixStage).recipe(*RUN, "standard")


@pytest.mark.parametrize(
    ("dataset", "target", "message"),
    [
        (
            "bc5-disease",
            "bc5-chem",
            r"bc5-disease \(mentions: disease\) cannot be scored on bc5-chem \(mentions: chemical\); "
            "datasets with the same `mentions:` are bc5-disease@blue, ncbi-disease",
        ),
        ("jnlpba", "bc2gm", r"jnlpba \(mentions: None\) cannot be scored on bc2gm .* are none"),
        ("bc5-disease", "nothing", r"there is no specs/datasets/nothing.yaml"),
    ],
)
def test_types_that_do_not_agree(
    graph_of: Made, demo_specs: Specs, dataset: str, target: str, message: str
) -> None:
    graph = graph_of(demo_specs, tables=(TABLE,))
    recipe = graph.stage(Transfer).recipe(RunKey(*RUN, "bc5-disease", "standard"), 1, "ncbi-disease")
    assert (recipe.mentions, recipe.metric, recipe.scale) == ("disease", "entity_f1", "demo")
    with pytest.raises(PubmillError, match=message):
        graph.stage(Transfer).recipe(RunKey(*RUN, dataset, "standard"), 1, target)
