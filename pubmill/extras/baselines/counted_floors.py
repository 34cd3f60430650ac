"""Floors that count what train has: labels, arguments, the names of mentions, answers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

from pubmill.examples.kinds import MultilabelExample, SequenceExample, SpanExample, TokensExample
from pubmill.examples.tagging import OUTSIDE, Mention, to_labels, to_mentions
from pubmill.extras.baselines.floor import SEED, Floor

Labelled = Sequence[SequenceExample]
Documents = Sequence[MultilabelExample]
Sentences = Sequence[TokensExample]
Questions = Sequence[SpanExample]
Name = tuple[str, ...]
"""The words of a mention, in lower case."""
Ranked = list[tuple[str, float]]
SUBMITTED = 5
"""Answers to a question."""


PLACEHOLDER = re.compile(r"@[A-Za-z]+\$")


def majority(known: Labelled, test: Labelled, negative: str | None) -> list[str]:
    """Predict the commonest label."""
    return [_commonest(_shares(known))] * len(test)


def all_positive(known: Labelled, test: Labelled, negative: str | None) -> list[str] | None:
    """Predict the commonest label other than the negative one; None without a negative or another label."""
    shares = _shares(known)
    if negative is None or set(shares) <= {negative}:
        return None
    del shares[negative]
    return [_commonest(shares)] * len(test)


def random_labels(known: Labelled, test: Labelled, negative: str | None) -> list[str]:
    """Draw labels at random with their frequencies in `known`."""
    shares, random = _shares(known), Random(SEED)
    labels = sorted(shares)
    return random.choices(labels, [shares[label] for label in labels], k=len(test))


def pair_prior(known: Labelled, test: Labelled, negative: str | None) -> list[str] | None:
    """Predict the commonest label of the example's two arguments in either order, or of all examples if the
    two are not known together; not for sources that do not mark or name arguments."""
    if not any(map(arguments_of, test)):
        return None
    pairs: dict[frozenset[str], Counter[str]] = {}
    for one in known:
        if arguments := arguments_of(one):
            pairs.setdefault(frozenset(arguments), Counter())[one.label] += 1
    otherwise = _shares(known)
    return [_commonest(pairs.get(frozenset(arguments_of(one) or ()), otherwise)) for one in test]


def form(text: str) -> str:
    """Return the letters and digits of a text without case: equal for `IL-2`, `IL 2` and `il2`."""
    return "".join(character for character in text.casefold() if character.isalnum())


def arguments_of(example: SequenceExample) -> tuple[str, str] | None:
    """Return the forms of an example's two arguments; a text of signs alone stands for itself."""
    if len(example.entities) != 2:
        return None
    texts = [example.text[entity.start : entity.end] for entity in example.entities]
    if any(map(PLACEHOLDER.fullmatch, texts)):
        return None
    one, other = (form(text) or text for text in texts)
    return one, other


def _shares(known: Labelled) -> Counter[str]:
    return Counter(one.label for one in known)


def _commonest(counts: Counter[str]) -> str:
    """Return the commonest value; of equals, the first in the order of the alphabet."""
    return min(counts, key=lambda value: (-counts[value], value))


def common_labels(known: Documents, test: Documents, negative: str | None) -> list[list[str]]:
    """Predict the labels that more than half of the known documents have."""
    shares = Counter(label for one in known for label in one.labels)
    return [sorted(label for label in shares if 2 * shares[label] > len(known))] * len(test)


def all_labels(known: Documents, test: Documents, negative: str | None) -> list[list[str]]:
    return [sorted({label for one in known for label in one.labels})] * len(test)


def random_label_sets(known: Documents, test: Documents, negative: str | None) -> list[list[str]]:
    """Draw the label sets of known documents."""
    return Random(SEED).choices([one.labels for one in known], k=len(test))


