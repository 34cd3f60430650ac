"""Model folders that are not made, and the reasons."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.pretraining import export as module
from pubmill.recipes.models import ExportRecipe, RandomWeights
from pubmill.vocabs.merges import learn_pieces
from pubmill.vocabs.wordpiece import SPECIAL, make_tokenizer, save

RECIPE = ExportRecipe(model="mine", lowercase=True, weights=RandomWeights(recipe="r"))


@pytest.fixture
def vocab(tmp_path: Path) -> Path:
    save(make_tokenizer(learn_pieces({"rats": 2}, 40, SPECIAL).pieces, True), True, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("lowercase", "said"),
    [
        (True, "its spec says lowercase: true, but its tokenizer does not make capitals small"),
        (False, "its spec says lowercase: false, but its tokenizer makes capitals small"),
    ],
)
def test_a_tokenizer_that_treats_capitals_otherwise_is_refused(
    vocab: Path, monkeypatch: pytest.MonkeyPatch, lowercase: bool, said: str
) -> None:
    recipe = replace(RECIPE, lowercase=lowercase)
    module._set_lowercase(vocab, recipe)
    monkeypatch.setattr(module, "makes_lowercase", lambda tokenizer: not lowercase)
    with pytest.raises(PubmillError) as caught:
        module._set_lowercase(vocab, recipe)
    assert str(caught.value) == f"mine: {said}; mend the spec or the tokenizer"


def test_random_weights_without_a_recipe_have_no_architecture(vocab: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError) as caught:
        module._make_random(RECIPE, vocab, tmp_path)
    assert str(caught.value) == "mine: random weights need the pretraining recipe for their architecture"


def test_folders_are_not_copied_as_files(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    target.mkdir()
    (source / "vocab.txt").mkdir(parents=True)
    (source / "config.json").write_text("{}")
    (source / "other.json").write_text("{}")
    module._copy_files(source, ("vocab.*", "config.json"), target)
    assert [path.name for path in target.iterdir()] == ["config.json"]
