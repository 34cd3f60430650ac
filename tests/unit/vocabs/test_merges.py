"""Learning merges: against a plain implementation and against the trainers of `tokenizers`."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from pubmill.errors import PubmillError
from pubmill.recipes import VocabRecipe
from pubmill.vocabs.merges import LikelihoodText, PairedText, learn_pieces
from pubmill.vocabs.training import learn
from pubmill.vocabs.wordpiece import SPECIAL

few_letters = st.dictionaries(
    st.text("abc", min_size=1, max_size=8), st.integers(1, 20), min_size=1, max_size=25
)


def plain_merges(counts: Mapping[str, int], mark: str) -> Iterator[list[str]]:
    """Byte-pair merging as in a textbook: count all pairs, join the best, start again. The pieces after each
    step."""
    pieces = sorted({character for word in counts for character in word})
    pieces += sorted({mark + c for word in counts for c in word[1:]} - set(pieces))
    split = {word: [word[0], *(mark + c for c in word[1:])] for word in counts}
    yield pieces
    while True:
        pairs: Counter[tuple[int, int]] = Counter()
        for word, parts in split.items():
            for left, right in pairwise(parts):
                pairs[pieces.index(left), pieces.index(right)] += counts[word]
        if not pairs:
            return
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        left, right = pieces[best[0]], pieces[best[1]]
        joined = left + right.removeprefix(mark)
        pieces = pieces if joined in pieces else [*pieces, joined]
        split = {word: join(parts, (left, right), joined) for word, parts in split.items()}
        yield pieces


def join(parts: list[str], pair: tuple[str, str], piece: str) -> list[str]:
    joined, place = list[str](), 0
    while place < len(parts):
        both = tuple(parts[place : place + 2]) == pair
        joined.append(piece if both else parts[place])
        place += 2 if both else 1
    return joined


@pytest.mark.parametrize("mark", ["##", ""])
@given(counts=few_letters, size=st.integers(6, 100))
def test_merges_are_those_of_the_plain_algorithm(mark: str, counts: dict[str, int], size: int) -> None:
    steps = [*plain_merges(counts, mark)]
    expected = next((pieces for pieces in steps if len(pieces) >= size), steps[-1])
    if len(steps[0]) <= size:
        assert learn_pieces(counts, size, [], mark).pieces == expected


def test_merges_are_ordered_and_leave_room_for_characters() -> None:
    counts = {"aab": 3, "abb": 3, "bab": 3, "aaaa": 2}
    first, again = (learn_pieces(given, 20, SPECIAL) for given in (counts, dict(reversed(counts.items()))))
    assert first.merges == again.merges
    alphabet = [*SPECIAL, "a", "b", "##a", "##b"]
    assert learn_pieces({"ab": 5, "ba": 2}, 9, SPECIAL).pieces == alphabet
    assert learn_pieces({"ab": 5, "ba": 2}, 10, SPECIAL).pieces == [*alphabet, "ab"]
    with pytest.raises(PubmillError, match="a vocabulary of 8 is too small"):
        learn_pieces({"ab": 5, "ba": 2}, 8, SPECIAL)


@settings(max_examples=40)
@given(few_letters, st.integers(1, 40))
def test_byte_level_merges_are_the_reference_trainers(counts: dict[str, int], merges: int) -> None:
    """Ties included: without ## it numbers its pieces as here."""
    size = 256 + merges
    learnt = learn_pieces(counts, size, [], "", sorted(pre_tokenizers.ByteLevel.alphabet()))
    if len({left + right for left, right in learnt.merges}) < len(learnt.merges):
        return  # it keeps stale counts where two merges give the same piece
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator((" ".join([word] * count) for word, count in counts.items()), trainer)
    theirs = tokenizer.get_vocab()
    assert learnt.pieces == sorted(theirs, key=theirs.__getitem__)


def test_rare_characters_are_left_out_but_for_required_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equally frequent ones, those with smaller code points stay."""
    monkeypatch.setattr("pubmill.vocabs.merges.LARGEST_ALPHABET", 2)
    pieces = learn_pieces({"ab": 5, "ba": 5, "ac": 1}, 20, ()).pieces
    assert not any("c" in piece for piece in pieces)
    monkeypatch.setattr("pubmill.vocabs.merges.LARGEST_ALPHABET", 3)
    pieces = learn_pieces({"bd": 5, "ca": 5, "dd": 1}, 100, (), "", "z").pieces
    assert [piece for piece in pieces if len(piece) == 1] == ["a", "d", "z"]


Pair = tuple[str, str]
PAIRS = {"ab": 30, "ac": 30, "db": 30, "dc": 30, "qu": 25}


def learnt(counts: Mapping[str, int], size: int) -> PairedText:
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


def steps(counts: Mapping[str, int], merges: list[Pair]) -> Iterator[tuple[Pair, dict[Pair, float]]]:
    """Each merge with the gains among which it was chosen."""
    split = {word: [word[0], *(f"##{c}" for c in word[1:])] for word in counts}
    for pair in merges:
        yield pair, gains(split, counts)
        piece = pair[0] + pair[1].removeprefix("##")
        split = {word: join(parts, pair, piece) for word, parts in split.items()}


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


def test_of_more_than_a_thousand_pairs_the_best_is_joined() -> None:
    letters = [chr(ord("a") + number) for number in range(40)]
    counts = {
        left + right: 1 + (7 * row + 3 * place) % 11
        for row, left in enumerate(letters) for place, right in enumerate(letters)
    }  # fmt: skip
    for pair, gained in steps(counts, learnt(counts, 84).merges):
        assert gained[pair] == pytest.approx(max(gained.values()), abs=1e-6)


def test_likelihood_joins_a_rarer_pair_that_stands_together_first() -> None:
    """`qu` occurs less often than `ab`, but q and u occur nowhere else."""
    assert learn_pieces(PAIRS, 10, []).merges == [("a", "##b")]
    assert learnt(PAIRS, 10).merges == [("q", "##u")]
    recipe = VocabRecipe(kind="wordpiece", size=15, lowercase=True)
    by_likelihood = replace(recipe, learner="merges-by-likelihood")
    made = [learn(one, PAIRS).tokenizer.get_vocab() for one in (recipe, by_likelihood)]
    assert "qu" not in made[0] and "qu" in made[1]
