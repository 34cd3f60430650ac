"""Cards of datasets: their splits, counts, labels and overlaps."""

from typing import Any

import pytest

from pubmill.convert.dataset_counts import count
from pubmill.examples.kinds import Answer, SpanExample
from pubmill.tables.cells import parse
from pubmill.tables.dataset_cards import Card, label_bias
from tests.unit.report import toy_cards


def card(kind: str = "sequence", **changes: Any) -> Card:
    return parse(Card, toy_cards.card("d", kind, **changes), "here")


def test_labels_that_a_split_lacks_count_as_none_and_other_counts_are_not_known() -> None:
    found = card(
        counts={"train": {"labels.x": 3, "examples": 3}, "test": {"left_out.odd": 2, "left_out.b": 1}}
    )
    assert found.counted_names("labels.") == ["x"] and found.counted_names("left_out.") == ["b", "odd"]
    assert (found.count("test", "labels.x"), found.count("test", "examples")) == (0, None)
    assert (found.left_out("test"), found.left_out("train")) == (3, 0)


def test_inputs_in_an_earlier_split_are_those_of_the_one_with_the_most() -> None:
    overlaps = [
        {"split": split, "with": earlier, "texts": texts, "documents": None}
        for split, earlier, texts in (("dev", "train", 9), ("test", "train", 2), ("test", "dev", 5))
    ]
    found = card(overlaps=overlaps)
    assert [found.inputs_in_earlier_split(split) for split in ("train", "dev", "test")] == [0, 9, 5]


@pytest.mark.parametrize(("counts", "prefix"), [
    ({"labels.x": 1, "mentions.y": 1}, "labels."), ({"mentions.y": 1, "words.y": 3}, "mentions."),
    ({"mentions.y": 0, "words.y": 3}, "words."), ({"labels.x": 0}, ""), ({"examples": 1}, ""),
])  # fmt: skip
def test_the_labels_shown_are_the_first_kind_that_occurs(counts: dict[str, int], prefix: str) -> None:
    assert card(counts={"train": {}, "test": counts}).labels == prefix


@pytest.mark.parametrize(("kind", "counts", "bias"), [
    ("tokens", {"tokens": 30, "tokens_in_mentions": 5}, 5 / 25),
    ("tokens", {"tokens": 30, "tokens_in_mentions": 20}, 10 / 20), ("tokens", {}, None),
    ("span", {"fewest_repeats": 1, "most_repeats": 4}, 0.25), ("span", {}, None),
    ("sequence", {"labels.a": 2, "labels.b": 1, "labels.c": 4}, 3 / 4), ("sequence", {"examples": 5}, None),
    ("multilabel", {"labels.a": 3, "labels.b": 1}, 1 / 3), ("regression", {"examples": 4}, None),
])  # fmt: skip
def test_the_bias_of_labels(kind: str, counts: dict[str, int], bias: float | None) -> None:
    """shin2020, caption of Table 8: the others over the most frequent one."""
    assert label_bias(card(kind, counts={"train": counts}), "train") == bias


def test_repeats_of_an_answer_are_counted_over_examples() -> None:
    def example(number: int, question: str, *answers: str) -> SpanExample:
        given = [Answer(text=text, start="a b".index(text)) for text in answers]
        return SpanExample(id=str(number), document=None, question=question, context="a b", answers=given)

    counts = count(
        [example(1, "q", "a", "a"), example(2, "q", "a"), example(3, "r", "a", "b"), example(4, "s")]
    )
    assert (counts["fewest_repeats"], counts["most_repeats"]) == (1, 3)
    assert (counts["fewest_repeats_of_pair"], counts["most_repeats_of_pair"]) == (1, 2)
    assert count([example(1, "q")])["most_repeats"] == 0
