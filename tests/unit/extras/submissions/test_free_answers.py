"""Free strings of language models: what is taken off them, and what stays."""

import pytest

from pubmill.extras.submissions.free_answers import FreeItem, read_answer


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


def test_types_are_those_of_the_json() -> None:
    found = read_answer('{"Drug": ["a", "b"], "Disease": []}', "").items
    assert found == [("a", "Drug"), ("b", "Drug")]
    assert read_answer('[{"entity": "a", "category": "Drug"}]', "").items == [("a", "Drug")]
    assert read_answer('[{"label": "a"}]', "").items == [("a", None)]
