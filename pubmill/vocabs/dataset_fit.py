"""Fit of a vocabulary to a dataset: subwords per word and per entity word, split and unknown words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from pubmill.examples import kinds
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.recipes.vocabs import FitRecipe
from pubmill.vocabs.diagnosis import split_terms, unknown_id

Figures = dict[str, float | None]


@dataclass
class Fit:
    """Counts of a tokenizer's pieces for some words. `split` words have several pieces, `unknown` words
    contain the piece for text that it cannot encode."""

    words: int = 0
    pieces: int = 0
    split: int = 0
    unknown: int = 0

    def figures(self) -> Figures:
        """Return the counts and their ratios; ratios are null without words."""
        return {
            "words": self.words,
            "pieces": self.pieces,
            "subwords_per_word": self.pieces / self.words if self.words else None,
            "split_words": self.split / self.words if self.words else None,
            "unknown_words": self.unknown / self.words if self.words else None,
            "continuations": (self.pieces - self.words) / self.pieces if self.pieces else None,
        }


class Pieces(dict[str, tuple[int, bool]]):
    """Word -> (number of its pieces inside a text, whether one of them is unknown)."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer, self._unknown = tokenizer, unknown_id(tokenizer)

    def __missing__(self, word: str) -> tuple[int, bool]:
        ids = self._tokenizer.encode(f" {word}", add_special_tokens=False).ids
        entry = self[word] = (len(ids), self._unknown in ids)
        return entry

    def fit(self, words: Iterable[str]) -> Fit:
        fit = Fit()
        for word in words:
            pieces, unknown = self[word]
            fit.words += 1
            fit.pieces += pieces
            fit.split += pieces > 1
            fit.unknown += unknown
        return fit


def diagnose_examples(tokenizer: Tokenizer, examples: Iterable[kinds.Example]) -> dict[str, Figures]:
    """Return figures over the words of examples (`words`) and of their mentions (`entity_words`).
    `subwords_per_word` of the latter is shin2020 Table 3. It has only figures: the text may be licensed."""
    pieces, words, mentioned = Pieces(tokenizer), Fit(), Fit()
    for example in examples:
        for total, part in ((words, words_of(example)), (mentioned, entity_words(example))):
            fit = pieces.fit(part)
            for name in vars(total):
                setattr(total, name, getattr(total, name) + getattr(fit, name))
    return {"words": words.figures(), "entity_words": mentioned.figures()}


def words_of(example: kinds.Example) -> Iterator[str]:
    """Yield the words of an example: those of its dataset, or else of its text split at white space."""
    match example:
        case kinds.TokensExample(words=words):
            yield from words
        case kinds.SpanExample(question=question, context=context):
            yield from (*question.split(), *context.split())
        case kinds.SequenceExample() | kinds.RegressionExample():
            yield from (*example.text.split(), *(example.text_pair or "").split())
        case kinds.MultilabelExample(text=text):
            yield from text.split()


def entity_words(example: kinds.Example) -> Iterator[str]:
    """Yield the words of an example's mentions, with repetitions."""
    match example:
        case kinds.TokensExample(words=words, labels=labels):
            yield from (word for word, label in zip(words, labels, strict=True) if label != "O")
        case kinds.SequenceExample(text=text, entities=entities):
            yield from (word for entity in entities for word in text[entity.start : entity.end].split())


def diagnose_dataset(recipe: FitRecipe, vocab: Path, dataset: Path) -> dict[str, Any]:
    """Return `diagnose_examples` of each split in the folder `dataset`, and the terms of gu2020 Table 1. The
    folder `vocab` contains the vocabulary."""
    tokenizer, kind = load_tokenizer(vocab), kinds.KINDS[recipe.kind]
    splits = {
        split: diagnose_examples(tokenizer, kinds.read_examples(dataset / f"{split}.jsonl.gz", kind))
        for split in kinds.SPLITS
    }
    return {
        "vocab": recipe.vocab,
        "dataset": recipe.dataset,
        "size": tokenizer.get_vocab_size(),
        "terms": split_terms(tokenizer),
        "splits": splits,
    }
