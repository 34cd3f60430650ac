"""Ids of text by a vocabulary of any kind, from a cache of words.

The ids are those of the vocabulary's own tokenizer. Taking them word by word from a cache is faster than
encoding text, because most words of a corpus have been seen before. It needs a way of cutting text so that no
piece ever reaches over a cut: each kind of tokenizer has one (`make_encoder`), and text or tokenizers for
which it would not hold are encoded as they are.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from pubmill.annotation.vocab_tokenizers import ASCII_WORD
from pubmill.errors import PubmillError
from pubmill.pretraining.tokens import SPECIAL, id_dtype
from pubmill.storage.corpus_parts import split_words
from pubmill.storage.files import read_json

# words kept in memory by each process, about 100 MB; the rest is encoded again when it comes
CACHED_WORDS = 500_000

# `str.split` breaks at these, and no tokenizer does
_NO_WHITE_SPACE = re.compile("[\x1c-\x1f]")
# other white space than single spaces between words: GPT-2's words take in what stands around it
_ODD_WHITE_SPACE = re.compile("^ |  | $|[^\\S ]")


def special_ids(tokenizer: Tokenizer, vocab: Path) -> dict[str, int]:
    """The ids of the tokens for padding, unknown words, the beginning, the end and the mask, by the names
    that tokenizer_config.json gives them."""
    settings = read_json(vocab / "tokenizer_config.json")
    names = {name: settings.get(f"{name}_token") for name in SPECIAL}
    pieces = {name: piece["content"] if isinstance(piece, dict) else piece for name, piece in names.items()}
    ids = {name: tokenizer.token_to_id(piece) for name, piece in pieces.items() if piece is not None}
    known = {name: number for name, number in ids.items() if number is not None}
    lacking = sorted(set(SPECIAL) - known.keys())
    if lacking:
        raise PubmillError(f"{vocab}: the vocabulary has no special tokens {lacking} (tokenizer_config.json)")
    return known


class Encoder:
    """The ids of texts as little-endian bytes of the packed type, encoded as they are."""

    def __init__(self, tokenizer: Tokenizer, limit: int = CACHED_WORDS) -> None:
        self.dtype = id_dtype(tokenizer.get_vocab_size())
        self._tokenizer = tokenizer
        self._known, self._behind_space = _Cache(self._ids, "", limit), _Cache(self._ids, " ", limit)

    def _ids(self, text: str) -> bytes:
        return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, self.dtype).tobytes()

    def encode(self, text: str) -> bytes:
        """The ids of a text; equal to the tokenizer's, `add_special_tokens=False`."""
        return self._ids(text)


class _Cache(dict[str, bytes]):
    """Words to their ids, `before` put before each; emptied when `limit` words are in it."""

    def __init__(self, encode: Any, before: str, limit: int) -> None:
        super().__init__()
        self._encode, self._before, self._limit = encode, before, limit

    def __missing__(self, word: str) -> bytes:
        encoded: bytes = self._encode(self._before + word)
        if len(self) >= self._limit:
            self.clear()
        self[word] = encoded
        return encoded


class BertEncoder(Encoder):
    """White space always separates words for BERT, save for characters that its normaliser deletes."""

    def __init__(self, tokenizer: Tokenizer, limit: int = CACHED_WORDS) -> None:
        super().__init__(tokenizer, limit)
        # a token that was added to a vocabulary may have punctuation inside
        if all(token.special for token in tokenizer.get_added_tokens_decoder().values()):
            self._known = _Cache(self._parts, "", limit)

    def _parts(self, word: str) -> bytes:
        """The ids of a new word: mostly a known one with punctuation, which BERT's tokenizers take off."""
        if len(word) > 1 and word.isascii() and word.isprintable() and not word.isalnum():
            return b"".join([self._known[part] for part in ASCII_WORD.findall(word)])
        return self._ids(word)

    def encode(self, text: str) -> bytes:
        return b"".join(map(self._known.__getitem__, split_words(text)))


class WhiteSpaceEncoder(Encoder):
    """A tokenizer that begins by splitting at white space, as ALBERT's."""

    def encode(self, text: str) -> bytes:
        if _NO_WHITE_SPACE.search(text):
            return self._ids(text)
        return b"".join(map(self._known.__getitem__, text.split()))


class ByteLevelEncoder(Encoder):
    """GPT-2's and RoBERTa's, where a word has the space before it in its pieces."""

    def encode(self, text: str) -> bytes:
        if not text or _ODD_WHITE_SPACE.search(text):
            return self._ids(text)
        first, *rest = text.split(" ")
        return self._known[first] + b"".join(map(self._behind_space.__getitem__, rest))


def make_encoder(tokenizer: Tokenizer, limit: int = CACHED_WORDS) -> Encoder:
    """The fastest encoder that gives the tokenizer's own ids; `limit` words are cached."""
    settings = json.loads(tokenizer.to_str())
    model, normalizer, splitter = (settings[part] or {} for part in ("model", "normalizer", "pre_tokenizer"))
    kinds = model.get("type"), normalizer.get("type"), splitter.get("type")
    if kinds == ("WordPiece", "BertNormalizer", "BertPreTokenizer"):
        return BertEncoder(tokenizer, limit)
    if kinds == ("BPE", None, "ByteLevel") and splitter["use_regex"] and not splitter["add_prefix_space"]:
        return ByteLevelEncoder(tokenizer, limit)
    steps = [step["type"] for step in splitter.get("pretokenizers", ())]
    if steps == ["WhitespaceSplit", "Metaspace"] and _is_alberts(normalizer):
        return WhiteSpaceEncoder(tokenizer, limit)
    return Encoder(tokenizer, limit)


def _is_alberts(normalizer: dict[str, Any]) -> bool:
    """Whether a normaliser changes each word as if it stood alone; tables that a model brings may not."""
    kinds = {step["type"] for step in normalizer.get("normalizers", ())}
    return kinds <= {"Replace", "NFKD", "StripAccents", "Lowercase"} and all(
        step["pattern"].get("String") in ("``", "''")
        for step in normalizer.get("normalizers", ())
        if step["type"] == "Replace"
    )
