"""Floors for labels that read no text: majority, chance, all positive, and what is known of a pair."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from pubmill.examples.kinds import MultilabelExample, SequenceExample
from pubmill.extras.baselines.floor import SEED, Floor
from pubmill.metrics.training_overlap import arguments_of

Labelled = Sequence[SequenceExample]
Documents = Sequence[MultilabelExample]


def majority(known: Labelled, test: Labelled, negative: str | None) -> list[str]:
    """Predict the commonest label."""
    return [_commonest(_shares(known))] * len(test)


def all_positive(known: Labelled, test: Labelled, negative: str | None) -> list[str] | None:
    """Predict the commonest label but the negative one."""
    shares = _shares(known)
    if negative is None or set(shares) <= {negative}:
        return None
    del shares[negative]
    return [_commonest(shares)] * len(test)


def at_random(known: Labelled, test: Labelled, negative: str | None) -> list[str]:
    """Draw labels as often as they are known."""
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


def common_labels(known: Documents, test: Documents, negative: str | None) -> list[list[str]]:
    """Predict the labels that most documents have."""
    shares = Counter(label for one in known for label in one.labels)
    return [sorted(label for label in shares if 2 * shares[label] > len(known))] * len(test)


def all_labels(known: Documents, test: Documents, negative: str | None) -> list[list[str]]:
    """Predict every label."""
    return [sorted({label for one in known for label in one.labels})] * len(test)


def random_label_sets(known: Documents, test: Documents, negative: str | None) -> list[list[str]]:
    """Draw the label sets of known documents."""
    random, sets = Random(SEED), [one.labels for one in known]
    return random.choices(sets, k=len(test))


def _shares(known: Labelled) -> Counter[str]:
    return Counter(one.label for one in known)


def _commonest(shares: Counter[str]) -> str:
    """Return the commonest label; of equals, the first in the order of the alphabet."""
    return min(shares, key=lambda label: (-shares[label], label))


LABELS = (
    Floor(name="majority", kinds=("sequence",), definition="the commonest label of train", predict=majority),
    Floor(
        name="all_positive",
        kinds=("sequence",),
        definition="the commonest label of train but the one for nothing",
        predict=all_positive,
    ),
    Floor(
        name="random", kinds=("sequence",), definition="labels drawn as often as in train", predict=at_random
    ),
    Floor(
        name="pair_prior",
        kinds=("sequence",),
        tasks=("relation",),
        definition="the commonest label of the two arguments in train, in either order",
        predict=pair_prior,
    ),
    Floor(
        name="majority",
        kinds=("multilabel",),
        definition="the labels that most documents of train have",
        predict=common_labels,
    ),
    Floor(name="all_positive", kinds=("multilabel",), definition="every label", predict=all_labels),
    Floor(
        name="random",
        kinds=("multilabel",),
        definition="the label sets of documents of train, drawn",
        predict=random_label_sets,
    ),
)
