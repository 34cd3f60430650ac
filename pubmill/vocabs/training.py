"""Training of a vocabulary of any kind from the word counts of a corpus, with its diagnosis."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.recipes import VocabRecipe
from pubmill.storage.checksums import write_folder_sums
from pubmill.storage.files import write_json, writing_folder
from pubmill.vocabs import byte_level, sentencepiece, wordpiece
from pubmill.vocabs.diagnosis import diagnose, split_terms
from pubmill.vocabs.merges import LikelihoodText, PairedText, learn_pieces
from pubmill.vocabs.word_counts import merge_counts

MERGING = {"merges": PairedText, "merges-by-likelihood": LikelihoodText}
"""Learner -> the words that it merges."""


@dataclass(frozen=True)
class LearntVocabulary:
    """A tokenizer, the function that saves it, the normalised words from which it was learnt, and the number
    of distinct words that were skipped as too long."""

    tokenizer: Tokenizer
    save: Callable[[Path], None]
    words: Mapping[str, int]
    too_long: int = 0


def learn(recipe: VocabRecipe, words: Mapping[str, int]) -> LearntVocabulary:
    """Learn a vocabulary from counted words, split according to `recipe.splitting()`."""
    if fault := recipe.fault():
        raise PubmillError(fault)
    learners = {"wordpiece": _learn_wordpiece, "byte-level-bpe": _learn_byte_level}
    return learners.get(recipe.kind, _learn_sentencepiece)(recipe, words)


def _learn_wordpiece(recipe: VocabRecipe, words: Mapping[str, int]) -> LearntVocabulary:
    too_long = 0
    if recipe.learner in MERGING:
        merging = MERGING[recipe.learner]
        pieces = learn_pieces(words, recipe.size, wordpiece.SPECIAL, merging=merging).pieces
    else:
        model, too_long = sentencepiece.learn(words, recipe.size, _sentencepiece_model(recipe), special={})
        pieces = sentencepiece.as_wordpiece(sentencepiece.read_pieces(model), recipe.size, wordpiece.SPECIAL)
    tokenizer = wordpiece.make_tokenizer(pieces, recipe.lowercase)
    return LearntVocabulary(
        tokenizer, lambda folder: wordpiece.save(tokenizer, recipe.lowercase, folder), words, too_long
    )


def _learn_byte_level(recipe: VocabRecipe, words: Mapping[str, int]) -> LearntVocabulary:
    learnt = learn_pieces(words, recipe.size - 1, byte_level.FIRST, "", byte_level.byte_alphabet())
    tokenizer = byte_level.make_tokenizer(learnt)
    return LearntVocabulary(tokenizer, lambda folder: byte_level.save(tokenizer, learnt, folder), words)


def _learn_sentencepiece(recipe: VocabRecipe, words: Mapping[str, int]) -> LearntVocabulary:
    kind, words = _sentencepiece_model(recipe), sentencepiece.normalise(words, recipe.lowercase)
    model, too_long = sentencepiece.learn(words, recipe.size, kind, sentencepiece.SPECIAL)
    tokenizer = sentencepiece.make_tokenizer(sentencepiece.read_pieces(model), kind, recipe.lowercase)

    def save(folder: Path) -> None:
        sentencepiece.save(tokenizer, model, kind, recipe.lowercase, folder)

    return LearntVocabulary(tokenizer, save, words, too_long)


def _sentencepiece_model(recipe: VocabRecipe) -> Literal["unigram", "bpe"]:
    return "unigram" if recipe.learner == "sentencepiece-unigram" else "bpe"


def train(recipe: VocabRecipe, counts: Sequence[Path], output: Path) -> dict[str, object]:
    """Learn a vocabulary from the word counts of a corpus's parts and write its folder: the tokenizer's files
    and diagnosis.json; return the diagnosis."""
    merged = merge_counts(counts, recipe.splitting(), recipe.most_words, output)
    trained = learn(recipe, merged.counted.words)
    diagnosis: dict[str, object] = {
        **merged.figures(),
        **diagnose(trained.tokenizer, trained.words, recipe.kind),
        "asked": recipe.size,
        "too_long_words": trained.too_long,
        "learner": recipe.learner,
        "terms": split_terms(trained.tokenizer),
        "sample": "every word of the corpus" if not merged.pruned_words else "the most frequent words",
    }
    with writing_folder(output) as temporary:
        trained.save(temporary)
        write_json(temporary / "diagnosis.json", diagnosis)
        write_folder_sums(temporary)
    return diagnosis
