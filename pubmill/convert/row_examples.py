"""Converters of rows (JSON lines, JSON, CSV, TSV, Parquet, XML) to examples of each kind.

The options name the keys of the rows, as `pubmill.formats.row_files` has them: `id` and `document` for all
kinds, and `record`, the element in XML that is a row. Other keys are ignored. A split may be of several
files, with the roles `SPLIT`, `SPLIT_2`, ..., which are read in this order; or the source `rows` has the rows
of all splits, `split_column` names the column with their splits, and `split_values` the split of each value.

- `sequence`: `text`, `label`, and `text_pair` for pairs; `labels`: all labels, as a list or a mapping from
  the file's labels (also numbers, as text) to the examples' labels. `choices`, for questions with answers to
  choose from: the key of a mapping of letters to texts, of a list of texts (A, B, ...), or a list of keys,
  one for each text; they become the second text, and the label is a letter, or one of the texts.
- `multilabel`: `text`, to which `choices` are added if there are any, and either `label`, a list or a text in
  which `separator` divides labels, or `columns`, the names of labels' columns of 0 and 1; `labels` as above.
- `tokens`: `words` and `label`, lists of one length; `labels`: the BIO label of each number, or `as_written`.
- `regression`: `text`, `text_pair` and `score`.
- `span`: `question`, `context`, and `answers` with `text` and `answer_start` in it, as SQuAD has in Parquet.
"""

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from pubmill.convert.source_files import ConverterInput, SpecError, for_split, one_line
from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.formats import row_files
from pubmill.messages.quotations import quote

_COMMON = ("id", "document", "record", "split_column", "split_values")


class _Rows:
    """The rows of one split, and its options, with checks of values."""

    def __init__(self, source: ConverterInput, needed: Sequence[str], optional: Sequence[str] = ()) -> None:
        self.options = for_split(source.options, source.split)
        unknown = sorted(self.options.keys() - {*needed, *optional, *_COMMON})
        missing = [name for name in needed if name not in self.options]
        if unknown or missing:
            known = ", ".join([*needed, *optional, *_COMMON])
            raise SpecError(
                f"the converter's options lack {missing}, and {unknown} are unknown; its options are {known}"
            )
        self._source = source

    def __iter__(self) -> Iterator[tuple[str, "_Row"]]:
        """Yield the id of each row's example, and the row."""
        number = 0
        split, inputs = self._source.split, self._source.inputs
        roles = [role for role in inputs if role == split or role.startswith(f"{split}_")] or [split]
        for role in ["rows"] if "split_column" in self.options else roles:
            path = self._source.input(role)
            for where, row in row_files.rows(path, self.options.get("record", "")):
                one = _Row(where, row, self.options)
                if "split_column" in self.options and self._split_of(one) != split:
                    continue
                number += 1
                named = "id" in self.options
                yield one.value("id") if named else f"{split}-{number:06d}", one

    def _split_of(self, row: "_Row") -> str:
        splits, value = self.options.get("split_values"), row.value("split_column")
        if not isinstance(splits, Mapping) or value not in splits:
            raise PubmillError(
                f"{row.where}: the split {quote(value)} is not in the option `split_values`: {splits!r}"
            )
        return str(splits[value])

    def labels(self) -> Mapping[str, str]:
        """Return the file's labels, each with the example's."""
        given = self.options["labels"]
        known = {one: one for one in given} if isinstance(given, list) else given
        pairs = known.items() if isinstance(known, Mapping) else [(None, None)]
        if not known or not all(isinstance(text, str) and text for pair in pairs for text in pair):
            raise SpecError(
                f"the converter's option `labels` is {given!r}; give a list of all labels, or a mapping to "
                "the examples' labels, as text in quotation marks"
            )
        return dict(pairs)


class _Row:
    def __init__(self, where: str, row: row_files.Row, options: Mapping[str, Any]) -> None:
        self.where, self._row, self._options = where, row, options

    def get(self, option: str) -> Any:
        """Return the value of the key that an option names."""
        return row_files.value_at(self._row, str(self._options[option]))

    def fault(self, option: str, expected: str) -> PubmillError:
        return PubmillError(f"{self.where}: expected the key {self._options[option]!r} with {expected}")

    def text(self, option: str) -> str:
        value = self.get(option)
        if not isinstance(value, str) or not value.strip():
            raise self.fault(option, "a text that isn't empty")
        return one_line(value)

    def value(self, option: str) -> str:
        value = self.get(option)
        if isinstance(value, bool):
            value = int(value)
        if not isinstance(value, str | int) or value == "":
            raise self.fault(option, "a string or an integer")
        return str(value)

    def list(self, option: str) -> list[Any]:
        value = self.get(option)
        if not isinstance(value, list):
            raise self.fault(option, "a list")
        return value

    def choices(self) -> dict[str, str]:
        """Return the texts to choose from, by their letters; empty without the option `choices`."""
        if "choices" not in self._options:
            return {}
        named = self._options["choices"]
        keys = [row_files.value_at(self._row, key) for key in named] if isinstance(named, list) else None
        texts = lettered(self.get("choices") if keys is None else keys)
        if texts is None:
            raise self.fault("choices", "at least two texts, as a list or by letters")
        return {letter: one_line(text) for letter, text in texts.items()}

    def document(self) -> str | None:
        return self.value("document") if "document" in self._options else None

    def label(self, text: Any, labels: Mapping[str, str]) -> str:
        if str(text) not in labels:
            raise PubmillError(f"{self.where}: expected a label of {list(labels)}, found {quote(str(text))}")
        return labels[str(text)]


