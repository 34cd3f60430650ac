"""Vocabulary recipes."""

from typing import Literal

from pubmill.recipes.recipe_types import Kind, StrictRecipe

Splitting = Literal["bert-uncased", "bert-cased", "byte-level", "white-space"]

Learner = Literal["merges", "merges-by-likelihood", "sentencepiece-unigram", "sentencepiece-bpe"]


class VocabRecipe(StrictRecipe):
    """A vocabulary of `size` pieces, including special ones.

    `kind`: the tokenizer of BERT, RoBERTa or ALBERT. `learner`: byte-pair merges by frequency
    (`pubmill.vocabs.merges`) or likelihood (`pubmill.vocabs.merges`), or SentencePiece's trainer
    with its unigram model or its merges; WordPiece supports all of them. `most_words` bounds memory: only
    this many of the corpus's distinct words, the most frequent, are used; the vocabulary's diagnosis reports
    what was ignored.
    """

    kind: Literal["wordpiece", "byte-level-bpe", "sentencepiece"]
    size: int
    lowercase: bool
    learner: Learner = "merges"
    most_words: int = 4_000_000

    def fault(self) -> str | None:
        """Return why this combination is not possible; None if it is."""
        if self.kind == "byte-level-bpe" and (self.learner != "merges" or self.lowercase):
            return "a byte-level vocabulary needs `learner: merges` and `lowercase: false`"
        if self.kind == "sentencepiece" and self.learner.startswith("merges"):
            return "a SentencePiece vocabulary needs `learner: sentencepiece-unigram` or `sentencepiece-bpe`"
        return None

    def splitting(self) -> Splitting:
        """Return how text is split into words to learn pieces from (`pubmill.vocabs.word_counts`)."""
        if self.kind == "wordpiece":
            return "bert-uncased" if self.lowercase else "bert-cased"
        return "byte-level" if self.kind == "byte-level-bpe" else "white-space"


class CountingRecipe(StrictRecipe):
    """How to split a text into the words that are counted."""

    splitting: Splitting


class FitRecipe(StrictRecipe):
    """The diagnosis of a vocabulary on datasets. `datasets`: name -> kind of its examples."""

    vocab: str
    datasets: dict[str, Kind]
