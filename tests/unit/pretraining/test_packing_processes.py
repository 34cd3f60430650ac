"""How many processes pack a corpus, in which order their results come, and which documents are held out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubmill.pretraining import packing
from pubmill.pretraining.packing import pack_documents, useful_processes


@pytest.mark.parametrize(("sizes", "processes"), [((6, 3), 1), ((6, 4), 7), ((), 1), ((11,), 7)])
def test_a_small_corpus_is_packed_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], processes: int
) -> None:
    """A part that isn't there yet, and one that is a folder, count as nothing."""
    monkeypatch.setattr(packing, "SMALL_CORPUS", 10)
    monkeypatch.setattr(packing, "cores", lambda: 7)
    parts = [tmp_path / f"part-{number}" for number in range(len(sizes))]
    for part, size in zip(parts, sizes, strict=True):
        part.write_bytes(b"x" * size)
    assert useful_processes([*parts, tmp_path, tmp_path / "missing"]) == processes


class Letters:
    """An encoder with an id for each letter, of which an x has none."""

    dtype = np.dtype(np.uint16)

    def encode(self, sentence: str) -> bytes:
        return np.array([ord(letter) for letter in sentence if letter != "x"], self.dtype).tobytes()


class Spaces:
    def split(self, text: str) -> list[str]:
        return text.split()


def test_sentences_and_documents_without_tokens_are_left_out_and_counted() -> None:
    encoder: Any = Letters()
    shard = pack_documents(["ab x c", "x xx", "", "d"], Spaces(), encoder)
    assert shard.ids.tolist() == [ord(letter) for letter in "abcd"]
    assert shard.sentences.tolist() == [2, 1, 1] and shard.documents.tolist() == [2, 1]
    assert (shard.empty_sentences, shard.empty_documents) == (3, 2)
    nothing = pack_documents([], Spaces(), encoder)
    assert (len(nothing.ids), len(nothing.sentences), nothing.empty_documents) == (0, 0, 0)
