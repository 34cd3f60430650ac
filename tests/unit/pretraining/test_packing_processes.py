"""How many processes pack a corpus, in which order their results come, and which documents are held out."""

from typing import Any

import numpy as np

from pubmill.pretraining.packing import pack_documents


class Letters:
    """An encoder with an id for each letter, of which an x has none."""

    dtype = np.dtype(np.uint16)

    def encode(self, sentence: str) -> bytes:
        return np.array([ord(letter) for letter in sentence if letter != "x"], self.dtype).tobytes()


def test_sentences_and_documents_without_tokens_are_left_out_and_counted() -> None:
    encoder: Any = Letters()
    shard = pack_documents(["ab x c", "x xx", "", "d"], str.split, encoder)
    assert shard.ids.tolist() == [ord(letter) for letter in "abcd"]
    assert shard.sentences.tolist() == [2, 1, 1] and shard.documents.tolist() == [2, 1]
    assert (shard.empty_sentences, shard.empty_documents) == (3, 2)
    nothing = pack_documents([], str.split, encoder)
    assert (len(nothing.ids), len(nothing.sentences), nothing.empty_documents) == (0, 0, 0)
