"""How well a vocabulary fits: a corpus, terms of the field, a dataset."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.examples import (
    Example,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
)

TERMS = tuple(
    "diabetes leukemia lithium insulin DNA promoter hypertension nephropathy lymphoma lidocaine oropharyngeal "
    "cardiomyocyte chloramphenicol RecA acetyltransferase clonidine naloxone".split()
)
"""The terms of gu2020 Table 1."""

UNKNOWN = ("[UNK]", "<unk>")
_PREFIX = {"sentencepiece": "▁"}


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a vocabulary or model folder, without truncation and padding."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; a vocabulary's folder has it")
    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing more specific
        raise PubmillError(f"{path}: no readable tokenizer: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # "[SEP]" in a text is text
    tokenizer.encode_special_tokens = True
    return tokenizer


def unknown_id(tokenizer: Tokenizer) -> int | None:
    """The id of the piece that stands for what a vocabulary can't encode; None where it has none."""
    ids = [number for name in UNKNOWN if (number := tokenizer.token_to_id(name)) is not None]
    return ids[0] if ids else None


def diagnose(tokenizer: Tokenizer, words: Mapping[str, int], kind: str) -> dict[str, Any]:
    """Figures over all word occurrences of the corpus, `words` being counted words as the vocabulary of that
    kind was learnt from them.

    `subwords_per_word` is the mean number of pieces of a word, `unknown_words` the share with a piece that is
    unknown, `split_words` the share of more than one piece, `continuations` the share of pieces that continue
    a word, `unused` the pieces that no word needs, `most_split` the commonest words of four pieces and more.
    """
    pieces: Counter[int] = Counter()
    split = occurrences = unknown = 0
    most_split: list[tuple[int, str]] = []
    model, prefix, lost = tokenizer.model, _PREFIX.get(kind, ""), unknown_id(tokenizer)
    for word in sorted(words):
        count, ids = words[word], [token.id for token in model.tokenize(prefix + word)]
        occurrences += count
        split += count * (len(ids) > 1)
        unknown += count * (lost in ids)
        for number in ids:
            pieces[number] += count
        if len(ids) > 3:
            most_split.append((-count, word))
            if len(most_split) > 10_000:
                most_split = sorted(most_split)[:20]
    total, special = pieces.total(), tokenizer.get_added_tokens_decoder().keys()
    decode = tokenizer.decoder.decode if kind == "byte-level-bpe" else "".join
    return {
        "size": tokenizer.get_vocab_size(),
        "word_occurrences": occurrences,
        "distinct_words": len(words),
        "subwords_per_word": total / occurrences,
        "unknown_words": unknown / occurrences,
        "split_words": split / occurrences,
        "continuations": (total - occurrences) / total,
        "unused": tokenizer.get_vocab_size() - len(pieces.keys() | special),
        "most_split": [decode([word]).strip() for _, word in sorted(most_split)[:20]],
    }


def split_terms(tokenizer: Tokenizer) -> dict[str, list[str]]:
    """The pieces of each term of gu2020 Table 1 inside a text; a term of one piece is in the vocabulary."""
    return {term: tokenizer.encode(f" {term}", add_special_tokens=False).tokens for term in TERMS}


@dataclass
class Fit:
    """How a tokenizer takes some words apart: `split` words have several pieces, `unknown` ones a piece that
    stands for what it can't encode."""

    words: int = 0
    pieces: int = 0
    split: int = 0
    unknown: int = 0

    def figures(self) -> dict[str, Any]:
        """The counts and their ratios; null where there are no words."""
        return {
            "words": self.words,
            "pieces": self.pieces,
            "subwords_per_word": self.pieces / self.words if self.words else None,
            "split_words": self.split / self.words if self.words else None,
            "unknown_words": self.unknown / self.words if self.words else None,
            "continuations": (self.pieces - self.words) / self.pieces if self.pieces else None,
        }


class _Pieces(dict[str, tuple[int, bool]]):
    """Word -> (its pieces inside a text, whether one of them is unknown)."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer, self._unknown = tokenizer, unknown_id(tokenizer)

    def __missing__(self, word: str) -> tuple[int, bool]:
        ids = self._tokenizer.encode(f" {word}", add_special_tokens=False).ids
        found = self[word] = (len(ids), self._unknown in ids)
        return found

    def fit(self, words: Iterable[str]) -> Fit:
        fit = Fit()
        for word in words:
            pieces, unknown = self[word]
            fit.words += 1
            fit.pieces += pieces
            fit.split += pieces > 1
            fit.unknown += unknown
        return fit


def diagnose_examples(tokenizer: Tokenizer, examples: Iterable[Example]) -> dict[str, Any]:
    """Figures over the words of examples (`words`) and over those of their mentions (`entity_words`, of which
    `subwords_per_word` is shin2020 Table 3); only figures, as the text may be licensed."""
    pieces, words, mentioned = _Pieces(tokenizer), Fit(), Fit()
    for example in examples:
        for total, part in ((words, words_of(example)), (mentioned, entity_words(example))):
            fit = pieces.fit(part)
            for name in vars(total):
                setattr(total, name, getattr(total, name) + getattr(fit, name))
    return {"words": words.figures(), "entity_words": mentioned.figures()}


def words_of(example: Example) -> Iterator[str]:
    """The words of an example: as its dataset gives them, else between white space."""
    match example:
        case TokensExample(words=words):
            yield from words
        case SpanExample(question=question, context=context):
            yield from (*question.split(), *context.split())
        case SequenceExample(text=text, text_pair=pair) | RegressionExample(text=text, text_pair=pair):
            yield from (*text.split(), *(pair or "").split())
        case MultilabelExample(text=text):
            yield from text.split()


def entity_words(example: Example) -> Iterator[str]:
    """The words of an example's mentions, as often as they are mentioned."""
    match example:
        case TokensExample(words=words, labels=labels):
            yield from (word for word, label in zip(words, labels, strict=True) if label != "O")
        case SequenceExample(text=text, entities=entities):
            yield from (word for entity in entities for word in text[entity.start : entity.end].split())
