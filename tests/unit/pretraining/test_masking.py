"""Masking: whole units of every vocabulary, the stated rates, special tokens untouched."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.pretraining import masking
from pubmill.pretraining.encoding import special_ids
from pubmill.pretraining.instances import Instances, PackedBatch, Stream, ranges
from pubmill.pretraining.masking import Draws, hide, mask, masking_rate, read_vocabulary, word_starts
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import Causal, Objective, RotaryAttention
from pubmill.storage.files import read_json, write_json
from tests.unit import toy_vocabs
from tests.unit.pretraining.toy_objectives import MODERN, RECIPES, learner, part_of
from tests.unit.pretraining.toy_pretraining import changed, log, pretrain, state, weights
from tests.unit.toy_vocabs import make_vocab

CONTINUES = np.arange(105) >= 55
VOCABULARY = masking.Vocabulary(CONTINUES, np.arange(5, 105), 4)
WHOLE_WORD = Objective(masking="whole-word")
texts = st.lists(st.lists(st.integers(1, 4), max_size=30), min_size=1, max_size=6)  # word lengths


def draws(lengths: np.ndarray, *seed: int) -> Draws:
    return Draws(np.arange(len(lengths)), 0, Stream.MASKS, seed)


def text(words: list[list[int]], seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sequences of words of these lengths: ids, inner, lengths, and the word of each token (-1: special)."""
    random = np.random.default_rng(seed)
    ids, word, lengths, number = [], [], [], 0
    for sequence in words:
        ids.append(2)
        word.append(-1)
        for size in sequence:
            ids += [int(random.integers(5, 55)), *random.integers(55, 105, size=size - 1).tolist()]
            word += [number] * size
            number += 1
        ids.append(3)
        word.append(-1)
        lengths.append(sum(sequence) + 2)
    words_of = np.array(word)
    return np.array(ids), words_of >= 0, np.array(lengths), words_of


def batch_of(ids: np.ndarray, inner: np.ndarray, lengths: np.ndarray) -> PackedBatch:
    return PackedBatch(ids, np.zeros_like(ids), inner, lengths, np.zeros_like(lengths), 0)


def in_each_sequence(positions: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return np.bincount(np.repeat(np.arange(len(lengths)), lengths)[positions], minlength=len(lengths))


@given(texts, st.integers(0, 99))
@settings(max_examples=80)
def test_words_are_masked_whole_and_to_the_budget(words: list[list[int]], seed: int) -> None:
    ids, inner, lengths, word = text(words, seed)
    masked = mask(batch_of(ids, inner, lengths), VOCABULARY, WHOLE_WORD, 0.15, draws(lengths, seed))
    touched = set(word[masked.positions].tolist())
    assert -1 not in touched
    assert masked.positions.tolist() == np.flatnonzero(np.isin(word, list(touched))).tolist()
    assert np.array_equal(masked.labels, ids[masked.positions])
    others = np.ones(len(ids), bool)
    others[masked.positions] = False
    assert np.array_equal(masked.ids[others], ids[others])
    counts = in_each_sequence(masked.positions, lengths)
    assert (np.abs(counts - 0.15 * (lengths - 2)) < 4).all()  # off by less than one word


@given(st.floats(0.05, 0.5), st.sampled_from(["whole-word", "subword", "n-gram"]))
@settings(max_examples=10)
def test_rates_and_replacements(rate: float, kind: Any) -> None:
    ids, inner, lengths, _ = text([[1, 2, 1, 3, 1, 1, 2, 4] * 3] * 600)
    masked = mask(batch_of(ids, inner, lengths), VOCABULARY, Objective(masking=kind), rate, draws(lengths, 5))
    assert abs(len(masked.positions) / inner.sum() - rate) < 0.01
    shown = masked.ids[masked.positions]
    by_mask = shown == 4
    assert abs(by_mask.mean() - 0.8) < 0.05
    same = ~by_mask & (shown == masked.labels)
    assert abs(same.mean() - 0.1) < 0.04 and abs((~by_mask & ~same).mean() - 0.1) < 0.04
    assert (shown[~by_mask] >= 5).all()  # no special token stands in


def test_independent_tokens_are_chosen_at_the_rate_special_ones_too() -> None:
    """The number of a sequence is binomial, where that of subwords is within one of the exact share."""
    rounds, length, rate = 4000, 40, 0.3
    ids, inner, lengths, _ = text([[1] * (length - 2)] * rounds)
    independent = Objective(masking="independent")
    masked = mask(batch_of(ids, inner, lengths), VOCABULARY, independent, rate, draws(lengths, 11))
    chosen = np.zeros(len(ids), bool)
    chosen[masked.positions] = True
    assert np.array_equal(masked.labels, ids[masked.positions])
    places = chosen.reshape(rounds, length)
    assert np.abs(places.mean(0) - rate).max() < 5 * np.sqrt(rate * (1 - rate) / rounds)
    assert places.sum(1).var() == pytest.approx(length * rate * (1 - rate), rel=0.1)
    assert np.abs(np.corrcoef(places, rowvar=False) - np.eye(length)).max() < 0.1
    shown = masked.ids[masked.positions]
    assert (shown == 4).mean() == pytest.approx(0.8, abs=0.01)
    random = (shown != 4) & (shown != masked.labels)
    assert random.mean() == pytest.approx(0.1, abs=0.01) and (shown[random] >= 5).all()
    none = mask(batch_of(ids, inner, lengths), VOCABULARY, independent, 0.0, draws(lengths))
    assert not len(none.positions) and np.array_equal(none.ids, ids)


KINDS = st.sampled_from(["whole-word", "subword", "n-gram", "independent"])


@given(texts, st.integers(0, 99), KINDS, st.data())
@settings(max_examples=60)
def test_masks_of_a_sequence_do_not_depend_on_the_others(
    words: list[list[int]], seed: int, kind: Any, data: st.DataObject
) -> None:
    """So that each process masks only its own sequences."""
    ids, inner, lengths, _ = text(words, seed)
    batch, objective = batch_of(ids, inner, lengths), Objective(masking=kind)
    every = mask(batch, VOCABULARY, objective, 0.3, draws(lengths, seed))
    some = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(words))), min_size=1))))
    tokens = ranges((np.cumsum(lengths) - lengths)[some], lengths[some])
    own = Draws(some, 0, Stream.MASKS, (seed,))
    alone = mask(batch.take(some), VOCABULARY, objective, 0.3, own)
    assert np.array_equal(alone.ids, every.ids[tokens])
    assert np.array_equal(alone.everywhere(-100), every.everywhere(-100)[tokens])


