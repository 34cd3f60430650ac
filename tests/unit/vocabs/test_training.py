"""Vocabularies of every kind: what AutoTokenizer loads, what text comes back, SentencePiece, failures."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.pretraining.encoding import make_encoder, special_ids
from pubmill.recipes import VocabRecipe
from pubmill.storage.files import read_json, write_json
from pubmill.vocabs import sentencepiece as pieces_of
from pubmill.vocabs.diagnosis import import_vocab
from pubmill.vocabs.training import FIRST, MASK, learn, train
from pubmill.vocabs.wordpiece import SPECIAL
from tests.unit.toy_vocabs import RECIPES, TEXTS, count_texts, make_vocab

characters = st.characters(exclude_categories=["Cs"])
NAMED = [*FIRST, MASK, *SPECIAL, *"“”’–", "’s", " ", "  ", "\n", "IL-2", "cells", "e", "\0"]
"""Names of special tokens, and what stands beside them in texts."""
named_texts = st.lists(st.sampled_from(NAMED), max_size=8).map("".join)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A vocabulary of each kind."""
    return {name: make_vocab(tmp_path_factory.mktemp(name), recipe) for name, recipe in RECIPES.items()}


@pytest.mark.parametrize(
    ("name", "loaded", "files"),
    [
        ("uncased", "BertTokenizer", {"vocab.txt"}),
        ("cased", "BertTokenizer", {"vocab.txt"}),
        ("biomegatron", "BertTokenizer", {"vocab.txt"}),
        ("byte-level", "RobertaTokenizer", {"vocab.json", "merges.txt"}),
        ("albert", "AlbertTokenizer", {"spiece.model"}),
        ("sentencepiece-bpe", "TokenizersBackend", {"spiece.model"}),
    ],
)
def test_auto_tokenizer_agrees(folders: dict[str, Path], name: str, loaded: str, files: set[str]) -> None:
    folder = folders[name]
    tokenizer, own = AutoTokenizer.from_pretrained(folder), load_tokenizer(folder)
    assert type(tokenizer).__name__ == loaded
    common = {"tokenizer.json", "tokenizer_config.json", "diagnosis.json", "SHA256SUMS"}
    assert {path.name for path in folder.iterdir()} == common | files
    assert len(tokenizer) == own.get_vocab_size() <= RECIPES[name].size
    for text in (*TEXTS, "unheard-of ☃ «words»", "  two  spaces "):
        theirs = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert theirs == own.encode(text, add_special_tokens=False).ids
    ids = special_ids(own, folder)
    assert (ids["pad"], ids["mask"]) == (tokenizer.pad_token_id, tokenizer.mask_token_id)
    around = tokenizer("cells")["input_ids"]
    assert (around[0], around[-1]) == (ids["cls"], ids["sep"])


@pytest.mark.parametrize("name", RECIPES)
@given(
    text=named_texts
    | st.text(characters)
    | st.text(" \n\t\x1c\x85\xa0ae\u0301İi.,-'´`▁Ġ[PAD]<s>", max_size=30),
    limit=st.integers(1, 5),
    off=st.booleans(),
)
def test_words_are_encoded_as_texts(
    folders: dict[str, Path], name: str, text: str, limit: int, off: bool
) -> None:
    """Whether special tokens in text are switched `off` in the tokenizer that is given, or not."""
    tokenizer: Any = load_tokenizer(folders[name])
    unknown = {tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>")}
    marks = set(tokenizer.get_added_tokens_decoder()) - unknown  # the ids that no text may give
    expected = tokenizer.encode(text, add_special_tokens=False).ids
    tokenizer.encode_special_tokens = off
    encoder = make_encoder(tokenizer, limit)
    first, again = (memoryview(encoder.encode(text)).cast("H").tolist() for _ in "ab")
    assert first == again and not set(again) & marks
    # The models of `tokenizers` may make a special piece of its characters.
    assert again == expected or set(expected) & marks or "<unk>" in text


@given(text=st.text(characters))
def test_byte_level_text_comes_back_whole(folders: dict[str, Path], text: str) -> None:
    tokenizer = load_tokenizer(folders["byte-level"])
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize("name", ["albert", "sentencepiece-bpe"])
def test_sentencepiece_text_comes_back_normalised(folders: dict[str, Path], name: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folders[name])
    text = "IL-2  activates Café cells."
    plain = "il-2 activates cafe cells." if RECIPES[name].lowercase else "IL-2 activates Cafe cells."
    assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == plain


@given(text=st.sampled_from(TEXTS) | named_texts.map(lambda text: text.replace("\0", "")))
def test_albert_ids_are_sentencepieces_own(folders: dict[str, Path], text: str) -> None:
    own = make_encoder(load_tokenizer(folders["albert"]))
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(folders["albert"] / "spiece.model"))
    normal = " ".join(pieces_of.normalizer(lowercase=True).normalize_str(text).split())
    assert memoryview(own.encode(text)).cast("H").tolist() == theirs.encode(normal)


