"""Specs of vocabularies, and the targets that are made of them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.stages import Graph, checked_graph
from pubmill.stages.vocabularies import TrainVocab
from tests.unit.toy_studies import study_of


def targets(root: Path, tmp_path: Path, scale: str) -> Graph:
    local = {"abstracts": str(tmp_path)}
    return checked_graph(*study_of(root, scale=scale, mirror=str(tmp_path), local_files=local))


def test_vocabularies_that_separate_words_alike_share_their_counts(root: Path, tmp_path: Path) -> None:
    made = targets(root, tmp_path, "full")
    counts = {
        name: made.stage(TrainVocab).inputs_of(SimpleNamespace(vocab=name))["words"]
        for name in ("biomegatron-30k", "biomegatron-50k", "pubmed-cased", "pubmed-uncased", "pubmed-bpe")
    }
    assert counts["biomegatron-30k"] == counts["biomegatron-50k"]
    assert counts["pubmed-cased"] != counts["pubmed-uncased"]
    assert len(counts["pubmed-bpe"]) == len(made.corpora.blocks("lewis2020-pm"))


def test_released_vocabularies_come_with_their_models(root: Path, tmp_path: Path) -> None:
    assert targets(root, tmp_path, "full").vocabularies.model("pubmedbert-base") == "pubmedbert-base"
    made = targets(root, tmp_path, "demo")
    assert made.vocabularies.model("biobert-base") == "biobert-base"
    with pytest.raises(PubmillError, match="at scale demo the model pubmedbert-base is made here"):
        made.vocabularies.model("pubmedbert-base")
    with pytest.raises(PubmillError, match="a released one"):
        made.vocabularies.learnt_spec("biobert-base")


def test_vocabularies_are_learnt_or_released(full_graph: Graph) -> None:
    made = full_graph.vocabularies
    assert sorted(made.learnt() + made.released()) == sorted(full_graph.specs.vocabs)
    assert "pubmed-uncased" in made.learnt() and "pubmedbert-base" in made.released()
    assert made.words("pubmed-uncased") == full_graph.paths.words("pubmed-abstracts", "bert-uncased")
    with pytest.raises(PubmillError, match="pubmedbert-base is a released one"):
        made.words("pubmedbert-base")


def test_the_vocabulary_of_a_model_is_its_recipes_or_the_released_one(full_graph: Graph) -> None:
    made, recipes = full_graph.vocabularies, full_graph.specs.pretraining
    assert made.of_model("pubmedbert-base") == "pubmedbert-base"
    assert made.of_model("pubmedbert-base@adversarial") == recipes["pubmedbert-base"].vocab
    assert made.of_model("no-pretraining") == recipes["pubmedbert-base"].vocab
    assert made.of_model("biobert-base") == "biobert-base"
    assert made.of_model("biobert-large") is None
