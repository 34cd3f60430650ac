"""Whether a single prediction is right in every part."""

from pubmill.examples.kinds import (
    Answer,
    MultilabelExample,
    SequenceExample,
    SpanExample,
    TokensExample,
)
from pubmill.metrics import gold_answers, is_right


def test_labels_must_all_be_right() -> None:
    words = TokensExample(id="1", document=None, words=["a", "b"], labels=["B", "O"])
    assert is_right(words, ["B", "O"]) and not is_right(words, ["B", "I"])
    text = SequenceExample(id="1", document=None, text="a", label="x")
    assert is_right(text, "x") and not is_right(text, "y")
    labels = MultilabelExample(id="1", document=None, text="a", labels=["x", "y"])
    assert is_right(labels, ["x", "y"]) and not is_right(labels, ["x"])


def test_the_first_answer_may_be_any_of_the_gold() -> None:
    question = SpanExample(
        id="1", document=None, question="q", context="a Gene here", answers=[Answer(text="Gene", start=2)],
        golds=["p53", "Gene"],
    )  # fmt: skip
    assert gold_answers(question) == ["Gene", "p53"]
    assert is_right(question, ["gene", "x"]) and is_right(question, ["P53"])
    assert not is_right(question, ["x", "Gene"])
