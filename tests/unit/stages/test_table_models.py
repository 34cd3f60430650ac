"""Whether models are available: their weights, those that they begin with, and notes of hospitals."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import Specs
from pubmill.specs.study import with_own_weights
from pubmill.stages import Graph
from tests.unit.toy_studies import GraphOf


def test_weights_in_a_folder_that_is_not_named_are_an_obstacle(
    full_graph: Graph, full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    """Also those that another model begins with."""
    advice = "in a folder of your own (then set local_files: megatron-345m-cased)"
    access = full_graph.availability
    assert access.model("megatron-345m-cased") == f"needs its weights {advice}"
    of_another = f"needs the weights of megatron-345m-cased {advice}"
    assert access.model("biomegatron-345m@bert-cased-ft") == of_another
    assert access.model("biobert-base") is None
    named = graph_of(full_specs, local_files={"megatron-345m-cased": str(tmp_path)}).availability
    assert named.model("megatron-345m-cased") is None


def test_notes_to_apply_for_are_an_obstacle_of_models_pretrained_on_them(
    full_graph: Graph, full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    specs, model = with_own_weights(full_specs, ("bio-lm-base@pm-m3",)), "bio-lm-base@pm-m3"
    found = str(graph_of(specs).availability.model(model))
    assert found.startswith("is pretrained here on MIMIC-III, which must be applied for")
    assert full_graph.availability.model(model) is None, "it was released"
    assert graph_of(specs, local_files={"mimic-iii": str(tmp_path)}).availability.model(model) is None


def test_a_model_is_left_out_until_the_texts_of_ones_own_are_there(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    def why(*folders: str) -> str | None:
        graph = graph_of(full_specs, local_files=dict.fromkeys(folders, str(tmp_path)))
        return graph.availability.model("modernbert-bio-base@masked-10b")

    assert str(why()).startswith("is pretrained here on texts that you provide (biomed-enriched")
    assert str(why("biomed-enriched-clinical")).endswith("then set local_files: mediflow)")
    assert why("biomed-enriched-clinical", "mediflow") is None


def test_exports_name_the_files_that_they_are_made_from(full_graph: Graph, demo_graph: Graph) -> None:
    for graph, model, options in (
        (full_graph, "biobert-base", []),  # the spec pins the commit
        (demo_graph, "pubmedbert-base", ["--vocab", "--checkpoint", "--statistics"]),
        (demo_graph, "no-pretraining", ["--vocab"]),
    ):
        assert [word for word in graph.models.arguments(model) if word.startswith("--")] == options


def test_a_pipeline_is_not_fine_tuned_and_must_be_there(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    model = "scispacy-bc5cdr"
    graph = graph_of(full_specs, local_files={model: str(tmp_path)})
    with pytest.raises(PubmillError, match=f"{model} is a spaCy pipeline, which can't be fine-tuned"):
        graph.models.recipe(model)
    with pytest.raises(PubmillError, match=rf"\(local_files.{model}\) is no spaCy pipeline"):
        graph.pipelines.folder(model)
    (tmp_path / "config.cfg").write_text("x")
    (tmp_path / "ner").mkdir()
    (tmp_path / "ner/model").write_text("y")
    assert graph.pipelines.folder(model) == tmp_path
    assert set(graph.pipelines.content(model)) == {"config.cfg", "ner/model"}
    assert graph.availability.model(model) is None and graph.availability.model("biobert-base") is None
    with pytest.raises(PubmillError, match=f"model {model} predicts .*, not gad@blurb; add it to `types`"):
        graph.pipelines.recipe(model, "gad@blurb")
    assert graph.pipelines.records(model, "gad@blurb") == []
    assert graph.records.scoring_recipe(graph.pipelines.run(model, "bc2gm")[0]).seed == 1


@pytest.mark.parametrize("brace", ["{", "}"])
def test_a_folder_whose_path_has_a_brace_is_refused(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path, brace: str
) -> None:
    with pytest.raises(PubmillError, match="Snakemake takes braces in a path for wildcards"):
        graph_of(full_specs, local_files={"mine": f"{tmp_path}/a{brace}b"}).folders.find("mine")


def test_folders_are_those_of_the_configuration_or_of_the_mirror(
    full_graph: Graph, full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    (tmp_path / "local/mine").mkdir(parents=True)
    mirrored = graph_of(full_specs, mirror=str(tmp_path)).folders
    assert mirrored.find("mine") == tmp_path / "local/mine"
    assert (mirrored.find("other"), mirrored.setting("mine")) == (None, "local/mine of the mirror")
    both = graph_of(full_specs, mirror=str(tmp_path), local_files={"mine": "/elsewhere"}).folders
    assert (both.find("mine"), both.setting("mine")) == (Path("/elsewhere"), "local_files.mine")
    assert full_graph.folders.find("mine") is None
    with pytest.raises(PubmillError, match="corpus c needs files of your own: .*; local_files has only mine"):
        both.require("other", "corpus c")


def test_a_table_for_models_of_ones_own_has_their_columns_first(full_specs: Specs, graph_of: GraphOf) -> None:
    name, asked = "gu2020/table06", {"models": ["pubmedbert-base"], "datasets": ["bc2gm", "jnlpba"]}
    usual = graph_of(full_specs, tables=[name], **asked).tables.recipe(name)
    assert len(usual.rows) == 13 and usual.columns[0].key == "bert-base-uncased" and not usual.own
    own = graph_of(full_specs, tables=[name], own_tables="mine", **asked).tables.recipe(name)
    assert own.columns[0].key == "pubmedbert-base" and len(own.columns) == 9
    assert own.own == ("pubmedbert-base",)
    assert [row.key for row in own.rows] == ["bc2gm", "jnlpba"] and own.composites == ()
    assert {place for reason in own.reasons for place in reason.cells} <= {
        "pubmedbert-base/", "pubmedbert-base/bc2gm", "pubmedbert-base/jnlpba", "/bc2gm", "/jnlpba",
    }  # fmt: skip
    whole = {"models": ["pubmedbert-base"], "own_tables": "mine"}
    assert len(graph_of(full_specs, tables=[name], **whole).tables.recipe(name).composites) == 1
