"""Made-up examples of every kind, and predictions of them."""

from collections.abc import Iterable
from typing import Any

from pubmill.examples.kinds import (
    Answer,
    Entity,
    MentionsExample,
    MultilabelExample,
    RegressionExample,
    RelationsExample,
    SequenceExample,
    SpanExample,
    TokensExample,
    WordSpan,
)


def tokens(*sentences: str | list[str]) -> list[TokensExample]:
    """Return sentences whose words are their labels."""
    rows = [one.split() if isinstance(one, str) else one for one in sentences]
    return [TokensExample(id=f"t{n}", document=None, words=row, labels=row) for n, row in enumerate(rows)]


def labelled(labels: Iterable[str]) -> list[SequenceExample]:
    return [SequenceExample(id=f"s{n}", document=None, text="a", label=one) for n, one in enumerate(labels)]


def documents(*labels: Iterable[str]) -> list[MultilabelExample]:
    return [
        MultilabelExample(id=f"m{n}", document=None, text="a", labels=list(one))
        for n, one in enumerate(labels)
    ]


def pairs(*scores: float) -> list[RegressionExample]:
    return [
        RegressionExample(id=f"r{n}", document=None, text="a", text_pair="b", score=one)
        for n, one in enumerate(scores)
    ]


def questions(*golds: list[str]) -> list[SpanExample]:
    return [
        SpanExample(id=f"q{n}", document=None, question="?", context="", answers=[], golds=one)
        for n, one in enumerate(golds)
    ]


EXAMPLES = [
    TokensExample(id="test-000001", document=None, words=["No", "pain"], labels=["O", "B"]),
    TokensExample(id="test-000002", document=None, words=["Mild", "ache", "today"], labels=["B", "I", "O"]),
]
QUOTED = "The patient had pain"
SEQUENCE, REGRESSION = labelled("012"), pairs(0, 1, 2)
PAIN = [Answer(text="pain", start=3)]
SPAN = [SpanExample(id="q1", document=None, question="?", context="of pain", answers=PAIN)]
RELATIONS = [
    RelationsExample(
        id="d1",
        document="1",
        text="ab",
        entities=[Entity(start=n, end=n + 1, type="C", id=name) for n, name in enumerate("xy")],
        pairs=[["x", "y"]],
        relations=[["x", "y", "r"]],
    )
]
MENTIONS = [MentionsExample(id="n1", document=None, words=["a", "b"], mentions=[WordSpan(0, 2, "x")])]
KINDS: dict[str, tuple[list[Any], list[Any], str]] = {
    "tokens": (EXAMPLES, [["B", "O"], ["B", "I", "O"]], "labels"),
    "sequence": (SEQUENCE, ["0", "1", "1"], "label"),
    "multilabel": (documents("x", "x"), [[], ["x", "y"]], "labels"),
    "regression": (REGRESSION, [0, 1.5, -1], "score"),
    "span": (SPAN, [[{"text": "pain", "probability": 0.5}, {"text": "", "probability": 0.5}]], "answers"),
    "relations": (RELATIONS, [[["x", "y", "r", "No"], ["x", "z", "s"]]], "relations"),
    "mentions": (MENTIONS, [[[0, 1, "x"], [0, 2, "x"], [0, 2, "y"]]], "mentions"),
}


def rows_of(kind: str) -> list[dict[str, Any]]:
    examples, predicted, key = KINDS[kind]
    return [{"id": one.id, key: value} for one, value in zip(examples, predicted, strict=True)]
