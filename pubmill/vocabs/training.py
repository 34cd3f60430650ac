"""Training of a vocabulary of any kind from the word counts of a corpus, with its diagnosis."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import RobertaProcessing

from pubmill.errors import PubmillError
from pubmill.recipes import VocabRecipe
from pubmill.storage.checksums import write_folder_sums
from pubmill.storage.files import write_json, writing_folder
from pubmill.vocabs import sentencepiece, wordpiece
from pubmill.vocabs.diagnosis import diagnose, split_terms
from pubmill.vocabs.merges import LikelihoodText, PairedText, learn_pieces
from pubmill.vocabs.word_counts import merge_counts

MERGING = {"merges": PairedText, "merges-by-likelihood": LikelihoodText}
"""Learner -> class that chooses and merges the pairs."""
# in fairseq's order; the mask is the last piece of the vocabulary
FIRST, MASK = ("<s>", "<pad>", "</s>", "<unk>"), "<mask>"
MARKS = {
    "bos": "<s>", "cls": "<s>", "pad": "<pad>", "eos": "</s>", "sep": "</s>", "unk": "<unk>", "mask": MASK,
}  # fmt: skip


@dataclass(frozen=True)
class LearntVocabulary:
    """A tokenizer, the function that saves it, the normalised words from which it was learnt, and the number
    of distinct words that were skipped as too long."""

    tokenizer: Tokenizer
    save: Callable[[Path], None]
    words: Mapping[str, int]
    too_long: int


def learn(recipe: VocabRecipe, words: Mapping[str, int]) -> LearntVocabulary:
    """Learn a vocabulary from counted words, split according to `recipe.splitting()`."""
    if fault := recipe.fault():
        raise PubmillError(fault)
    model, too_long = recipe.learner.removeprefix("sentencepiece-"), 0
    if recipe.kind == "byte-level-bpe":
        pieces = learn_pieces(words, recipe.size - 1, FIRST, "", ByteLevel.alphabet())
        tokenizer = _byte_level_tokenizer(pieces)
        save = partial(_save_byte_level, tokenizer, pieces)
    elif recipe.kind == "sentencepiece":
        words = sentencepiece.normalise(words, recipe.lowercase)
        made, too_long = sentencepiece.learn(words, recipe.size, model, sentencepiece.SPECIAL)
        tokenizer = sentencepiece.make_tokenizer(sentencepiece.read_pieces(made), model, recipe.lowercase)
        save = partial(sentencepiece.save, tokenizer, made, model, recipe.lowercase)
    else:
        if recipe.learner in MERGING:
            merging = MERGING[recipe.learner]
            listed = learn_pieces(words, recipe.size, wordpiece.SPECIAL, merging=merging).pieces
        else:
            made, too_long = sentencepiece.learn(words, recipe.size, model, {})
            read = sentencepiece.read_pieces(made)
            listed = sentencepiece.as_wordpiece(read, recipe.size, wordpiece.SPECIAL)
        tokenizer = wordpiece.make_tokenizer(listed, recipe.lowercase)
        save = partial(wordpiece.save, tokenizer, recipe.lowercase)
    tokenizer.encode_special_tokens = True  # "<mask>" in a text is text
    return LearntVocabulary(tokenizer, save, words, too_long)


def _byte_level_tokenizer(learnt: PairedText) -> Tokenizer:
    """Return RoBERTa's byte-level byte-pair tokenizer (Radford et al. 2019; lewis2020 section 4.1). Every
    byte is a piece, so no text is unknown and every text decodes to itself; the pieces begin with `FIRST`,
    and the mask is added at the end."""
    pieces = [*learnt.pieces, MASK]
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(BPE(vocab=ids, merges=learnt.merges, unk_token=None))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    tokenizer.post_processor = RobertaProcessing(("</s>", ids["</s>"]), ("<s>", ids["<s>"]), True, False)
    marks = [AddedToken(piece, special=True, normalized=False) for piece in FIRST]
    # as in RoBERTa: the mask replaces a word and the space before it
    tokenizer.add_special_tokens([*marks, AddedToken(MASK, lstrip=True, special=True, normalized=False)])
    return tokenizer


def _save_byte_level(tokenizer: Tokenizer, learnt: PairedText, folder: Path) -> None:
    """Write tokenizer.json, vocab.json, merges.txt and tokenizer_config.json."""
    write_json(folder / "vocab.json", tokenizer.get_vocab())
    merges = "".join(f"{left} {right}\n" for left, right in learnt.merges)
    (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}", encoding="utf-8")
    offsets = {"add_prefix_space": False, "trim_offsets": True}
    wordpiece.write_tokenizer(tokenizer, folder, MARKS, tokenizer_class="RobertaTokenizer", **offsets)


def train(recipe: VocabRecipe, counts: Sequence[Path], output: Path) -> dict[str, object]:
    """Learn a vocabulary from the word counts of a corpus's parts and write its folder: the tokenizer's files
    and diagnosis.json; return the diagnosis."""
    words, figures = merge_counts(counts, recipe.splitting(), recipe.most_words, output)
    trained = learn(recipe, words)
    diagnosis: dict[str, object] = {
        **figures,
        **diagnose(trained.tokenizer, trained.words, recipe.kind),
        "asked": recipe.size,
        "too_long_words": trained.too_long,
        "learner": recipe.learner,
        "terms": split_terms(trained.tokenizer),
        "sample": "every word of the corpus" if not figures["pruned_words"] else "the most frequent words",
    }
    with writing_folder(output) as temporary:
        trained.save(temporary)
        write_json(temporary / "diagnosis.json", diagnosis)
        write_folder_sums(temporary, output.name)
    return diagnosis
