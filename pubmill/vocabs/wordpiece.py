"""BERT's uncased (or cased) WordPiece vocabulary, learnt from a corpus.

Words are those of BERT's own normaliser and pre-tokeniser (`tokenizers`), counted once over the corpus;
pieces are learnt from the counts (`pubmill.vocabs.merges`). The folder loads with `AutoTokenizer`.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import WordPiece as WordPieceDecoder
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from pubmill.errors import PubmillError
from pubmill.files import write_json, writing_folder
from pubmill.parts import read_texts, split_words
from pubmill.vocabs.diagnosis import diagnose
from pubmill.vocabs.merges import learn_pieces

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# white-space-separated chunks counted before they are taken apart into words; bounds the memory they need
COUNTED_CHUNKS = 2_000_000

_ASCII_WORD = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]")


@dataclass(frozen=True, kw_only=True)
class WordPieceRecipe:
    """A vocabulary of `size` pieces; `strip_accents` null means: as `lowercase`, like BERT."""

    kind: Literal["wordpiece"]
    size: int
    lowercase: bool
    strip_accents: bool | None = None
    max_positions: int = 512


class WordCounter:
    """Counts the words of texts as BERT's tokeniser sees them."""

    def __init__(self, recipe: WordPieceRecipe) -> None:
        self.words: Counter[str] = Counter()
        self.documents = 0
        self.running_words = 0
        self._chunks: Counter[str] = Counter()
        self._lowercase = recipe.lowercase
        self._normalizer = BertNormalizer(lowercase=recipe.lowercase, strip_accents=recipe.strip_accents)
        self._splitter = BertPreTokenizer()

    def add(self, text: str) -> None:
        chunks = split_words(text)
        self._chunks.update(chunks)
        self.documents += 1
        self.running_words += len(chunks)
        if len(self._chunks) > COUNTED_CHUNKS:
            self.finish()

    def finish(self) -> None:
        """Take the chunks counted so far apart into words."""
        for chunk, count in self._chunks.items():
            for word in self._split(chunk):
                self.words[word] += count
        self._chunks.clear()

    def _split(self, chunk: str) -> list[str]:
        if chunk.isascii() and chunk.isprintable():
            return _ASCII_WORD.findall(chunk.lower() if self._lowercase else chunk)
        normal = self._normalizer.normalize_str(chunk)
        return [word for word, _ in self._splitter.pre_tokenize_str(normal)]


def make_tokenizer(pieces: list[str], recipe: WordPieceRecipe) -> Tokenizer:
    """BERT's tokenizer over `pieces`, whose ids are their places in the list."""
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=recipe.lowercase, strip_accents=recipe.strip_accents)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.decoder = WordPieceDecoder()
    tokenizer.post_processor = BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    return tokenizer


def save(tokenizer: Tokenizer, recipe: WordPieceRecipe, folder: Path) -> None:
    """Write tokenizer.json, vocab.txt and a tokenizer_config.json with lower-casing stated."""
    (folder / "tokenizer.json").write_text(
        json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False) + "\n"
    )
    ids = tokenizer.get_vocab()
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in sorted(ids, key=ids.__getitem__)))
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": recipe.lowercase,
            "strip_accents": recipe.strip_accents,
            "tokenize_chinese_chars": True,
            "model_max_length": recipe.max_positions,
            **{f"{token.strip('[]').lower()}_token": token for token in SPECIAL},
        },
    )


def train(recipe: WordPieceRecipe, parts: list[Path], output: Path) -> dict[str, Any]:
    """Learn a vocabulary from corpus parts, write its folder with diagnosis.json; return the diagnosis."""
    counter = WordCounter(recipe)
    for text in read_texts(parts):
        counter.add(text)
    counter.finish()
    if not counter.words:
        raise PubmillError("the corpus parts hold no words to learn a vocabulary from; look at stats.json")
    tokenizer = make_tokenizer(learn_pieces(counter.words, recipe.size, SPECIAL).pieces, recipe)
    counted = {"documents": counter.documents, "words": counter.running_words}
    diagnosis = counted | diagnose(tokenizer, counter.words, recipe.size)
    with writing_folder(output) as temporary:
        save(tokenizer, recipe, temporary)
        write_json(temporary / "diagnosis.json", diagnosis)
    return diagnosis