def test_the_expected_share_of_each_sequence_is_exact() -> None:
    """Also where the budget is less than a word, and where the words are of different sizes."""
    kinds, rounds = [[3], [4, 1, 2], [1, 1, 4, 4, 2, 3, 1], [], [2] * 11], 4000
    _, inner, lengths, word = text(kinds * rounds)
    starts = np.diff(word, prepend=-1) > 0
    chosen = masking.choose_tokens(starts, inner, lengths, 0.15, draws(lengths, 3))
    means = in_each_sequence(chosen, lengths).reshape(rounds, len(kinds)).mean(0)
    # four standard errors, where a sequence's count has a standard deviation of less than 2
    assert np.abs(means - 0.15 * (lengths[: len(kinds)] - 2)).max() < 4 * 2 / rounds**0.5
    assert means[3] == 0


def test_a_segment_that_begins_within_a_word_begins_a_word() -> None:
    ids = np.array([2, 60, 61, 7, 3, 62, 8, 3])
    assert word_starts(ids, ids > 4, VOCABULARY).tolist() == [0, 1, 0, 1, 0, 1, 1, 0]


@given(texts, st.integers(1, 5), st.integers(0, 99))
@settings(max_examples=60)
def test_runs_are_of_whole_words_of_one_segment(words: list[list[int]], longest: int, seed: int) -> None:
    ids, inner, lengths, word = text(words, seed)
    begins = word_starts(ids, inner, VOCABULARY)
    starts = masking.run_starts(begins, inner, lengths, longest, draws(lengths, seed))
    assert not (starts & ~begins).any()
    first = inner & np.concatenate([[True], ~inner[:-1]])
    assert starts[first].all()  # so no run goes on behind a special token
    run = np.cumsum(starts)
    for number in np.unique(run[inner]):
        assert 1 <= len(np.unique(word[inner & (run == number)])) <= longest


@pytest.mark.parametrize("longest", [1, 3])
def test_long_runs_are_rarer_in_proportion_to_their_length(longest: int) -> None:
    _, inner, lengths, word = text([[1, 2] * 20_000])
    words = np.diff(word, prepend=-1) > 0
    starts = masking.run_starts(words & inner, inner, lengths, longest, draws(lengths, 2))
    sizes = np.diff(word[starts])  # the last run, which the end cuts, is not among them
    found = np.bincount(sizes, minlength=longest + 1)[1:] / len(sizes)
    expected = 1 / np.arange(1, longest + 1)
    assert np.abs(found - expected / expected.sum()).max() < 0.015


