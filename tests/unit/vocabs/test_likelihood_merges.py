"""Merges by likelihood: each is the best of a plain implementation of the definition."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.recipes import VocabRecipe
from pubmill.vocabs.likelihood_merges import LikelihoodText, _Candidates
from pubmill.vocabs.merges import Learnt, learn_pieces
from pubmill.vocabs.training import learn

few_letters = st.dictionaries(
    st.text("abc", min_size=1, max_size=8), st.integers(1, 20), min_size=1, max_size=25
)
Pair = tuple[str, str]
PAIRS = {"ab": 30, "ac": 30, "db": 30, "dc": 30, "qu": 25}


def learnt(counts: Mapping[str, int], size: int) -> Learnt:
    return learn_pieces(counts, size, [], merging=LikelihoodText)


def log_likelihood(pieces: Mapping[str, float]) -> float:
    """That of a text under the unigram model of its own pieces."""
    total = sum(pieces.values())
    return sum(count * math.log(count / total) for count in pieces.values() if count)


def gains(split: Mapping[str, list[str]], counts: Mapping[str, int]) -> dict[Pair, float]:
    """What the likelihood of the text gains by each pair as a new piece."""
    pieces, pairs = Counter[str](), Counter[Pair]()
    for word, parts in split.items():
        for part in parts:
            pieces[part] += counts[word]
        for pair in pairwise(parts):
            pairs[pair] += counts[word]
    before = log_likelihood(pieces)
    found = {}
    for (left, right), count in pairs.items():
        joined = min(count, pieces[left] // 2) if left == right else count
        after = Counter(pieces)
        after[left] -= joined
        after[right] -= joined
        after["the new piece"] += joined
        found[left, right] = log_likelihood(after) - before
    return found


def join(parts: list[str], pair: Pair) -> list[str]:
    joined, place = list[str](), 0
    while place < len(parts):
        both = tuple(parts[place : place + 2]) == pair
        joined.append(pair[0] + pair[1].removeprefix("##") if both else parts[place])
        place += 2 if both else 1
    return joined


def steps(counts: Mapping[str, int], merges: list[Pair]) -> Iterator[tuple[Pair, dict[Pair, float]]]:
    """Each merge with the gains among which it was chosen."""
    split = {word: [word[0], *(f"##{c}" for c in word[1:])] for word in counts}
    for pair in merges:
        yield pair, gains(split, counts)
        split = {word: join(parts, pair) for word, parts in split.items()}


@given(few_letters, st.integers(6, 60))
def test_each_merge_gains_the_most_likelihood(counts: dict[str, int], size: int) -> None:
    characters = {c for word in counts for c in word} | {f"##{c}" for word in counts for c in word[1:]}
    if size < len(characters):
        return
    found = learnt(counts, size)
    for pair, gained in steps(counts, found.merges):
        assert gained[pair] == pytest.approx(max(gained.values()), abs=1e-6)
    assert len(found.pieces) <= size
    if len(found.pieces) < size:  # nothing is left to join
        assert set(counts) <= set(found.pieces)


def test_a_rarer_pair_of_pieces_that_stand_together_comes_first() -> None:
    """`qu` occurs less often than `ab`, but q and u occur nowhere else."""
    by_frequency, by_likelihood = learn_pieces(PAIRS, 10, []), learnt(PAIRS, 10)
    assert by_frequency.merges == [("a", "##b")]
    assert by_likelihood.merges == [("q", "##u")]


def test_the_order_of_words_changes_nothing() -> None:
    counts = {"aab": 3, "abb": 3, "bab": 3, "aaaa": 2}
    assert learnt(counts, 20) == learnt(dict(reversed(counts.items())), 20)


def test_a_recipe_names_the_learner() -> None:
    recipe = VocabRecipe(kind="wordpiece", size=15, lowercase=True)
    by_likelihood = replace(recipe, learner="merges-by-likelihood")
    made = [learn(one, PAIRS).tokenizer.get_vocab() for one in (recipe, by_likelihood)]
    assert "qu" not in made[0] and "qu" in made[1]


def test_more_candidates_than_there_was_room_for_keep_their_counts() -> None:
    made = _Candidates()
    for pair in range(1024):
        made[pair] = pair + 1
    assert len(made.pairs) == 1024 and 1024 not in made
    made[1024] = 7
    made[3] = 0
    assert 1024 in made and made.pairs.tolist() == [*range(1025)]
    assert made.counts.tolist() == [1, 2, 3, 0, *range(5, 1025), 7]
