"""Masking: whole words, the stated rates, special tokens untouched."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.pretraining.masking import Vocabulary, choose_tokens, mask, read_vocabulary, word_starts
from pubmill.recipes import Objective

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *(f"w{n}" for n in range(50)),
    *(f"##c{n}" for n in range(50)),
]
CONTINUES = np.array([piece.startswith("##") for piece in PIECES])
VOCABULARY = Vocabulary(CONTINUES, np.arange(5, 105), 4)
texts = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=30), min_size=1, max_size=6)  # word lengths


def text(words: list[list[int]], seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sequences of words of these lengths: ids, inner, lengths, and the word of each token (-1: special)."""
    random = np.random.Generator(np.random.PCG64(seed))
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


@given(texts, st.integers(0, 99))
@settings(max_examples=80)
def test_words_are_masked_whole_and_to_the_budget(words: list[list[int]], seed: int) -> None:
    ids, inner, lengths, word = text(words, seed)
    random = np.random.Generator(np.random.PCG64(seed))
    masked = mask(ids, inner, lengths, VOCABULARY, Objective(masking="whole-word"), random)
    touched = set(word[masked.positions].tolist())
    assert -1 not in touched
    assert masked.positions.tolist() == np.flatnonzero(np.isin(word, list(touched))).tolist()
    assert np.array_equal(masked.labels, ids[masked.positions])
    others = np.ones(len(ids), bool)
    others[masked.positions] = False
    assert np.array_equal(masked.ids[others], ids[others])
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    counts = np.bincount(sequence[masked.positions], minlength=len(lengths))
    budget = 0.15 * (lengths - 2)
    assert (np.abs(counts - budget) < 4).all()  # off by less than one word


@given(st.floats(0.05, 0.5), st.sampled_from(["whole-word", "wordpiece"]))
@settings(max_examples=10)
def test_rates_and_replacements(rate: float, kind: str) -> None:
    ids, inner, lengths, _ = text([[1, 2, 1, 3, 1, 1, 2, 4] * 3] * 600)
    objective = Objective(masking=kind, masking_rate=rate)  # type: ignore[arg-type]
    random = np.random.Generator(np.random.PCG64(5))
    masked = mask(ids, inner, lengths, VOCABULARY, objective, random)
    assert abs(len(masked.positions) / inner.sum() - rate) < 0.01
    shown = masked.ids[masked.positions]
    by_mask = shown == 4
    assert abs(by_mask.mean() - 0.8) < 0.05
    same = ~by_mask & (shown == masked.labels)
    assert abs(same.mean() - 0.1) < 0.04 and abs((~by_mask & ~same).mean() - 0.1) < 0.04
    assert (shown[~by_mask] >= 5).all()  # no special token stands in


def test_single_pieces_are_chosen_apart() -> None:
    _, inner, lengths, word = text([[4] * 30] * 20)
    chosen = choose_tokens(inner, inner, lengths, 0.15, np.random.Generator(np.random.PCG64(1)))
    sizes = np.bincount(word[chosen])
    assert (sizes[sizes > 0] < 4).any()


def test_a_segment_that_begins_within_a_word_begins_a_word() -> None:
    ids = np.array([2, 60, 61, 7, 3, 62, 8, 3])
    inner = ids > 4
    assert word_starts(ids, inner, VOCABULARY).tolist() == [0, 1, 0, 1, 0, 1, 1, 0]


def test_vocabulary_is_read_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    read = read_vocabulary(tmp_path)
    assert (read.size, read.mask) == (105, 4)
    assert np.array_equal(read.continues, CONTINUES) and np.array_equal(read.ordinary, np.arange(5, 105))


@pytest.mark.parametrize("content, message", [(None, "does not exist"), ("[PAD]\na\n", r"lacks \[UNK\]")])
def test_a_broken_vocabulary_is_named(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "vocab.txt").write_text(content)
    with pytest.raises(PubmillError, match=message):
        read_vocabulary(tmp_path)
