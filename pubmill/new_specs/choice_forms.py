"""Questions with answers to choose from: which keys have the texts, and which one says what is right."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from pubmill.convert.row_examples import lettered
from pubmill.formats.row_files import Row, value_at
from pubmill.new_specs.file_forms import FileForm

CONVERTER = "pubmill.convert.row_examples"
QUESTIONS = ("question", "sent1", "query", "stem")
LABELS = ("answer_idx", "answer_index", "correct_answers", "label", "answer", "cop", "correct")
_PLACE = re.compile(r"(.*?)([a-hA-H]|[0-7])")
"""A key of one text: `opa`, `option_B`, `ending0`."""


def choice_form(first: Sequence[Row]) -> FileForm | None:
    """Return the form of questions that are answered by letters, numbers or texts of choices; else None."""
    for choices in (*choice_keys(first[0]), *first[0]):
        texts = [_texts(row, choices) for row in first]
        if not all(texts):
            continue
        used = {choices} if isinstance(choices, str) else set(choices)
        others = [key for key in first[0] if key not in used]
        usual = [key for key in LABELS if key in others]
        for label in (*usual, *(key for key in others if key not in usual)):
            values = [value_at(row, label) for row in first]
            if labels := _labels(values, [of_row or {} for of_row in texts]):
                return _form(first, choices, label, labels, others)
    return None


def choice_keys(row: Row) -> list[list[str]]:
    """Return the groups of at least three keys of texts that differ in a letter or number at their end."""
    stems = [(match[1], key) for key in row if isinstance(row[key], str) and (match := _PLACE.fullmatch(key))]
    groups = [[key for _, key in group] for _, group in groupby(sorted(stems), key=lambda one: one[0])]
    places = [[ord(key[-1].lower()) for key in keys] for keys in groups]
    return [
        keys
        for keys, at in zip(groups, places, strict=True)
        if len(keys) > 2 and at == [*range(at[0], at[0] + len(at))]
    ]


def _texts(row: Row, choices: str | Sequence[str]) -> dict[str, str] | None:
    return lettered(row.get(choices) if isinstance(choices, str) else [row.get(key) for key in choices])


def _labels(values: Sequence[Any], texts: Sequence[Mapping[str, str]]) -> list[str] | dict[str, str] | None:
    """Return the labels of right answers: letters, or the letter of each number from 0 or 1; None if a value
    is no answer of its row."""
    letters = sorted({letter for one in texts for letter in one})
    listed = [value if isinstance(value, list) else [value] for value in values]
    answers = [*zip(listed, texts, strict=True)]
    if all(set(map(str, given)) <= one.keys() for given, one in answers):
        return letters
    if all(len(given) == 1 and [*one.values()].count(given[0]) == 1 for given, one in answers):
        return letters
    numbers = {str(value) for value in values}
    for start in (0, 1):
        if numbers <= (named := {str(n): letter for n, letter in enumerate(letters, start)}).keys():
            return named
    return None


def _form(
    first: Sequence[Row], choices: str | Sequence[str], label: str, labels: Any, others: Sequence[str]
) -> FileForm | None:
    texts = [key for key in others if key != label and all(isinstance(row.get(key), str) for row in first)]
    longest = max(texts, key=lambda key: sum(len(row[key]) for row in first), default=None)
    question = next((key for key in QUESTIONS if key in texts), longest)
    if question is None:
        return None
    unread = tuple(key for key in others if key not in (question, label))
    options = {"text": question, "choices": choices, "label": label, "labels": labels}
    several = isinstance(first[0][label], list)
    kind, metric = ("multilabel", "micro_f1") if several else ("sequence", "accuracy")
    return FileForm(kind, "classification", metric, f"{CONVERTER}:{kind}", options, unread=unread)