def by_dictionary(known: Sentences, test: Sentences, negative: str | None = None) -> list[list[str]]:
    """Label dictionary names from left to right; of those that begin at the same word, the longest."""
    types = _dictionary(known)
    lengths, labels = _lengths_by_first_word(types), list[list[str]]()
    for example in test:
        words, mentions = _lower(example.words), list[Mention]()
        for start, end in _spans(words, lengths):
            kind = types.get(words[start:end])
            if kind is not None and (not mentions or start >= mentions[-1][1]):
                mentions.append((start, end, kind))
        labels.append(to_labels(mentions, len(words), "bio"))
    return labels


def _dictionary(known: Sentences) -> dict[Name, str]:
    """Return the names of known mentions with their commonest type: those that are mentions in at least half
    of the places where their words occur, ignoring case."""
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
    return {name: _commonest(kinds) for name, kinds in types.items() if 2 * kinds.total() >= places[name]}


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


def by_word(known: Sentences, test: Sentences, negative: str | None = None) -> list[list[str]]:
    """Give each word the commonest label that it has, ignoring case; O to unknown words."""
    labels: dict[str, Counter[str]] = {}
    for example in known:
        for word, label in zip(example.words, example.labels, strict=True):
            labels.setdefault(word.lower(), Counter())[label] += 1
    commonest = {word: _commonest(counts) for word, counts in labels.items()}
    return [[commonest.get(word.lower(), OUTSIDE) for word in one.words] for one in test]


def random_tags(known: Sentences, test: Sentences, negative: str | None = None) -> list[list[str]]:
    """Draw a label for each word at random, with the frequencies of labels in `known`."""
    shares = Counter(label for example in known for label in example.labels)
    labels, random = sorted(shares), Random(SEED)
    weights = [shares[label] for label in labels]
    return [random.choices(labels, weights, k=len(one.words)) for one in test]


def commonest_answers(known: Questions, test: Questions, negative: str | None) -> list[Ranked]:
    """Answer every question with the commonest answers, best first."""
    counts = Counter(text for one in known for text in (one.golds or [answer.text for answer in one.answers]))
    best = sorted(counts, key=lambda text: (-counts[text], text))[:SUBMITTED] or [""]
    return [[(text, counts[text] / (counts.total() or 1)) for text in best] for _ in test]


def random_words(known: Questions, test: Questions, negative: str | None) -> list[Ranked]:
    """Answer every question with different words drawn from its context."""
    random, answers = Random(SEED), list[Ranked]()
    for one in test:
        words = sorted(set(one.context.split())) or [""]
        drawn = random.sample(words, min(SUBMITTED, len(words)))
        answers.append([(word, 1 / rank) for rank, word in enumerate(drawn, 1)])
    return answers


NAMED = ("ner", "de-identification")
COUNTED = (
    Floor(
        "dictionary_train",
        "tokens",
        "names of train that are mentions in at least half of their places, ignoring case; the longest from "
        "left to right",
        by_dictionary,
        NAMED,
    ),
    Floor(
        "dictionary_train_dev",
        "tokens",
        "the same with the names of train and dev",
        by_dictionary,
        NAMED,
        ("train", "dev"),
    ),
    Floor("word_label", "tokens", "the commonest label of each word in train", by_word),
    Floor("random", "tokens", "labels of words drawn as often as in train", random_tags),
    Floor("majority", "sequence", "the commonest label of train", majority),
    Floor("all_positive", "sequence", "the commonest label of train but the one for nothing", all_positive),
    Floor("random", "sequence", "labels drawn as often as in train", random_labels),
    Floor(
        "pair_prior",
        "sequence",
        "the commonest label of the two arguments in train, in either order",
        pair_prior,
        ("relation",),
    ),
    Floor("majority", "multilabel", "the labels that most documents of train have", common_labels),
    Floor("all_positive", "multilabel", "every label", all_labels),
    Floor("random", "multilabel", "the label sets of documents of train, drawn", random_label_sets),
    Floor("majority", "span", "the commonest answers of train", commonest_answers),
    Floor("random", "span", "words drawn from the context", random_words),
)
