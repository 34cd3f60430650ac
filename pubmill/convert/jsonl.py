"""Converter of JSON lines to sequence examples, and of examples of any kind to JSON lines.

The options of `read` name the keys of the lines: `text`, `label` and, if needed, `text_pair` (for pairs of
texts), `id` and `document`; `labels` lists all labels. Other keys of a line are ignored.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput, SpecError, check_id, lines, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample, as_row
from pubmill.formats.json_text import parse_row
from pubmill.messages.quotations import quote

_NEEDED, _OPTIONAL = ("text", "label"), ("text_pair", "id", "document")


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of the split's file; without the option `id`, ids are `SPLIT-000001`, ...

    Labels, ids and documents may be strings or integers. A `PubmillError` names the file and line of anything
    in another form, of a label that is not in `labels`, and of a repeated id.
    """
    keys, labels = _keys_and_labels(source)
    path = source.of_split()
    seen: set[str] = set()
    for number, line in lines(path):
        where = f"{path}:{number}"
        row = parse_row(line, where)
        example = f"{source.split}-{number:06d}"
        if "id" in keys:
            example = check_id(_required_value(row, keys["id"], where), where)
        if example in seen:
            raise PubmillError(f"{where}: its {keys['id']} occurred on an earlier line; expected it once")
        seen.add(example)
        label = _required_value(row, keys["label"], where)
        if label not in labels:
            raise PubmillError(f"{where}: expected a {keys['label']} of {labels}, found {quote(label)}")
        yield SequenceExample(
            id=example,
            document=_required_value(row, keys["document"], where) if "document" in keys else None,
            text=_required_text(row, keys["text"], where),
            text_pair=_required_text(row, keys["text_pair"], where) if "text_pair" in keys else None,
            label=label,
        )


def write(examples: Sequence[Any], form: WriterOptions) -> Iterator[str]:
    """Yield one line per example of any kind, with the keys of `pubmill.examples.kinds`; no options."""
    if form.options:
        raise PubmillError(f"published.options is {dict(form.options)}; this form has no options")
    for example in examples:
        yield json.dumps(as_row(example), ensure_ascii=False, sort_keys=True) + "\n"


def _keys_and_labels(source: ConverterInput) -> tuple[dict[str, str], list[str]]:
    source.check_options(*_NEEDED, *_OPTIONAL, "labels")
    keys = {name: key for name, key in source.options.items() if name != "labels"}
    labels = source.options.get("labels")
    lacking = [name for name in _NEEDED if name not in keys]
    strings = [*keys.values(), *labels] if isinstance(labels, list) and labels else [None]
    if lacking or not all(isinstance(value, str) and value for value in strings):
        raise SpecError(
            f"the converter's options must name the keys `text` and `label` (and may name those of "
            f"{', '.join(_OPTIONAL)}) and list all `labels`, as strings; found {dict(source.options)!r}"
        )
    assert isinstance(labels, list)
    return keys, labels


def _required_text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise PubmillError(f"{where}: expected the key {key!r} with a text that isn't empty")
    return one_line(value)


def _required_value(row: Mapping[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise PubmillError(f"{where}: expected the key {key!r} with a string or an integer")
    return str(value)