def lettered(value: Any) -> dict[str, str] | None:
    """Return letter -> text of the choices in a list or mapping; None unless these are two or more texts."""
    by_letter = dict(zip(ascii_uppercase, value, strict=False)) if isinstance(value, list) else value
    if not isinstance(by_letter, dict) or len(by_letter) < 2 or len(by_letter) < len(value):
        return None
    texts = all(isinstance(one, str) and one.strip() for pair in by_letter.items() for one in pair)
    return by_letter if texts else None


def _listed_choices(choices: Mapping[str, str]) -> str:
    return " ".join(f"({letter}) {text}" for letter, text in choices.items())


def sequence(source: ConverterInput) -> Iterator[kinds.SequenceExample]:
    """Yield texts, or pairs of texts, with a label."""
    rows = _Rows(source, ("text", "label", "labels"), ("text_pair", "choices"))
    labels = rows.labels()
    if {"text_pair", "choices"} <= rows.options.keys():
        raise SpecError("the converter has the options `text_pair` and `choices`; give one of them")
    for name, row in rows:
        pair = _listed_choices(choices) if (choices := row.choices()) else None
        yield kinds.SequenceExample(
            id=name,
            document=row.document(),
            text=row.text("text"),
            text_pair=row.text("text_pair") if "text_pair" in rows.options else pair,
            label=row.label(_chosen(row, choices, labels), labels),
        )


def _chosen(row: _Row, choices: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """Return the label of a row; if the row has the text of a choice instead, the letter of that choice."""
    value = row.value("label")
    same = [letter for letter, text in choices.items() if text == one_line(value)]
    label = value if value in labels or len(same) != 1 else same[0]
    if choices and labels.get(label) not in choices:
        raise row.fault("label", f"one of the choices ({', '.join(choices)}) or the text of just one")
    return label


def multilabel(source: ConverterInput) -> Iterator[kinds.MultilabelExample]:
    """Yield texts with any number of labels."""
    rows = _Rows(source, ("text", "labels"), ("label", "separator", "columns", "choices"))
    if ("label" in rows.options) == ("columns" in rows.options):
        raise SpecError("the converter needs the option `label`, a key with labels, or `columns` of 0 and 1")
    labels = rows.labels()
    for name, row in rows:
        separator = rows.options.get("separator")
        if "columns" in rows.options:
            chosen = _flagged(row, rows.options["columns"])
        elif separator is not None and isinstance(value := row.get("label"), str):
            chosen = list(filter(None, map(str.strip, value.split(separator))))
        else:
            chosen = row.list("label")
        yield kinds.MultilabelExample(
            id=name,
            document=row.document(),
            text=" ".join(filter(None, (row.text("text"), _listed_choices(row.choices())))),
            labels=sorted({row.label(label, labels) for label in chosen}),
        )


def _flagged(row: _Row, columns: Sequence[str]) -> list[str]:
    flagged = []
    for column in columns:
        value = str(row_files.value_at(row._row, column)).lower()
        if value not in ("0", "1", "0.0", "1.0", "false", "true"):
            raise PubmillError(f"{row.where}: expected 0 or 1 in {column!r}, found {quote(value)}")
        if value in ("1", "1.0", "true"):
            flagged.append(column)
    return flagged


def tokens(source: ConverterInput) -> Iterator[kinds.TokensExample]:
    """Yield sentences of labelled words."""
    rows = _Rows(source, ("words", "label", "labels"))
    written = rows.options["labels"] == "as_written"
    names = None if written else rows.options["labels"]
    if not written and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise SpecError(
            "the converter's option `labels` must be `as_written`, or the BIO label of each number, as a list"
        )
    for name, row in rows:
        words, labels = row.list("words"), row.list("label")
        if names is not None:
            if any(type(label) is not int or not 0 <= label < len(names) for label in labels):
                raise row.fault("label", f"numbers of the {len(names)} labels, from 0")
            labels = [names[label] for label in labels]
        are_texts = all(isinstance(one, str) for one in [*words, *labels])
        if not words or len(words) != len(labels) or not are_texts:
            raise row.fault("words", f"as many words as labels; found {len(words)} and {len(labels)}")
        yield kinds.TokensExample(id=name, document=row.document(), words=words, labels=labels)


def regression(source: ConverterInput) -> Iterator[kinds.RegressionExample]:
    """Yield pairs of texts with a score."""
    rows = _Rows(source, ("text", "text_pair", "score"))
    for name, row in rows:
        try:
            score = float(row.get("score"))
        except (TypeError, ValueError):
            raise row.fault("score", "a number") from None
        yield kinds.RegressionExample(
            id=name,
            document=row.document(),
            text=row.text("text"),
            text_pair=row.text("text_pair"),
            score=score,
        )


def span(source: ConverterInput) -> Iterator[kinds.SpanExample]:
    """Yield questions with their answers in a context."""
    rows = _Rows(source, ("question", "context", "answers"))
    for name, row in rows:
        answers = row.get("answers")
        given = answers if isinstance(answers, dict) else {}
        texts, starts = given.get("text"), given.get("answer_start")
        if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
            raise row.fault("answers", "the lists `text` and `answer_start` of one length")
        context = row.get("context")
        if not isinstance(context, str) or not context:
            raise row.fault("context", "a text that isn't empty")
        answers = [kinds.Answer(text=text, start=start) for text, start in zip(texts, starts, strict=True)]
        yield kinds.SpanExample(
            id=name, document=row.document(), question=row.text("question"), context=context, answers=answers
        )
