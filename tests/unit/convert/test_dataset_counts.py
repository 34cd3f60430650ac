"""Counts for each kind of example: labels, repetitions, lengths and overlaps between splits."""

from collections.abc import Sequence
from typing import Any

import pytest

from pubmill.convert.dataset_counts import count, key, lengths, overlaps
from pubmill.examples.kinds import (
    Answer,
    Entity,
    Example,
    LabelledSentence,
    MentionsExample,
    MultilabelExample,
    RegressionExample,
    RelationsExample,
    SequenceExample,
    SpanExample,
    TokensExample,
    WordSpan,
)


def tokens(name: str, labels: str, words: str = "", document: str | None = None) -> TokensExample:
    split = labels.split()
    return TokensExample(id=name, document=document, words=words.split() or ["w"] * len(split), labels=split)


def sequence(name: str, text: str, label: str, start: int = 0) -> SequenceExample:
    drug = Entity(start=start, end=start + 1, type="Drug")
    return SequenceExample(id=name, document=name[0], text=text, label=label, entities=[drug])


def span(name: str, group: str | None, context: str, *answers: str) -> SpanExample:
    found = [Answer(text=answer, start=context.index(answer)) for answer in answers]
    return SpanExample(id=name, document=None, question="What?", context=context, answers=found, group=group)


def part_of(counts: dict[str, int | None], *names: str) -> tuple[int | None, ...]:
    return tuple(counts[name] for name in names)


def test_mentions_are_counted_by_type() -> None:
    counts = count([tokens("a", "B-x I-x O B-y B-x", "A b c b d"), tokens("b", "O I-PAR", "e e")])
    assert part_of(counts, "sentences", "tokens", "mentions", "tokens_in_mentions") == (2, 7, 3, 5)
    assert part_of(counts, "distinct_words", "longest_sentence") == (5, 5)
    assert part_of(counts, "mentions.x", "mentions.y", "mentions.PAR") == (2, 1, 0)
    assert part_of(counts, "words.x", "words.y", "words.PAR") == (3, 1, 1)
    assert "mentions." not in counts
    examples = [nested("a", "v w z", (0, 3, "x"), (1, 2, "y")), nested("b", "v w z", (0, 1, "x"))]
    counts = count([*examples, nested("c", "u")])
    assert part_of(counts, "sentences", "tokens", "mentions", "longest_mention") == (3, 7, 3, 3)
    assert part_of(counts, "mentions.x", "mentions.y", "repeated_texts", "nested") == (2, 1, 1, 1)
    assert lengths(examples)["max"] == 3


@pytest.mark.parametrize(("labels", "illegal"), [
    ("O I", 1), ("I I", 1), ("B I", 0), ("B-x I-y I-y", 1), ("B-x I-x O", 0), ("I", 1), ("B-x I", 1),
])  # fmt: skip
def test_illegal_starts_are_counted(labels: str, illegal: int) -> None:
    assert count([tokens("a", labels)])["illegal_starts"] == illegal


def test_documents_are_counted_at_their_marks_if_there_are_any() -> None:
    examples = [tokens(str(number), "O", document=name) for number, name in enumerate("1121")]
    assert part_of(count(examples), "documents", "repeated_documents", "repeated_texts") == (3, 1, 3)
    assert part_of(count([tokens("a", "O")]), "documents", "repeated_documents") == (None, 0)
    assert count([]) == {"examples": 0, "documents": None, "repeated_documents": 0, "repeated_texts": 0}
    assert lengths([]) == {}
    assert overlaps({"train": [tokens("a", "O")], "test": []}) == [
        {"split": "test", "with": "train", "texts": 0, "documents": None}
    ]


def test_labels_scores_and_contradictions_are_counted() -> None:
    examples = [
        sequence("a1", "A b", "yes"),
        sequence("a2", "A b", "no"),
        sequence("b1", "A b", "no", start=2),  # the same text with another mention is another input
        sequence("b2", "C d", "no"),
        sequence("b3", "C d", "no"),
    ]
    counts = count(examples)
    assert part_of(counts, "examples", "labels.yes", "labels.no", "documents") == (5, 1, 4, 2)
    assert part_of(counts, "contradictory_texts", "repeated_texts") == (1, 2)
    pair: dict[str, Any] = {"document": None, "text": "A", "text_pair": "B"}
    scored = [RegressionExample(id="a", score=1.5, ratings=[1, 2], **pair)]
    scored.append(RegressionExample(id="b", score=0, **pair))
    assert part_of(count(scored), "examples", "ratings", "repeated_texts") == (2, 2, 1)


def test_labels_of_documents_with_any_number_of_them() -> None:
    sentence = LabelledSentence(start=0, end=1, labels=["x"])
    examples = [
        MultilabelExample(
            id="a", document="1", text="A b", labels=["x", "y"], sentences=[sentence, sentence]
        ),
        MultilabelExample(id="b", document="2", text="C", labels=["x"], sentences=[sentence]),
        MultilabelExample(id="c", document="3", text="C", labels=[]),
    ]
    counts = count(examples)
    assert part_of(counts, "examples", "sentences", "without_label") == (3, 3, 1)
    assert part_of(counts, "labels.x", "labels.y", "repeated_texts") == (2, 1, 1)


