"""What masking knows of a vocabulary of each kind: where its words begin, and what may stand in."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoTokenizer

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.pretraining.encoding import special_ids
from pubmill.pretraining.masking import read_vocabulary, word_starts
from pubmill.storage.files import read_json, write_json
from tests.unit.toy_vocabs import RECIPES, make_vocab

TEXT = "effects of β-blockers on 12.5% of patients: the effect was effective."


@pytest.fixture(scope="module", params=sorted(RECIPES))
def vocab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_vocab(tmp_path_factory.mktemp(request.param), RECIPES[request.param])


def special(vocab: Path) -> dict[str, int]:
    return special_ids(load_tokenizer(vocab), vocab)


def test_units_are_the_words_of_the_text(vocab: Path) -> None:
    """Those between spaces; where the tokenizer parts words from punctuation (WordPiece), each by itself."""
    tokenizer, vocabulary = load_tokenizer(vocab), read_vocabulary(vocab, special(vocab))
    ids = np.array(tokenizer.encode(TEXT, add_special_tokens=False).ids)
    starts = word_starts(ids, np.ones(len(ids), bool), vocabulary)
    units = np.split(ids, np.flatnonzero(starts)[1:])
    kind = read_json(vocab / "tokenizer.json")["model"]["type"]
    expected = re.findall(r"\w+|\S", TEXT) if kind == "WordPiece" else TEXT.split()
    assert [tokenizer.decode(unit.tolist()).strip() for unit in units] == expected
    assert len(expected) < len(ids)


def test_all_but_special_tokens_may_stand_in(vocab: Path) -> None:
    tokenizer, named = AutoTokenizer.from_pretrained(vocab), special(vocab)
    vocabulary = read_vocabulary(vocab, named)
    assert vocabulary.size == len(tokenizer)
    assert vocabulary.mask == named["mask"] == tokenizer.mask_token_id
    others = set(range(len(tokenizer))) - set(tokenizer.all_special_ids)
    assert set(vocabulary.ordinary.tolist()) == others
    assert not vocabulary.continues[tokenizer.all_special_ids].any()


def test_added_tokens_that_are_not_special_count_and_stay_out(vocab: Path, tmp_path: Path) -> None:
    """ModernBERT's tokenizer has 83 unused ones, for which its embeddings have rows."""
    tokenizer, named = AutoTokenizer.from_pretrained(vocab), special(vocab)
    before = read_vocabulary(vocab, named)
    tokenizer.add_tokens(["[unused0]", "[unused1]"])
    tokenizer.save_pretrained(tmp_path)
    vocabulary = read_vocabulary(tmp_path, named)
    assert vocabulary.size == len(tokenizer) == before.size + 2
    assert set(vocabulary.ordinary) == set(before.ordinary) and not vocabulary.continues[-2:].any()


@pytest.fixture(scope="module")
def uncased(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_vocab(tmp_path_factory.mktemp("uncased"), RECIPES["uncased"])


@pytest.mark.parametrize(
    "damage",
    [
        {"model": {"type": "WordLevel", "vocab": {"a": 0}}},
        {"model": {"type": "WordPiece"}},
        {"model": {"type": "WordPiece", "vocab": {}}},
        {"model": {"type": "Unigram", "vocab": 3}},
        {"added_tokens": [{"content": "[PAD]"}]},
        {"added_tokens": None},
    ],
    ids=["kind unknown", "no pieces", "empty", "pieces malformed", "token without id", "no tokens"],
)
def test_a_tokenizer_that_is_not_recognised_is_named(
    uncased: Path, tmp_path: Path, damage: dict[str, Any]
) -> None:
    write_json(tmp_path / "tokenizer.json", read_json(uncased / "tokenizer.json") | damage)
    with pytest.raises(PubmillError, match=r"tokenizer\.json: no tokenizer whose words are known"):
        read_vocabulary(tmp_path, special(uncased))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(PubmillError, match=r"tokenizer\.json"):
        read_vocabulary(tmp_path, special(uncased))


def test_special_tokens_of_another_vocabulary_are_named(uncased: Path) -> None:
    with pytest.raises(PubmillError, match=r"tokenizer\.json has no id 50264.*another vocabulary"):
        read_vocabulary(uncased, special(uncased) | {"mask": 50264})
