"""Keys suggested for a misspelt one."""

import pytest

from pubmill.recipes.finetuning import FinetuningRecipe
from pubmill.recipes.problems import nearest_keys
from pubmill.specs import DatasetSpec, ModelSpec
from pubmill.specs.loading import KINDS


@pytest.mark.parametrize(
    ("model", "place", "first"),
    [
        (DatasetSpec, ("lable",), "label"),
        (DatasetSpec, ("sources", "train", "git_blop"), "git_blob"),
        (DatasetSpec, ("sources", "train", "File", "sha265"), "sha256"),
        (ModelSpec, ("weights", "pretraining", "recipee"), "recipe"),
        (ModelSpec, ("method", "recipe", "say"), "says"),
        (KINDS["pretraining"], ("recipe", "objective", "maskin"), "masking"),
        (KINDS["protocols"], ("final", "seed"), "seeds"),
        (FinetuningRecipe, ("learning_rates",), "learning_rate"),
    ],
)
def test_the_nearest_key_of_the_place_comes_first(model: object, place: tuple[str, ...], first: str) -> None:
    assert nearest_keys(model, place)[0] == first


def test_where_nothing_is_known_nothing_is_suggested() -> None:
    assert nearest_keys(None, ("x",)) == nearest_keys(DatasetSpec, ("version", "x", "y")) == []
