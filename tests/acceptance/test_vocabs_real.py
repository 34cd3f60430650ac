"""Vocabularies of real abstracts, counted by parts: merges and ids equal those of the reference trainer."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.pretraining.encoding import make_encoder
from pubmill.recipes import VocabRecipe
from pubmill.vocabs.training import FIRST, learn
from tests.unit.toy_vocabs import count_texts

RECIPES = (
    VocabRecipe(kind="wordpiece", size=3000, lowercase=True),
    VocabRecipe(kind="byte-level-bpe", size=3000, lowercase=False),
    VocabRecipe(kind="sentencepiece", size=3000, lowercase=True, learner="sentencepiece-unigram"),
)


@pytest.fixture(scope="module")
def texts(shared: Path) -> list[str]:
    with gzip.open(shared / "standins/abstracts/ab3p_med1250.jsonl.gz", "rt") as lines:
        return [json.loads(line)["abstract"] or "" for line in lines]


def test_byte_level_pieces_are_the_reference_trainers(texts: list[str]) -> None:
    recipe = RECIPES[1]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.size - 1,
        special_tokens=list(FIRST),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator((line for text in texts for line in text.split("\n")), trainer)
    ours = learn(recipe, count_texts(texts, recipe.splitting()).words).tokenizer
    theirs = tokenizer.get_vocab()
    assert {piece: number for piece, number in ours.get_vocab().items() if piece != "<mask>"} == theirs


@pytest.mark.parametrize(
    "recipe",
    [*RECIPES[:2], pytest.param(RECIPES[2], marks=pytest.mark.weekly)],
    ids=lambda recipe: recipe.kind,
)
def test_encoded_by_words_is_as_the_tokenizer_encodes(
    texts: list[str], recipe: VocabRecipe, tmp_path: Path
) -> None:
    learn(recipe, count_texts(texts, recipe.splitting()).words).save(tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    encoder = make_encoder(tokenizer)
    assert type(encoder).__name__ != "Encoder"
    for text in texts:
        expected = tokenizer.encode(text, add_special_tokens=False).ids
        assert np.frombuffer(encoder.encode(text), encoder.dtype).tolist() == expected
