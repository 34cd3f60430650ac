"""Recipes of vocabularies."""

from dataclasses import dataclass
from typing import Literal

from pubmill.recipes.base import FORBID_UNKNOWN

Splitting = Literal["bert-uncased", "bert-cased", "byte-level", "white-space"]


@dataclass(frozen=True, kw_only=True)
class VocabRecipe:
    """A vocabulary of `size` pieces, special ones included.

    `kind` is the form of its tokenizer: BERT's, RoBERTa's or ALBERT's. `learner`: byte-pair merges by
    frequency (`pubmill.vocabs.merges`), or the trainer of SentencePiece with its unigram model or its merges;
    for WordPiece any of them. `most_words` bounds memory: that many of the corpus's distinct words are learnt
    from at most, the most frequent ones; the diagnosis says what that left out.
    """

    __pydantic_config__ = FORBID_UNKNOWN

    kind: Literal["wordpiece", "byte-level-bpe", "sentencepiece"]
    size: int
    lowercase: bool
    learner: Literal["merges", "sentencepiece-unigram", "sentencepiece-bpe"] = "merges"
    most_words: int = 4_000_000

    def fault(self) -> str | None:
        """Why there is no such vocabulary, if there isn't."""
        if self.kind == "byte-level-bpe" and (self.learner != "merges" or self.lowercase):
            return "a byte-level vocabulary has `learner: merges` and `lowercase: false`"
        if self.kind == "sentencepiece" and self.learner == "merges":
            return "a SentencePiece vocabulary has `learner: sentencepiece-unigram` or `sentencepiece-bpe`"
        return None

    def splitting(self) -> Splitting:
        """How text is separated into the words that it is learnt from (`pubmill.vocabs.word_counts`)."""
        if self.kind == "wordpiece":
            return "bert-uncased" if self.lowercase else "bert-cased"
        return "byte-level" if self.kind == "byte-level-bpe" else "white-space"
