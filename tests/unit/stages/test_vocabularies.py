"""Specs of vocabularies, and the targets that are made of them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill import specs
from pubmill.errors import PubmillError
from pubmill.specs import LearntVocabSpec, Specs
from pubmill.specs.study import check_study
from pubmill.stages import Graph, checked_graph
from pubmill.stages.vocabularies import TrainVocab
from pubmill.vocabs.word_counts import SPLITTINGS


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    """A copy of the real specs that a test may spoil."""
    shutil.copytree(root / "specs", tmp_path / "specs")
    return tmp_path / "specs"


def targets(root: Path, tmp_path: Path, scale: str) -> Graph:
    config = {"study": "x", "title": "x", "scale": scale, "tables": ["gu2020/table06"], "results": "results"}
    settings = {"mirror": str(tmp_path), "local_files": {"abstracts": str(tmp_path)}}
    return checked_graph(*check_study(config | settings, root / "specs"))


def test_every_learnt_vocabulary_is_a_known_kind(root: Path) -> None:
    learnt = [v for v in specs.load(root / "specs", "full").vocabs.values() if isinstance(v, LearntVocabSpec)]
    assert {vocab.recipe.splitting() for vocab in learnt} == set(SPLITTINGS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("kind: sentencepiece\nlowercase: true\n", "a SentencePiece vocabulary needs"),
        ("kind: byte-level-bpe\nlowercase: true\n", "a byte-level vocabulary needs"),
        ("kind: wordpiece\nlowercase: true\nlearner: likelihood\n", "learner"),
        ("kind: wordpiece\nlowercase: true\nmost_words: 0\n", "most_words"),
    ],
)
def test_impossible_vocabularies_are_reported(folder: Path, changes: str, message: str) -> None:
    (folder / "vocabs/mine.yaml").write_text(f"name: mine\nsize: 500\ncorpus: pubmed-abstracts\n{changes}")
    with pytest.raises(PubmillError, match=rf"specs/vocabs/mine\.yaml:\d+.*{message}"):
        specs.load(folder, "full")


def test_a_released_vocabulary_needs_a_released_model(folder: Path) -> None:
    path = folder / "vocabs/mine.yaml"
    path.write_text("name: mine\nkind: released\nmodel: no-pretraining\n")
    with pytest.raises(
        PubmillError, match=r"specs/vocabs/mine\.yaml:3: no-pretraining has no released files"
    ):
        specs.load(folder, "full")
    path.write_text("name: mine\nkind: released\nmodel: nobody\n")
    with pytest.raises(PubmillError, match=r"mine\.yaml:3: there is no specs/models/nobody\.yaml"):
        specs.load(folder, "full")


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


def test_vocabularies_are_learnt_or_released(full_specs: Specs, graph_of: Callable[..., Graph]) -> None:
    graph = graph_of(full_specs)
    made = graph.vocabularies
    assert sorted(made.learnt() + made.released()) == sorted(full_specs.vocabs)
    assert "pubmed-uncased" in made.learnt() and "pubmedbert-base" in made.released()
    assert made.words("pubmed-uncased") == graph.paths.words("pubmed-abstracts", "bert-uncased")
    with pytest.raises(PubmillError, match="pubmedbert-base is a released one"):
        made.words("pubmedbert-base")


def test_the_vocabulary_of_a_model_is_its_recipes_or_the_released_one(
    full_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(full_specs).vocabularies
    assert made.of_model("pubmedbert-base") == "pubmedbert-base"
    assert made.of_model("pubmedbert-base@adversarial") == full_specs.pretraining["pubmedbert-base"].vocab
    assert made.of_model("no-pretraining") == full_specs.pretraining["pubmedbert-base"].vocab
    assert made.of_model("biobert-base") == "biobert-base"
    assert made.of_model("biobert-large") is None
