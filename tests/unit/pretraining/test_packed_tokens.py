"""Bounds of ids and offsets, and which ids identify a corpus."""

import os
from pathlib import Path

import numpy as np
import pytest

from pubmill.errors import PubmillError
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.storage.files import read_json, sealed, write_json
from tests.unit.pretraining.toy_pretraining import SPECIAL
from tests.unit.toy_shards import make_shard, write_packed

DOCUMENTS = [[[5, 6, 7], [8]], [[9, 5]], [[6, 7, 8, 9]]]


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    write_packed(tmp_path / "tokens", [make_shard(DOCUMENTS, 10)], 10, SPECIAL)
    return tmp_path / "tokens"


def test_the_index_counts_what_was_written(tokens: Path) -> None:
    index = read_json(tokens / "index.json")
    assert (index["tokens"], index["sentences"], index["documents"]) == (10, 4, 3)
    packed = PackedTokens(tokens)
    assert packed.sentences.tolist() == [0, 3, 4, 6, 10] and packed.documents.tolist() == [0, 2, 3, 4]


def test_the_last_id_of_a_vocabulary_is_packed_and_the_next_is_not(tmp_path: Path) -> None:
    write_packed(tmp_path / "a", [make_shard([[[9]]], 10)], 10, SPECIAL)
    with pytest.raises(PubmillError, match="id 10 is outside the vocabulary of 10"):
        write_packed(tmp_path / "b", [make_shard([[[10]]], 11)], 10, SPECIAL)
    with pytest.raises(PubmillError, match="the special tokens"):
        write_packed(tmp_path / "c", [], 10, {"pad": 0})


@pytest.mark.parametrize(
    ("name", "offsets"),
    [
        ("sentences.npy", [1, 3, 4, 6, 10]), ("sentences.npy", [0, 3, 4, 6, 9]),
        ("sentences.npy", [0, 3, 4, 10]), ("sentences.npy", [0, 3, 4, 6, 8, 10]),
        ("documents.npy", [0, 2, 3, 5]), ("documents.npy", [0, 2, 4]),
    ],
)  # fmt: skip
def test_offsets_that_do_not_fit_are_refused(tokens: Path, name: str, offsets: list[int]) -> None:
    np.save(tokens / name, np.array(offsets))
    with pytest.raises(PubmillError, match=rf"{name}: \d offsets up to \d+ expected; pack again"):
        PackedTokens(tokens)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("dtype", "uint32", r"ids\.bin: 20 bytes of uint16 expected, found 20"),
        ("vocab_size", 70_000, r"ids\.bin: 40 bytes of uint32 expected, found 20"),
        ("tokens", 9, r"ids\.bin: 18 bytes of uint16 expected, found 20"),
    ],
)
def test_an_index_of_other_ids_is_refused(tokens: Path, key: str, value: object, message: str) -> None:
    index = read_json(tokens / "index.json")
    write_json(tokens / "index.json", sealed(index | {key: value}))
    with pytest.raises(PubmillError, match=message):
        PackedTokens(tokens)
    write_json(tokens / "index.json", {name: index[name] for name in index if name != key})
    with pytest.raises(PubmillError, match="lacks 'tokens'|lacks 'vocab_size'|uint16 expected"):
        PackedTokens(tokens)


@pytest.mark.parametrize("name", ["ids.bin", "sentences.npy", "documents.npy"])
def test_a_cut_folder_is_refused(tokens: Path, name: str) -> None:
    os.truncate(tokens / name, (tokens / name).stat().st_size - 1)
    with pytest.raises(PubmillError, match=f"{name}.*pack again"):
        PackedTokens(tokens)
    with pytest.raises(PubmillError, match="not whole"):
        PackedTokens(tokens.parent)