def test_questions_their_contexts_and_answers_are_counted() -> None:
    counts = count(
        [
            span("a1", "a", "Aspirin or ASA", "Aspirin", "ASA"),
            span("a2", "a", "Give Aspirin", "Aspirin"),
            span("b", None, "Nothing"),
        ]
    )
    assert part_of(counts, "examples", "questions", "contexts", "unanswerable") == (3, 2, 3, 1)
    assert part_of(counts, "answers", "distinct_answers", "repeated_texts") == (3, 2, 0)
    # an answer that several annotators gave counts once
    examples = [span("a", None, "x and x", "x", "x"), span("b", None, "x or y", "x", "y")]
    examples.append(
        SpanExample(id="c", document=None, question="Who?", context="x", answers=examples[0].answers[:1])
    )
    counts = count(examples)
    assert part_of(counts, "fewest_repeats", "most_repeats") == (1, 3)
    assert part_of(counts, "fewest_repeats_of_pair", "most_repeats_of_pair") == (1, 2)


@pytest.mark.parametrize(("example", "words"), [
    (tokens("a", "O O O"), 3), (sequence("a", "two words", "x"), 2),
    (RegressionExample(id="a", document=None, text="one", text_pair="and two", score=0), 3),
    (span("a", None, "a context"), 3),
    (MultilabelExample(id="a", document=None, text="one  two\nthree", labels=[]), 3),
])  # fmt: skip
def test_lengths_are_those_of_the_whole_input(example: Example, words: int) -> None:
    assert lengths([example]) == {"mean": words, "median": words, "p95": words, "max": words}


def test_overlaps_of_each_two_splits_are_of_all_that_a_model_reads() -> None:
    splits: dict[str, Sequence[Example]] = {
        "train": [tokens("a", "O", "same", "1"), tokens("b", "O", "other", "2")],
        "dev": [tokens("a", "B", "same", "3")],
        "test": [tokens("a", "O", "same", "1"), tokens("b", "O", "same", "3")],
    }
    assert overlaps(splits) == [
        {"split": "dev", "with": "train", "texts": 1, "documents": 0},
        {"split": "test", "with": "train", "texts": 2, "documents": 1},
        {"split": "test", "with": "dev", "texts": 2, "documents": 1},
    ]
    pair = RegressionExample(id="a", document="1", text="A", text_pair="B", score=1)
    assert key(pair) == key(RegressionExample(id="b", document=None, text="A", text_pair="B", score=2))
    assert key(pair) != key(RegressionExample(id="a", document="1", text="A", text_pair="C", score=1))
    assert key(span("a", None, "A b")) == key(span("b", "g", "A b", "A")) != key(span("a", None, "A c"))
    one, other = (SequenceExample(id="a", document=None, text="A", text_pair=to, label="x") for to in "BC")
    assert key(one) != key(other)
    assert key(nested("a", "v w", (0, 1, "x"))) == key(tokens("b", "O O", "v w"))


def related(name: str, pairs: list[list[str]], *relations: str, text: str = "one two") -> RelationsExample:
    """Return a document in which one mention is of two concepts, and another of one of them."""
    places = ((0, 3, "C1"), (0, 3, "C2"), (4, 7, "C2"))
    entities = [Entity(start=start, end=end, type="T", id=of) for start, end, of in places]
    found = [one.split() for one in relations]
    return RelationsExample(
        id=name, document=name, text=text, entities=entities, pairs=pairs, relations=found
    )


def test_relations_are_counted_with_those_that_cannot_be_predicted() -> None:
    examples = [
        related("a", [["C1", "C2"]], "C1 C2 binds Novel", "C1 C2 blocks No", "C1 C9 binds Novel"),
        related("b", [["C1", "C2"], ["C2", "C2"]], "C2 C1 binds", text="other text here"),
        related("c", []),
    ]
    counts = count(examples)
    assert part_of(counts, "examples", "mentions", "pairs", "relations") == (3, 6, 3, 4)
    assert part_of(counts, "without_pair", "novel", "repeated_texts", "documents") == (2, 2, 1, 3)
    assert part_of(counts, "labels.binds", "labels.blocks") == (3, 1)
    assert lengths(examples[1:2]) == {"mean": 3, "median": 3, "p95": 3, "max": 3}


def nested(name: str, words: str, *mentions: tuple[int, int, str]) -> MentionsExample:
    spans = [WordSpan(*one) for one in mentions]
    return MentionsExample(id=name, document=None, words=words.split(), mentions=spans)


@pytest.mark.parametrize(("mentions", "number"), [
    ([(0, 3, "x"), (1, 2, "y")], 1),
    ([(0, 3, "x"), (0, 2, "x"), (1, 3, "x")], 2),
    ([(0, 2, "x"), (0, 2, "y")], 2),  # each has the words of the other
    ([(0, 2, "x"), (1, 3, "y")], 0),
    ([(0, 1, "x"), (1, 3, "y")], 0),
])  # fmt: skip
def test_a_mention_inside_of_another_is_nested(mentions: list[tuple[int, int, str]], number: int) -> None:
    assert count([nested("a", "v w z", *mentions)])["nested"] == number
