"""Words of real corpora have the pieces that they have in their sentence, with each kind of tokenizer."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (
    AlbertTokenizer,
    BertTokenizer,
    DebertaV2Tokenizer,
    GemmaTokenizer,
    LlamaTokenizer,
    PreTrainedTokenizerFast,
    Qwen2Tokenizer,
    RobertaTokenizer,
    T5Tokenizer,
    XLMRobertaTokenizer,
)

from pubmill.examples.kinds import TokensExample
from pubmill.finetuning.encoders import load_encoder_tokenizer
from pubmill.finetuning.reader import Reader
from tests.acceptance.conftest import Converted, examples_of
from tests.unit.finetuning.test_reader import SPECIAL, saved

NAMES = (
    "bc2gm", "bc5-chem", "bc5-disease", "biored-ner", "gnormplus", "jnlpba", "linnaeus", "linnaeus@biobert",
    "ncbi-disease", "nlm-gene", "species-800", "tmvar3",
)  # fmt: skip
BYTES = pre_tokenizers.ByteLevel.alphabet()
FEW = ("bc5-disease", "linnaeus", "ncbi-disease")
SENTENCES = 1000
"""Of the test split of each corpus."""
PIECES = 6000
Learnt = Callable[[Sequence[str]], Any]


def learnt(tokenizer: Tokenizer, trainer: Any, texts: Sequence[str]) -> dict[str, Any]:
    """Return the vocabulary of a tokenizer, and its merges."""
    tokenizer.train_from_iterator(texts, trainer)
    made = json.loads(tokenizer.to_str())["model"]
    merges = [tuple(pair) for pair in made.get("merges", ())]
    vocab = made["vocab"] if isinstance(made["vocab"], dict) else [tuple(one) for one in made["vocab"]]
    return {"vocab": vocab, "merges": merges} if merges else {"vocab": vocab}


def options(**further: Any) -> dict[str, Any]:
    special = [*SPECIAL.values()]
    return {"vocab_size": PIECES, "special_tokens": special, "show_progress": False, **further}


def wordpiece(lowercase: bool) -> Learnt:
    def make(texts: Sequence[str]) -> Any:
        tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        values = learnt(tokenizer, trainers.WordPieceTrainer(**options()), texts)
        return BertTokenizer(**values, do_lower_case=lowercase, **SPECIAL)

    return make


def pairs(kind: Any, splitter: Any, alphabet: Sequence[str] = ()) -> Learnt:
    def make(texts: Sequence[str]) -> Any:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        tokenizer.pre_tokenizer = splitter
        values = learnt(tokenizer, trainers.BpeTrainer(**options(initial_alphabet=list(alphabet))), texts)
        return kind(**values, **SPECIAL)

    return make


def unigrams(kind: Any) -> Learnt:
    def make(texts: Sequence[str]) -> Any:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
        return kind(
            **learnt(tokenizer, trainers.UnigramTrainer(**options(unk_token="<unk>")), texts), **SPECIAL
        )

    return make


def without_class(vocab: dict[str, int], merges: list[tuple[str, str]], **special: Any) -> Any:
    """A ModernBERT's: byte-level BPE that puts no space before a text."""
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


OF_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
KINDS: dict[str, Learnt] = {
    "bert-uncased": wordpiece(lowercase=True), "bert-cased": wordpiece(lowercase=False),
    "roberta": pairs(RobertaTokenizer, OF_BYTES, BYTES), "modernbert": pairs(without_class, OF_BYTES, BYTES),
    "qwen2": pairs(Qwen2Tokenizer, OF_BYTES, BYTES), "albert": unigrams(AlbertTokenizer),
    "xlm-roberta": unigrams(XLMRobertaTokenizer), "t5": unigrams(T5Tokenizer),
    "deberta-v2": unigrams(DebertaV2Tokenizer), "llama": pairs(LlamaTokenizer, pre_tokenizers.Metaspace()),
    "gemma": pairs(GemmaTokenizer, pre_tokenizers.Metaspace()),
}  # fmt: skip


ONE_OF_EACH = ("bert-uncased", "roberta", "albert", "llama")
"""The others have tokenizers of the same algorithms."""


@pytest.mark.parametrize(("kind", "names"), [
    *((kind, FEW) for kind in ONE_OF_EACH),
    *(pytest.param(kind, NAMES, marks=pytest.mark.weekly) for kind in KINDS),
])  # fmt: skip
def test_no_word_is_read_otherwise(
    kind: str, names: Sequence[str], converted: Converted, tmp_path: Path
) -> None:
    of_each = (examples_of(converted(name), "test", TokensExample)[:SENTENCES] for name in names)
    sentences = [one.words for examples in of_each for one in examples]
    folder = saved(KINDS[kind]([" ".join(words) for words in sentences]), tmp_path)
    reader = Reader(load_encoder_tokenizer(folder, words=True), 512, "none", "spaced")
    assert len(sentences) > 900 * len(names)
    assert reader.misread_words(sentences) == []
