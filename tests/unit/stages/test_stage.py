"""What a stage says of itself without being told."""

from pathlib import Path
from types import SimpleNamespace

from pubmill.stages import Graph
from pubmill.stages.corpus_jobs import FindContamination
from pubmill.stages.dataset_jobs import Convert
from pubmill.stages.stage import stages


def test_programs_are_named_after_their_rules_or_by_a_stage() -> None:
    programs = {name: stage.program for name, stage in stages().items()}
    assert [one for one in programs.values() if not Path(one).is_file()] == []
    assert programs["parse"] == "pubmill/jobs/parse.py"
    assert programs["take_model"] == "pubmill/jobs/export_model.py"


def test_a_rule_has_the_recipe_of_its_stage_as_a_parameter_if_it_has_one(full_graph: Graph) -> None:
    graph, of = full_graph, SimpleNamespace(corpus="pubmed-abstracts", dataset="bc2gm")
    with_recipe, without = graph.stage(Convert), graph.stage(FindContamination)
    assert with_recipe.params.keys() - without.params.keys() == {"recipe"}
    places = without.params["places"]
    assert (places({}, []).results, places({}, []).mirror) == (graph.results, [])
    assert places.__code__.co_varnames[1] == "output", "Snakemake does not compare it"
    assert with_recipe.params["version"](of) == with_recipe.version_of(of)
    assert without.params["version"] == without.version
    assert with_recipe.params["recipe"](of) == graph.argument(with_recipe.recipe_of(of))
