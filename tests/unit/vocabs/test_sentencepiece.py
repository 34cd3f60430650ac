"""A SentencePiece vocabulary in BERT's form: special tokens, both forms of characters, and pieces."""

import pytest

from pubmill.errors import PubmillError
from pubmill.vocabs.sentencepiece import as_wordpiece

PIECES = [("<unk>", 0.0), ("▁", 0.0), ("▁gene", -1.0), ("s", -1.5), ("▁a", -2.0), ("ing", -3.0), ("a", -4.0)]
CHARACTERS = ["[PAD]", "[UNK]", "a", "s", "##a", "##s"]


def test_pieces_follow_the_special_tokens_and_both_forms_of_each_character() -> None:
    assert as_wordpiece(PIECES, 8, ("[PAD]", "[UNK]")) == [*CHARACTERS, "gene", "##ing"]
    assert as_wordpiece(PIECES, 7, ("[PAD]", "[UNK]")) == [*CHARACTERS, "gene"]
    assert as_wordpiece(PIECES, 9, ("[PAD]", "[UNK]")) == [*CHARACTERS, "gene", "##ing"], "there are no more"
    assert as_wordpiece(PIECES, 6, ("[PAD]", "[UNK]")) == CHARACTERS
    with pytest.raises(PubmillError, match="a vocabulary of 5 is too small: special tokens and characters a"):
        as_wordpiece(PIECES, 5, ("[PAD]", "[UNK]"))
