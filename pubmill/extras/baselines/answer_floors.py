"""Floors for answers to questions: the commonest answer, and a word drawn from the context."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from pubmill.examples.kinds import SpanExample
from pubmill.extras.baselines.floor import SEED, Floor

Ranked = list[tuple[str, float]]
SUBMITTED = 5


def commonest_answers(
    known: Sequence[SpanExample], test: Sequence[SpanExample], negative: str | None
) -> list[Ranked]:
    """Answer every question with the commonest answers, best first."""
    counts = Counter(text for one in known for text in (one.golds or [answer.text for answer in one.answers]))
    best = sorted(counts, key=lambda text: (-counts[text], text))[:SUBMITTED] or [""]
    return [[(text, counts[text] / (counts.total() or 1)) for text in best] for _ in test]


def random_words(
    known: Sequence[SpanExample], test: Sequence[SpanExample], negative: str | None
) -> list[Ranked]:
    """Answer every question with different words drawn from its context."""
    random = Random(SEED)
    return [_drawn(one.context, random) for one in test]


def _drawn(context: str, random: Random) -> Ranked:
    words = sorted(set(context.split())) or [""]
    drawn = random.sample(words, min(SUBMITTED, len(words)))
    return [(word, 1 / rank) for rank, word in enumerate(drawn, 1)]


ANSWERS = (
    Floor(
        name="majority",
        kinds=("span",),
        definition="the commonest answers of train",
        predict=commonest_answers,
    ),
    Floor(name="random", kinds=("span",), definition="words drawn from the context", predict=random_words),
)
