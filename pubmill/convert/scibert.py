"""SciBERT's relation files: JSON lines whose text has marks around the two mentions.

One line an example: `{"text": ..., "label": ..., "metadata": []}`. The mention that comes first in the text
stands between `<<` and `>>`, the other between `[[` and `]]`, each with a blank to both sides. Where the
mentions overlapped, SciBERT's text has their common words twice: it is kept as it is.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import ConfigDict, Field

from pubmill.annotation.argument_transforms import markers
from pubmill.annotation.examples import Entity, SequenceExample
from pubmill.convert import json_files
from pubmill.convert.exports import Form
from pubmill.convert.source_files import Given, SpecError, lines, one_line, quote
from pubmill.errors import PubmillError

MARKS = (("<< ", " >>"), ("[[ ", " ]]"))
MENTION = "ENTITY"
"""The type of both mentions: the files don't say which is the chemical and which the protein."""

_MARKED = re.compile(r"(.*?)<< (.+?) >>(.*?)\[\[ (.+?) \]\](.*)", re.DOTALL)


class _Line(json_files.Form):
    model_config = ConfigDict(extra="forbid")

    text: str
    label: str
    metadata: Annotated[list[str], Field(max_length=0)]


def read(given: Given) -> Iterator[SequenceExample]:
    """Read one split; ids are `SPLIT-00001` and on in the order of the file, the marks become spans.

    The option `labels` lists the labels that there are. A `PubmillError` names the file and line of anything
    that isn't in the form above.
    """
    given.check_options("labels")
    known = given.options.get("labels")
    if not isinstance(known, list) or not known:
        raise SpecError("the converter's option `labels` is missing; give a list of all labels")
    path = given.of_split()
    for number, line in lines(path):
        where = f"{path}:{number}"
        row = json_files.parse(_Line, line.encode(), where)
        if row.label not in known:
            raise PubmillError(
                f"{where}: expected a label among {', '.join(known)}, found {quote(row.label)}"
            )
        plain, entities = _unmarked(row.text, where)
        yield SequenceExample(
            id=f"{given.split}-{number:05d}", document=None, text=plain, label=row.label, entities=entities
        )


def _unmarked(text: str, where: str) -> tuple[str, list[Entity]]:
    """The text without its marks, and the mentions in it, in the text's order. The opening marks occur once;
    what closes may be in the text too (`a >> b`), but not inside a mention."""
    found = _MARKED.fullmatch(text)
    if found is None or any(text.count(opening) != 1 for opening, _ in MARKS):
        raise PubmillError(
            f"{where}: expected one mention between `<< ` and ` >>` and, after it, one between `[[ ` and "
            f"` ]]`; found {quote(text)}"
        )
    before, first, between, second, after = found.groups()
    start = len(before) + len(first) + len(between)
    return one_line(before + first + between + second + after), [
        Entity(start=len(before), end=len(before) + len(first), type=MENTION),
        Entity(start=start, end=start + len(second), type=MENTION),
    ]


def write(examples: Sequence[SequenceExample], form: Form) -> Iterator[str]:
    """SciBERT's own form, byte for byte what `read` had; no options."""
    for example in examples:
        text = markers(example.text, example.entities, MARKS).text
        row = {"text": text, "label": example.label, "metadata": []}
        yield json.dumps(row, ensure_ascii=False) + "\n"