def test_sentencepiece_merges_are_those_that_it_learns_from_text() -> None:
    words = pieces_of.normalise(count_texts(TEXTS, "white-space").words, lowercase=False)
    model, too_long = pieces_of.learn(words, 120, "bpe", pieces_of.SPECIAL)
    lines = [" ".join(pieces_of.normalizer(lowercase=False).normalize_str(text).split()) for text in TEXTS]
    theirs = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=theirs, model_type="bpe", vocab_size=120,
        normalization_rule_name="identity", character_coverage=pieces_of.COVERAGE, pad_id=0, unk_id=1,
        bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"], minloglevel=2,
    )  # fmt: skip
    assert pieces_of.read_pieces(model) == pieces_of.read_pieces(theirs.getvalue()) and too_long == 0


def test_diagnosis_counts_the_corpus(tmp_path: Path) -> None:
    recipe = VocabRecipe(kind="wordpiece", size=12, lowercase=True)
    vocab = make_vocab(tmp_path, recipe, ["aa ab aa", "aa ☃"])
    diagnosis = read_json(vocab / "diagnosis.json")
    assert diagnosis["documents"] == 2 and diagnosis["words"] == 5 and diagnosis["distinct_words"] == 3
    assert (vocab / "vocab.txt").read_text().split()[5:] == ["a", "b", "☃", "##a", "##b", "aa", "ab"]
    assert diagnosis["subwords_per_word"] == 1 and diagnosis["terms"]["naloxone"] == ["[UNK]"]


@pytest.mark.parametrize(
    ("name", "changes", "fault"),
    [
        ("albert", {"learner": "merges"}, "sentencepiece-unigram"),
        ("byte-level", {"lowercase": True}, "lowercase: false"),
        ("albert", {"size": 8}, "can't learn 8 pieces"),
        ("byte-level", {"size": 200}, "too small"),
    ],
)
def test_impossible_recipes_and_sizes_are_refused(name: str, changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(PubmillError, match=fault):
        learn(replace(RECIPES[name], **changes), {"abcdefghijk": 3})


def test_a_corpus_without_words_or_counts_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="no words"):
        make_vocab(tmp_path, RECIPES["cased"], [""])
    with pytest.raises(PubmillError, match="no readable word counts"):
        train(RECIPES["cased"], [tmp_path / "part-0000.parquet"], tmp_path / "vocab")
    assert not (tmp_path / "vocab").exists() and not list(tmp_path.glob(".vocab*"))


PIECES = [("<unk>", 0.0), ("▁", 0.0), ("▁gene", -1.0), ("s", -1.5), ("▁a", -2.0), ("ing", -3.0), ("a", -4.0)]


def test_pieces_follow_the_special_tokens_and_both_forms_of_each_character() -> None:
    """Of a SentencePiece vocabulary in BERT's form."""
    characters = ["[PAD]", "[UNK]", "a", "s", "##a", "##s"]
    for size, more in ((6, []), (7, ["gene"]), (8, ["gene", "##ing"]), (9, ["gene", "##ing"])):
        assert pieces_of.as_wordpiece(PIECES, size, ("[PAD]", "[UNK]")) == characters + more
    with pytest.raises(PubmillError, match="a vocabulary of 5 is too small: special tokens and characters a"):
        pieces_of.as_wordpiece(PIECES, 5, ("[PAD]", "[UNK]"))


def test_a_released_vocabulary_is_taken_from_its_model(tmp_path: Path, folders: dict[str, Path]) -> None:
    for name in ("uncased", "byte-level", "albert"):
        diagnosis = import_vocab(folders[name], tmp_path / name)
        assert diagnosis["size"] == len(AutoTokenizer.from_pretrained(tmp_path / name))
        assert diagnosis["terms"] == read_json(folders[name] / "diagnosis.json")["terms"]
    write_json(tmp_path / "model" / "tokenizer_config.json", {})
    with pytest.raises(PubmillError, match=r"lacks tokenizer\.json"):
        import_vocab(tmp_path / "model", tmp_path / "other")
    assert not (tmp_path / "other").exists()
