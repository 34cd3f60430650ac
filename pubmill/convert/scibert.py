"""Converter of SciBERT's relation files: JSON lines whose text has marks around the two mentions.

One line per example: `{"text": ..., "label": ..., "metadata": []}`. The first mention in the text is between
`<<` and `>>`, the other between `[[` and `]]`, each with a space on both sides. If the mentions overlapped,
SciBERT's text contains their common words twice: it is kept unchanged.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import ConfigDict, Field

from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import AllLabels, ConverterInput, JsonModel, lines, one_line, parse_json
from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import markers
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.messages.quotations import quote

MARKS = (("<< ", " >>"), ("[[ ", " ]]"))
MENTION = "ENTITY"
"""Type of both mentions: the files do not state which is the chemical and which the protein."""

_MARKED = re.compile(r"(.*?)<< (.+?) >>(.*?)\[\[ (.+?) \]\](.*)", re.DOTALL)


class _Line(JsonModel):
    model_config = ConfigDict(extra="forbid")

    text: str
    label: str
    metadata: Annotated[list[str], Field(max_length=0)]


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of one split, with spans for marks; ids are `SPLIT-00001`, ... in the file's order.

    The option `labels` lists all labels. A `PubmillError` names the file and line of anything that deviates
    from the form above.
    """
    known, path = source.options_as(AllLabels).labels, source.of_split()
    for number, line in lines(path):
        where = f"{path}:{number}"
        row = parse_json(_Line, line.encode(), where)
        if row.label not in known:
            raise PubmillError(
                f"{where}: expected a label among {', '.join(known)}, found {quote(row.label)}"
            )
        plain, entities = _remove_marks(row.text, where)
        yield SequenceExample(
            id=f"{source.split}-{number:05d}", document=None, text=plain, label=row.label, entities=entities
        )


def _remove_marks(text: str, where: str) -> tuple[str, list[Entity]]:
    """Return the text without its marks, and the mentions in text order. The opening marks occur once; a
    closing mark may also be part of the text (`a >> b`), not of a mention."""
    match = _MARKED.fullmatch(text)
    if match is None or any(text.count(opening) != 1 for opening, _ in MARKS):
        raise PubmillError(
            f"{where}: expected one mention between `<< ` and ` >>` and, after it, one between `[[ ` and "
            f"` ]]`; found {quote(text)}"
        )
    before, first, between, second, after = match.groups()
    start = len(before) + len(first) + len(between)
    return one_line(before + first + between + second + after), [
        Entity(start=len(before), end=len(before) + len(first), type=MENTION),
        Entity(start=start, end=start + len(second), type=MENTION),
    ]


def write(examples: Sequence[SequenceExample], form: WriterOptions) -> Iterator[str]:
    """Yield SciBERT's own form, byte for byte the input of `read`; no options."""
    for example in examples:
        text = markers(example.text, example.entities, MARKS).text
        row = {"text": text, "label": example.label, "metadata": []}
        yield json.dumps(row, ensure_ascii=False) + "\n"
