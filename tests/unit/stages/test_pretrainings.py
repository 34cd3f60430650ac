"""Checkpoints, segments and weights."""

from pathlib import Path
from types import SimpleNamespace

from pubmill.recipes.reading import as_values
from pubmill.stages import Graph
from pubmill.stages.pretrainings import Pretrain
from tests.unit.toy_studies import targets


def test_full_scale_takes_released_weights_and_lower_scales_their_own(root: Path) -> None:
    assert targets(root).models.weights("pubmedbert-base").kind == "pretraining"
    assert targets(root, scale="full").models.weights("pubmedbert-base").kind == "hub"
    assert targets(root, scale="full", models=None).scope.pretrainings() == []


def test_checkpoints_and_saves_are_no_part_of_the_recipe(root: Path) -> None:
    recipe = as_values(targets(root).specs.pretraining["pubmedbert-base"].recipe)
    assert not {"checkpoints", "save_minutes"} & recipe.keys()


def test_a_pretraining_needs_its_tokens_its_start_and_its_teacher(full_graph: Graph) -> None:
    made, specs = full_graph, full_graph.specs.pretraining
    for recipe, spec in specs.items():
        needed = made.stage(Pretrain).inputs_of(SimpleNamespace(recipe=recipe, step="1"))
        assert needed["tokens"] == made.paths.token_files(spec.corpus, spec.vocab)
        models = [model for model in (spec.start and spec.start.model, spec.teacher) if model]
        folders = {str(Path(path).parent) for path in needed["weights"]}
        expected = set(map(made.paths.model, models))
        if spec.start and spec.start.recipe:
            expected.add(made.paths.checkpoint(spec.start.recipe, str(spec.start.step)))
        assert folders == expected
    assert specs["bio-lm-base@distill"].teacher == "bio-lm-large"
