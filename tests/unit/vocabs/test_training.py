"""Vocabularies of every kind: what AutoTokenizer loads, what text comes back, SentencePiece, failures."""

import hashlib
import io
import json
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
from pubmill.storage.checksums import FOLDER_SUMS
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


def without_scores(value: Any) -> Any:
    """A vocabulary without the scores of its pieces, whose last digits depend on the processor."""
    if isinstance(value, dict):
        return {key: without_scores(item) for key, item in value.items()}
    if isinstance(value, list):
        pair = len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], float)
        return value[0] if pair else [without_scores(item) for item in value]
    return value


def digest(folder: Path) -> str:
    """Digest of the names and content of a vocabulary's files, except SentencePiece's own and the list."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.name not in ("spiece.model", FOLDER_SUMS):
            content = path.read_text(encoding="utf-8")
            if path.suffix == ".json":
                content = json.dumps(without_scores(read_json(path)), sort_keys=True)
            found.update(f"{path.name}\n{content}\n".encode())
    return found.hexdigest()[:16]


DIGESTS = {
    "uncased": "4e89e8127c1fb9e3", "cased": "e7c465e2f91f41b8", "biomegatron": "404a9c38762b1223",
    "biomegatron-bpe": "d2b46018f04d4845", "byte-level": "5a8f6f0f3c811dd0", "albert": "fd7aeef132ff7230",
    "sentencepiece-bpe": "d8b2d6395c3717e6",
}  # fmt: skip
"""A change of these changes every model with such a vocabulary: raise the versions of the stages then
(`Pretrain`, `Finetune`, `TrainVocab`). Seen with AVX-512, and with the C library's logarithms for processors
without AVX2 and FMA (`GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F`), which differ in last digits."""


@pytest.mark.parametrize("name", RECIPES)
def test_the_same_corpus_gives_the_same_files_from_one_version_to_the_next(
    folders: dict[str, Path], name: str
) -> None:
    assert digest(folders[name]) == DIGESTS[name]


def test_strings_longer_than_any_word_are_skipped() -> None:
    words = pieces_of.normalise(
        {"A" * (pieces_of.LONGEST + 1): 5, "b" * pieces_of.LONGEST: 2, "cells": 9, "cell": 4, "sell": 3}, True
    )
    shorter = {word: words[word] for word in words if word[0] != "a"}
    model, skipped = pieces_of.learn(words, 12, "bpe", {"unk": "<unk>"})
    assert skipped == 1 and pieces_of.learn(shorter, 12, "bpe", {"unk": "<unk>"}) == (model, 0)