def test_the_rate_rises_in_a_straight_line() -> None:
    rising = replace(WHOLE_WORD, masking_rate=0.05, final_masking_rate=0.25)
    rates = [masking_rate(rising, step, 5) for step in range(5)]
    assert rates == pytest.approx([0.05, 0.10, 0.15, 0.20, 0.25])
    assert masking_rate(rising, 0, 1) == 0.05
    assert {masking_rate(WHOLE_WORD, step, 5) for step in range(5)} == {0.15}


@pytest.mark.parametrize(("share", "causal"), [(1.0, 8), (0.25, 2), (0.01, 1), (0.99, 7)])
def test_positions_predict_the_next_token_or_the_mask_after_them(
    share: float, causal: int, data: Path
) -> None:
    recipe = changed(MODERN, objective={"causal": Causal(share=share)})
    packed = PackedTokens(data / "tokens")
    batch = Instances(packed, recipe).batch(0)
    vocabulary = read_vocabulary(data, packed.special)
    draws = Draws(np.arange(8), 1, Stream.MASKS)
    found = hide(batch, vocabulary, recipe.objective, 0.3, draws, 8)
    assert found.causal == causal
    ends = np.cumsum(batch.lengths)
    tokens = int(ends[causal - 1])
    assert (found.ids[:tokens] == batch.ids[:tokens]).all()
    assert found.next_tokens == tokens - causal and (np.diff(found.positions) > 0).all()
    assert (batch.ids[found.positions + 1] == found.labels).all()
    assert not set(found.positions) & set(ends - 1)
    assert (len(found.labels) > found.next_tokens) == (share < 1)


