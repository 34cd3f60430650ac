"""Made-up examples of every kind, and predictions of them."""

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

EXAMPLES = [
    TokensExample(id="test-000001", document=None, words=["No", "pain"], labels=["O", "B"]),
    TokensExample(id="test-000002", document=None, words=["Mild", "ache", "today"], labels=["B", "I", "O"]),
]
QUOTED = "The patient had pain"
SEQUENCE = [
    SequenceExample(id=f"s{n}", document=None, text="a", label=label) for n, label in enumerate("012")
]
MULTILABEL = [MultilabelExample(id=f"m{n}", document=None, text="a", labels=["x"]) for n in range(2)]
REGRESSION = [
    RegressionExample(id=f"r{n}", document=None, text="a", text_pair="b", score=float(n)) for n in range(3)
]
SPAN = [
    SpanExample(
        id="q1", document=None, question="?", context="of pain", answers=[Answer(text="pain", start=3)]
    )
]
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
    "sequence": (SEQUENCE, ["0", "1", "1"], "label"),
    "multilabel": (MULTILABEL, [[], ["x", "y"]], "labels"),
    "regression": (REGRESSION, [0, 1.5, -1], "score"),
    "span": (SPAN, [[{"text": "pain", "probability": 0.5}, {"text": "", "probability": 0.5}]], "answers"),
    "relations": (RELATIONS, [[["x", "y", "r", "No"], ["x", "z", "s"]]], "relations"),
    "mentions": (MENTIONS, [[[0, 1, "x"], [0, 2, "x"]]], "mentions"),
}


def rows_of(kind: str) -> list[dict[str, Any]]:
    examples, predicted, key = KINDS[kind]
    return [{"id": one.id, key: value} for one, value in zip(examples, predicted, strict=True)]
