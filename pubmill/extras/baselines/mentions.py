"""Floors for labelled words: a dictionary of the known mentions, and the commonest label of each word."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import OUTSIDE, Mention, to_labels, to_mentions
from pubmill.extras.baselines.floor import SEED, Floor

Examples = Sequence[TokensExample]
Name = tuple[str, ...]
"""The words of a mention, in lower case."""


class Dictionary:
    """Names of known mentions with their commonest type: those that are mentions in at least half of the
    places where their words occur, ignoring case."""

    def __init__(self, known: Examples) -> None:
        types: dict[Name, Counter[str]] = {}
        for example in known:
            words = _lower(example.words)
            for start, end, kind in to_mentions(example.labels):
                types.setdefault(words[start:end], Counter())[kind] += 1
        lengths = _lengths_by_first_word(types)
        places = Counter(
            words[start:end]
            for words in (_lower(example.words) for example in known)
            for start, end in _spans(words, lengths)
            if words[start:end] in types
        )
        self._types = {
            name: _commonest(kinds) for name, kinds in types.items() if 2 * kinds.total() >= places[name]
        }
        self._lengths = _lengths_by_first_word(self._types)

    def mentions(self, words: Sequence[str]) -> list[Mention]:
        """Return the names in a sentence: from left to right, the longest that begins at a word."""
        lower, mentions = _lower(words), list[Mention]()
        for start, end in _spans(lower, self._lengths):
            kind = self._types.get(lower[start:end])
            if kind is not None and (not mentions or start >= mentions[-1][1]):
                mentions.append((start, end, kind))
        return mentions


def _lower(words: Iterable[str]) -> Name:
    return tuple(word.lower() for word in words)


def _lengths_by_first_word(names: Iterable[Name]) -> dict[str, list[int]]:
    """Return the lengths of the names that begin with a word, longest first."""
    lengths: dict[str, set[int]] = {}
    for name in names:
        lengths.setdefault(name[0], set()).add(len(name))
    return {word: sorted(of_word, reverse=True) for word, of_word in lengths.items()}


def _spans(words: Name, lengths: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans that can be names, by their beginning, longest first."""
    for start, word in enumerate(words):
        for length in lengths.get(word, ()):
            if start + length <= len(words):
                yield start, start + length


def _commonest(counts: Counter[str]) -> str:
    """Return the commonest value; of equals, the first in the order of the alphabet."""
    return min(counts, key=lambda value: (-counts[value], value))


def by_dictionary(known: Examples, test: Examples, negative: str | None = None) -> list[list[str]]:
    """Label the names of the dictionary."""
    dictionary = Dictionary(known)
    return [to_labels(dictionary.mentions(one.words), len(one.words), "bio") for one in test]


def by_word(known: Examples, test: Examples, negative: str | None = None) -> list[list[str]]:
    """Give each word the commonest label that it has, ignoring case; O to unknown words."""
    labels: dict[str, Counter[str]] = {}
    for example in known:
        for word, label in zip(example.words, example.labels, strict=True):
            labels.setdefault(word.lower(), Counter())[label] += 1
    commonest = {word: _commonest(counts) for word, counts in labels.items()}
    return [[commonest.get(word.lower(), OUTSIDE) for word in one.words] for one in test]


def at_random(known: Examples, test: Examples, negative: str | None = None) -> list[list[str]]:
    """Give words labels drawn as often as they are known."""
    shares = Counter(label for example in known for label in example.labels)
    labels, random = sorted(shares), Random(SEED)
    weights = [shares[label] for label in labels]
    return [random.choices(labels, weights, k=len(one.words)) for one in test]


MENTIONS = (
    Floor(
        name="dictionary_train",
        kinds=("tokens",),
        tasks=("ner", "de-identification"),
        definition="names of train that are mentions in at least half of their places, ignoring case; the "
        "longest from left to right",
        predict=by_dictionary,
    ),
    Floor(
        name="dictionary_train_dev",
        kinds=("tokens",),
        tasks=("ner", "de-identification"),
        definition="the same with the names of train and dev",
        predict=by_dictionary,
        splits=("train", "dev"),
    ),
    Floor(
        name="word_label",
        kinds=("tokens",),
        definition="the commonest label of each word in train",
        predict=by_word,
    ),
    Floor(
        name="random",
        kinds=("tokens",),
        definition="labels of words drawn as often as in train",
        predict=at_random,
    ),
)