def test_a_step_with_both_has_the_mean_of_each_by_its_share(data: Path) -> None:
    made, part = learner(RECIPES["both"]), part_of(data, RECIPES["both"])
    found = made(part)
    assert part.causal is not None and part.causal.sum() == 2
    places, width = part.rows[len(part.pair_labels) :], part.ids.shape[1]
    for name, rows in (("clm", part.causal), ("mlm", ~part.causal)):
        chosen = rows[places // width]
        assert isinstance(part.mask, torch.Tensor)
        hidden: Any = torch.finfo(torch.float32).min
        ahead = torch.arange(width)[None] - torch.arange(width)[:, None]
        seen = part.mask[:, None, None] & ((ahead <= 0) | (name == "mlm"))
        masks = {
            "full_attention": torch.where(seen, 0.0, hidden),
            "sliding_attention": torch.where(seen & (ahead.abs() <= 4), 0.0, hidden),
        }
        logits = made.model(input_ids=part.ids, attention_mask=masks).logits.flatten(0, 1)[places[chosen]]
        expected = F.cross_entropy(logits, part.labels[chosen], reduction="sum")
        torch.testing.assert_close(found[f"{name}_loss"], expected, atol=1e-4, rtol=1e-5)
    assert {term.name: (term.weight, term.per) for term in made.terms} == {
        "mlm": (0.75, "masked"), "clm": (0.25, "causal"),
    }  # fmt: skip


def test_phases_keep_weights_and_optimiser_and_may_see_farther(data: Path, tmp_path: Path) -> None:
    """Causal, then masked with longer sequences and other angles; two halves of the second are the whole."""
    causal = changed(MODERN, objective={"causal": Causal()}, steps=10)
    first = pretrain(data, tmp_path / "step-10", 10, recipe=causal)
    longer = {"max_positions": 64, "rotary": RotaryAttention(global_every=2, window=8, global_base=1e6)}
    masked = changed(
        MODERN, objective={"masking_rate": 0.15}, architecture=longer, sequence_length=48, steps=20
    )
    whole = pretrain(data, tmp_path / "whole/step-20", 20, recipe=masked, other=first)
    half = pretrain(data, tmp_path / "step-15", 15, recipe=masked, other=first)
    assert weights(pretrain(data, tmp_path / "step-20", 20, half, recipe=masked)) == weights(whole)
    assert state(whole)["step"] == 20 and "clm_loss" in log(whole)[0] and "mlm_loss" in log(whole)[-1]
    with pytest.raises(PubmillError, match="another architecture"):
        pretrain(data, tmp_path / "x", 20, recipe=changed(masked, architecture={"layers": 3}), other=first)


def test_a_process_without_sequences_predicts_nothing(data: Path) -> None:
    nothing: Any = np.zeros(0, np.int64)
    batch = PackedBatch(nothing, nothing, nothing.astype(bool), nothing, nothing, 0)
    recipe = changed(MODERN, objective={"causal": Causal(share=0.25)})
    vocabulary = read_vocabulary(data, PackedTokens(data / "tokens").special)
    found = hide(batch, vocabulary, recipe.objective, 0.3, Draws(nothing, 1, Stream.MASKS), 8)
    assert [len(one) for one in (found.ids, found.positions, found.labels)] == [0, 0, 0]
    assert (found.causal, found.next_tokens) == (0, 0)


SENTENCE = "effects of β-blockers on 12.5% of patients: the effect was effective."


@pytest.fixture(scope="module", params=sorted(toy_vocabs.RECIPES))
def vocab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_vocab(tmp_path_factory.mktemp(request.param), toy_vocabs.RECIPES[request.param])


def special(vocab: Path) -> dict[str, int]:
    return special_ids(load_tokenizer(vocab), vocab)


def test_units_are_the_words_of_the_text(vocab: Path) -> None:
    """Those between spaces; where the tokenizer parts words from punctuation (WordPiece), each by itself."""
    tokenizer, vocabulary = load_tokenizer(vocab), read_vocabulary(vocab, special(vocab))
    ids = np.array(tokenizer.encode(SENTENCE, add_special_tokens=False).ids)
    starts = word_starts(ids, np.ones(len(ids), bool), vocabulary)
    units = np.split(ids, np.flatnonzero(starts)[1:])
    kind = read_json(vocab / "tokenizer.json")["model"]["type"]
    expected = re.findall(r"\w+|\S", SENTENCE) if kind == "WordPiece" else SENTENCE.split()
    assert [tokenizer.decode(unit.tolist()).strip() for unit in units] == expected
    assert len(expected) < len(ids)


def test_all_but_special_tokens_may_stand_in(vocab: Path) -> None:
    tokenizer, named = AutoTokenizer.from_pretrained(vocab), special(vocab)
    vocabulary = read_vocabulary(vocab, named)
    assert vocabulary.size == len(tokenizer)
    assert vocabulary.mask == named["mask"] == tokenizer.mask_token_id
    others = set(range(len(tokenizer))) - set(tokenizer.all_special_ids)
    assert set(vocabulary.ordinary.tolist()) == others
    assert not vocabulary.continues[tokenizer.all_special_ids].any()


def test_added_tokens_that_are_not_special_count_and_stay_out(vocab: Path, tmp_path: Path) -> None:
    """ModernBERT's tokenizer has 83 unused ones, for which its embeddings have rows."""
    tokenizer, named = AutoTokenizer.from_pretrained(vocab), special(vocab)
    before = read_vocabulary(vocab, named)
    tokenizer.add_tokens(["[unused0]", "[unused1]"])
    tokenizer.save_pretrained(tmp_path)
    vocabulary = read_vocabulary(tmp_path, named)
    assert vocabulary.size == len(tokenizer) == before.size + 2
    assert set(vocabulary.ordinary) == set(before.ordinary) and not vocabulary.continues[-2:].any()


@pytest.fixture(scope="module")
def uncased(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_vocab(tmp_path_factory.mktemp("uncased"), toy_vocabs.RECIPES["uncased"])


@pytest.mark.parametrize(
    "damage",
    [
        {"model": {"type": "WordLevel", "vocab": {"a": 0}}}, {"model": {"type": "WordPiece"}},
        {"model": {"type": "WordPiece", "vocab": {}}}, {"model": {"type": "Unigram", "vocab": 3}},
        {"added_tokens": [{"content": "[PAD]"}]}, {"added_tokens": None},
    ],
    ids=["kind unknown", "no pieces", "empty", "pieces malformed", "token without id", "no tokens"],
)  # fmt: skip
def test_a_tokenizer_that_is_not_recognised_is_named(
    uncased: Path, tmp_path: Path, damage: dict[str, Any]
) -> None:
    write_json(tmp_path / "tokenizer.json", read_json(uncased / "tokenizer.json") | damage)
    with pytest.raises(PubmillError, match=r"tokenizer\.json: no tokenizer whose words are known"):
        read_vocabulary(tmp_path, special(uncased))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(PubmillError, match=r"tokenizer\.json"):
        read_vocabulary(tmp_path, special(uncased))


def test_special_tokens_of_another_vocabulary_are_named(uncased: Path) -> None:
    with pytest.raises(PubmillError, match=r"tokenizer\.json has no id 50264.*another vocabulary"):
        read_vocabulary(uncased, special(uncased) | {"mask": 50264})
