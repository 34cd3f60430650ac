"""The form of rows (JSON, CSV, Parquet, XML), guessed from their keys and values."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count, groupby
from pathlib import Path
from typing import Any

from pubmill.convert.row_examples import lettered
from pubmill.errors import PubmillError
from pubmill.examples.kinds import is_label_list
from pubmill.formats.document_files import ARCHIVES
from pubmill.formats.row_files import Row, label_names, rows, texts_of, value_at
from pubmill.formats.safe_xml import parse_xml
from pubmill.new_specs import file_forms
from pubmill.new_specs.file_forms import BY_HAND, MOST_LABELS, ROWS, SPLITS, FileForm, Options, named_columns

CONVERTER = "pubmill.convert.row_examples"
WORDS = ("tokens", "words")
TAGS = ("ner_tags", "labels", "tags", "ner", "label")
IDS = ("id", "index")
QUESTIONS = ("question", "sent1", "query", "stem")
LABELS = ("answer_idx", "answer_index", "correct_answers", "label", "answer", "cop", "correct")
_PLACE = re.compile(r"(.*?)([a-hA-H]|[0-7])")
"""A key of the text of one choice: `opa`, `option_B`, `ending0`."""
SEPARATORS = (";", "|", ",")
KEY_OPTIONS = (
    "text", "text_pair", "label", "id", "document", "words", "score", "question", "context", "answers",
    "choices", "columns",
)  # fmt: skip
"""Options whose values are keys of rows."""
LONGEST_LABEL = 60
"""Maximum number of characters of a label where rows have several."""


def row_form(files: Mapping[str, Path]) -> FileForm:
    """Return the form of rows: kind, label and text as the first file shows them, labels of all files."""
    path = next(iter(files.values()))
    record = _record(path)
    first = [row for _, row in rows(path, record)]
    if not first:
        raise PubmillError(f"{path}: there are no rows in it")
    every = [row for one in files.values() for _, row in rows(one, record)]
    beside: Options = {"record": record} if record else {}
    if ROWS in files:
        beside |= _split_options(path, every)
        first = every = [{key: row[key] for key in row if key != beside["split_column"]} for row in every]
    form = _tokens_form(path, first)
    if (
        form is None
        and {"question", "context"} <= first[0].keys()
        and isinstance(first[0].get("answers"), dict)
    ):
        options: Options = {key: key for key in ("question", "context", "answers")} | _id(first)
        form = FileForm("span", "reading", "f1", f"{CONVERTER}:span", options)
    form = form or choice_form(first) or _sequence_form(path, first, every)
    keys = dict.fromkeys(key for row in every for key in row)
    named = (form.options.get(option, ()) for option in KEY_OPTIONS)
    read = {key for value in named for key in ([value] if isinstance(value, str) else value)}
    read |= {key.partition(".")[0] for key in read}
    unread = tuple(key for key in keys if key not in read)
    return replace(form, options=form.options | beside, unread=unread)


def _split_options(path: Path, every: Sequence[Row]) -> Options:
    """Return the options of a file with all splits: the column whose values are all names of splits, and
    these names. A column that is itself named like a split is ignored: its table has no headings."""
    for key in (key for key in every[0] if file_forms.split_of(key) is None):
        splits = {str(row.get(key)): file_forms.split_of(str(row.get(key))) for row in every}
        if "train" in splits.values() and None not in splits.values() and len(splits) <= len(SPLITS):
            return {"split_column": key, "split_values": splits}
    raise PubmillError(
        f"{path}: its name shows no split, and no column has only names of splits (train, dev or valid, "
        "test), train among them; give one file for each split, or add such a column"
    )


def _record(path: Path) -> str:
    """Return the name of the XML element that is a row: the most frequent one with children; empty for other
    files, and `.` (each file is a row) for an archive whose XML files have no such element."""
    if not path.name.endswith((".xml", *ARCHIVES)):
        return ""
    texts = [(name, text) for name, text in texts_of(path) if name.endswith(".xml")]
    counts = Counter[str]()
    for name, text in texts:
        root = parse_xml(text, f"{path}:{name}")
        counts.update(str(one.tag) for one in root.iter() if len(one) and isinstance(one.tag, str))
        counts.pop(str(root.tag), None)
    if texts and not counts and not path.name.endswith(ARCHIVES):
        raise PubmillError(f"{path}: no element of this XML has children, so none is a row; {BY_HAND}")
    return counts.most_common(1)[0][0] if counts else "." if texts else ""


def _tokens_form(path: Path, every: Sequence[Row]) -> FileForm | None:
    words, tags = _word_columns(every[0])
    if words is None or tags is None:
        return None
    labels: Any = "as_written"
    if any(isinstance(label, int) for one in every for label in one.get(tags) or []):
        labels = label_names(path).get(tags) if path.suffix == ".parquet" else None
        if not labels:
            raise PubmillError(
                f"{path}: the labels of words in {tags!r} are numbers whose names the file does not have; "
                f"write the spec by hand, with {CONVERTER}:tokens and the names as `labels`"
            )
    options = {"words": words, "label": tags, "labels": labels, **_id(every)}
    return FileForm("tokens", "ner", "entity_f1", f"{CONVERTER}:tokens", options)


def _word_columns(row: Row) -> tuple[str | None, str | None]:
    """Return the keys of the words and of their labels: by their usual names, else the only two lists of one
    length of which one has BIO labels."""
    words = next((key for key in WORDS if isinstance(row.get(key), list)), None)
    tags = next((key for key in TAGS if isinstance(row.get(key), list) and key != words), None)
    if words and tags:
        return words, tags
    lists = [key for key, value in row.items() if isinstance(value, list) and value]
    labelled = [key for key in lists if is_label_list(row[key])]
    if len(lists) == 2 and len(labelled) == 1 and len(row[lists[0]]) == len(row[lists[1]]):
        return next(key for key in lists if key not in labelled), labelled[0]
    return words, tags


def _id(every: Sequence[Row]) -> Options:
    for key in IDS:
        values = [one.get(key) for one in every]
        unique = all(isinstance(value, str | int) and value != "" for value in values)
        if unique and len(set(values)) == len(values):
            return {"id": key}
    return {}


def _sequence_form(path: Path, first: Sequence[Row], every: Sequence[Row]) -> FileForm:
    lists = []
    for key in first[0]:
        values_of = [one.get(key) for one in first]
        if all(isinstance(one, list) and all(isinstance(item, str) for item in one) for one in values_of):
            different = {item for one in values_of for item in one or ()}
            if 1 < len(different) <= len(values_of) and max(map(len, different)) <= LONGEST_LABEL:
                lists.append(key)
    flags = [key for key in first[0] if {str(one.get(key)) for one in first} <= {"0", "1", "True", "False"}]
    keys = [key for key in first[0] if isinstance(first[0][key], str | int | float)]
    texts = {key: tuple("" if one.get(key) is None else str(one[key]) for one in first) for key in keys}
    if lists or len(flags) > 2:
        others = {key: cells for key, cells in texts.items() if key not in flags}
        text = max(others, key=lambda key: sum(map(len, others[key])))
        labels = sorted({item for one in every for item in one.get(lists[0]) or []}) if lists else flags
        place = {"label": lists[0]} if lists else {"columns": flags}
        of_lists: Options = {"text": text, **place, "labels": labels, **_id(first)}
        return FileForm("multilabel", "classification", "micro_f1", f"{CONVERTER}:multilabel", of_lists)
    if score := file_forms.score_of(texts):
        of_pair = {name: key for key, name in named_columns(texts, score, str(path)).items()}
        if "text_pair" in of_pair:
            scored: Options = {"score": of_pair.pop("label"), **of_pair}
            return FileForm("regression", "similarity", "pearson", f"{CONVERTER}:regression", scored)
    joined = joined_labels(texts)
    closed = {key: texts[key] for key in texts if {str(row.get(key)) for row in every} <= {*texts[key]}}
    if not joined and not any(map(file_forms.is_label_name, texts)):
        refuse_annotation(every, path)
    label = joined[0] if joined else _label(closed, texts, path)
    names = {name: key for key, name in named_columns(texts, label, str(path)).items()}
    values = sorted({str(one.get(label)) for one in every})
    if separator := joined[1] if joined else _separator(values):
        names.pop("text_pair", None)
        parts = {part.strip() for value in values for part in value.split(separator)}
        options: Options = {**names, "separator": separator, "labels": sorted(parts - {""})}
        return FileForm("multilabel", "classification", "micro_f1", f"{CONVERTER}:multilabel", options)
    numbered = label_names(path).get(label, []) if path.suffix == ".parquet" else []
    options = {**names, "labels": dict(zip(map(str, count()), numbered, strict=False)) or values}
    return FileForm("sequence", "classification", "macro_f1", f"{CONVERTER}:sequence", options)


def refuse_annotation(every: Sequence[Row], path: Path) -> None:
    """Raise a `PubmillError` if a key of the rows has lists of objects or of lists, as annotations are."""
    for key in dict.fromkeys(key for row in every for key in row):
        values = [row[key] for row in every if isinstance(row.get(key), list)]
        lists = [value for value in values if all(isinstance(one, dict | list) for one in value)]
        items = [item for value in lists for item in value]
        if not items:
            continue
        keys = sorted({str(name) for item in items if isinstance(item, dict) for name in item})
        of = f"objects with the keys {', '.join(keys)}" if keys else "lists"
        raise PubmillError(
            f"{path}: the key {key!r} has annotations ({len(items)} {of}). They are read as mentions if "
            "every row has a text and each of them has numbers `start` and `end` and a text `label` or "
            "`type`, or is [start, end, TYPE]; and no key is named as a label is (`label`, `class`). "
            f"Rename the keys, or {BY_HAND}"
        )


def _label(closed: Mapping[str, Sequence[str]], texts: Mapping[str, Sequence[str]], path: Path) -> str:
    """Return the key of the label, preferably one with no values in the other files that the first lacks."""
    try:
        return file_forms.label_of(closed, str(path), "column or key")
    except PubmillError:
        return file_forms.label_of(texts, str(path), "column or key")


def joined_labels(texts: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """Return the column whose values join several labels (`a;b`), and their separator; None without one."""
    for key, values in texts.items():
        if (separator := _separator(values)) is None:
            continue
        parts = {part.strip() for value in values for part in value.split(separator)}
        if 1 < len(parts) <= min(MOST_LABELS, len(values) // 2) and max(map(len, parts)) <= LONGEST_LABEL:
            return key, separator
    return None


def _separator(values: Sequence[str]) -> str | None:
    """Return the separator of joined labels (`a;b`) if a value is also a part of another (`a`), else None."""
    single = set(values)
    for separator in SEPARATORS:
        parts = [part.strip() for value in values if separator in value for part in value.split(separator)]
        if parts and single & set(parts):
            return separator
    return None


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
            if not (labels := _answers(values, [of_row or {} for of_row in texts])):
                continue
            others.remove(label)
            left = [key for key in others if all(isinstance(row.get(key), str) for row in first)]
            longest = max(left, key=lambda key: sum(len(row[key]) for row in first), default=None)
            question = next((key for key in QUESTIONS if key in left), longest)
            if question is None:
                return None
            options = {"text": question, "choices": choices, "label": label, "labels": labels}
            several = isinstance(first[0][label], list)
            kind, metric = ("multilabel", "micro_f1") if several else ("sequence", "accuracy")
            return FileForm(kind, "classification", metric, f"{CONVERTER}:{kind}", options)
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


def _answers(values: Sequence[Any], texts: Sequence[Mapping[str, str]]) -> list[str] | dict[str, str] | None:
    """Return the labels of answers: all letters, if the values are letters or texts of choices, or number ->
    letter, counted from 0 or 1; None if the values are none of these."""
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
