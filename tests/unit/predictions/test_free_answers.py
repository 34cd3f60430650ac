"""Free strings of language models: what is taken off them, and what stays."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.examples.kinds import write_examples
from pubmill.predictions.free_answers import FreeItem, plain_answer, read_answer
from tests.unit.predictions import toy_datasets as toy


@pytest.mark.parametrize(
    ("answer", "items", "rules"),
    [
        (" yes ", ["yes"], []),
        ("", [], []),
        ("a\n\nb", ["a", "b"], []),
        ("* a\n• b\n3) c", ["a", "b", "c"], ["bullets"]),
        ("```\n- a\n```", ["a"], ["fence", "bullets"]),
        ("So:\n```json\n[1, 2.5]\n```\nThat is all.", ["1", "2.5"], ["fence", "json"]),
        ("<thinking>\n```x```\n</thinking> no", ["no"], ["reasoning"]),
        ('{"answer": {"text": "x"}}', ["x"], ["json"]),
        ("[]", [], ["json"]),
        ('{"x y": 1, "z": 0, "u": "1"}', ["x y", "u"], ["json"]),
        ('{"x": 0}', [], ["json"]),
        ('{"x": 1, "z": ""}', ['{"x": 1, "z": ""}'], []),
        ('{"score": 1}', ["1"], ["json"]),
        ("```\na\n```\n```\nb\n```", ["```", "a", "```", "```", "b", "```"], []),  # two answers are none
        ('{"label": "a"', ['{"label": "a"'], []),
        ('{"why": "x"}', ['{"why": "x"}'], []),
        ("[true]", ["[true]"], []),
        ('{"a": 1, "a": 2}', ['{"a": 1, "a": 2}'], []),
        ("1-methylhistidine", ["1-methylhistidine"], []),
    ],
)
def test_marks_are_taken_off(answer: str, items: list[str], rules: list[str]) -> None:
    found = read_answer(answer, "the text")
    assert ([item.text for item in found.items], found.rules) == (items, rules)


@pytest.mark.parametrize("answer", ["[18F]", '["a"]', "- 5 mg", "1. Flu"])
def test_what_stands_in_the_text_is_no_mark(answer: str) -> None:
    assert read_answer(answer, f"It is {answer} here") == ([FreeItem(answer)], [])


def test_types_are_those_of_the_json_and_answers_are_made_plain() -> None:
    found = read_answer('{"Drug": ["a", "b"], "Disease": []}', "").items
    assert found == [("a", "Drug"), ("b", "Drug")]
    for form in (
        '[{"entity": "a", "category": "Drug"}]',
        '{"entities": [{"mention": "a", "label": "Drug"}]}',
    ):
        assert read_answer(form, "").items == [("a", "Drug")]
    assert read_answer('[{"label": "a"}]', "").items == [("a", None)]
    assert [plain_answer(text) for text in (" **Yes**.", '"No!"', "(b)  c")] == ["yes", "no", "b) c"]


def test_a_text_that_occurs_several_times_is_several_mentions_and_counted(tmp_path: Path) -> None:
    folder, examples = toy.make(tmp_path, "ner"), toy.examples("ner")
    twice = [replace(examples[0], words=["flu" if word == "old" else word for word in examples[0].words])]  # type: ignore[call-arg, attr-defined]
    write_examples(folder / "test.jsonl.gz", [*twice, *examples[1:]])
    lines = [{"id": one.id, "output": "Disease: flu"} for one in examples]
    found = toy.score(tmp_path, "ner", lines, mapping={"disease": "Disease"})
    assert found.submission.reading.spans == 13 and found.summary()["read_by_rule"]["places"] == 1
    assert any("1 of 12 answers name a text that occurs several times" in one for one in found.left_aside())
