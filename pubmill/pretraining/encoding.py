"""Encoding of text with a vocabulary of any kind, using a cache of words.

The ids equal those of the vocabulary's own tokenizer, and none comes from the name of a special token in a
text. Looking up words in a cache is faster than encoding text, because most words of a corpus have been seen
before. This requires cutting text where no piece crosses the cut: `make_encoder` knows how for each kind of
tokenizer; other text and tokenizers are encoded without a cache.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import ASCII_WORD, named_tokens, text_tokenizer
from pubmill.pretraining.packed_tokens import SPECIAL, id_dtype
from pubmill.storage.parquet import split_words

# Words cached by each process, about 100 MB; others are encoded each time.
CACHED_WORDS = 500_000

# `str.split` splits at these characters, and no tokenizer does.
_NO_WHITE_SPACE = re.compile("[\x1c-\x1f]")
# White space other than single spaces between words, which GPT-2's words would include.
_ODD_WHITE_SPACE = re.compile("^ |  | $|[^\\S ]")


def special_ids(tokenizer: Tokenizer, vocab: Path) -> dict[str, int]:
    """Return the ids of `SPECIAL`, whose tokens stand in tokenizer_config.json."""
    named = {name: piece for name, piece in named_tokens(vocab).items() if name in SPECIAL}
    ids = {name: tokenizer.token_to_id(piece) for name, piece in named.items()}
    known = {name: number for name, number in ids.items() if number is not None}
    if lacking := sorted(set(SPECIAL) - known.keys()):
        raise PubmillError(f"{vocab}: the vocabulary has no special tokens {lacking} (tokenizer_config.json)")
    return known


class Encoder:
    """Return the ids of texts as little-endian bytes of the packed type, without the cache."""

    def __init__(self, tokenizer: Tokenizer, limit: int = CACHED_WORDS) -> None:
        self.dtype = id_dtype(tokenizer.get_vocab_size())
        self._tokenizer = text_tokenizer(tokenizer)
        self._known = _Cache(self._encode_text, "", limit)
        self._behind_space = _Cache(self._encode_text, " ", limit)

    def _encode_text(self, text: str) -> bytes:
        return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, self.dtype).tobytes()

    def encode(self, text: str) -> bytes:
        """Return a text's ids, equal to the tokenizer's with `add_special_tokens=False` and special tokens in
        text switched off."""
        return self._encode_text(text)


class _Cache(dict[str, bytes]):
    """Cache of word ids; `before` is prepended to each word. It is emptied when it has `limit` words."""

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
    """BERT's tokenizers: white space always separates words, unless the normaliser deletes it."""

    def __init__(self, tokenizer: Tokenizer, limit: int = CACHED_WORDS) -> None:
        super().__init__(tokenizer, limit)
        # A token added to a vocabulary may contain punctuation.
        if all(token.special for token in tokenizer.get_added_tokens_decoder().values()):
            self._known = _Cache(self._encode_new_word, "", limit)

    def _encode_new_word(self, word: str) -> bytes:
        """Return the ids of a new word: usually a known word with punctuation, which BERT's tokenizers split
        off."""
        if len(word) > 1 and word.isascii() and word.isprintable() and not word.isalnum():
            return b"".join([self._known[part] for part in ASCII_WORD.findall(word)])
        return self._encode_text(word)

    def encode(self, text: str) -> bytes:
        return b"".join(map(self._known.__getitem__, split_words(text)))


class WhiteSpaceEncoder(Encoder):
    """Tokenizers that first split at white space, such as ALBERT's."""

    def encode(self, text: str) -> bytes:
        if _NO_WHITE_SPACE.search(text):
            return self._encode_text(text)
        return b"".join(map(self._known.__getitem__, text.split()))


class ByteLevelEncoder(Encoder):
    """GPT-2's and RoBERTa's tokenizers, in which a word's pieces include the space before it."""

    def encode(self, text: str) -> bytes:
        if not text or _ODD_WHITE_SPACE.search(text):
            return self._encode_text(text)
        first, *rest = text.split(" ")
        return self._known[first] + b"".join(map(self._behind_space.__getitem__, rest))


def make_encoder(tokenizer: Tokenizer, limit: int = CACHED_WORDS) -> Encoder:
    """Return the fastest encoder that gives the tokenizer's own ids of text; `limit` words are cached."""
    settings = json.loads(tokenizer.to_str())
    model, normalizer, splitter = (settings[part] or {} for part in ("model", "normalizer", "pre_tokenizer"))
    kinds = model.get("type"), normalizer.get("type"), splitter.get("type")
    if kinds == ("WordPiece", "BertNormalizer", "BertPreTokenizer"):
        return BertEncoder(tokenizer, limit)
    if kinds == ("BPE", None, "ByteLevel") and splitter["use_regex"] and not splitter["add_prefix_space"]:
        return ByteLevelEncoder(tokenizer, limit)
    steps = [step["type"] for step in splitter.get("pretokenizers", ())]
    if steps == ["WhitespaceSplit", "Metaspace"] and _is_wordwise(normalizer):
        return WhiteSpaceEncoder(tokenizer, limit)
    return Encoder(tokenizer, limit)


def _is_wordwise(normalizer: dict[str, Any]) -> bool:
    """Return whether a normaliser changes each word independently; a model's own tables may not."""
    steps = normalizer.get("normalizers", ())
    replaced = {step["pattern"].get("String") for step in steps if step["type"] == "Replace"}
    kinds = {step["type"] for step in steps}
    return kinds <= {"Replace", "NFKD", "StripAccents", "Lowercase"} and replaced <= {"``", "''"}
