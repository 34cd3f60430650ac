r"""Marks: comments of a manuscript that name the table, rows and columns behind its numbers.

    % pubmill: table gu2020/table06
    % pubmill: columns bert-base-uncased pubmedbert-base pubmedbert-base:published -
    BC2GM & 80.90 & 84.52 & 84.52 & (a) \\ % pubmill: row bc2gm

`columns` names the cells after the first of each row of a tabular, `row` the row; in a tabular with models as
rows, they are `rows` and `column`. `-` is a cell that is not compared. `% pubmill: name Our model = KEY` is
another name of a row or column; `% pubmill: ignore` exempts the sentence with this comment. A comment
with macros, `84.52 % \cell{...}{...}{...}`, names the cells of the last numbers before it.
"""

import re
from typing import NamedTuple

from pubmill.extras.manuscript.latex_source import Source

_MARK = re.compile(r"\s*pubmill:\s*(table|columns|rows|row|column|name|ignore)\b[ \t]*(.*?)\s*$")


class Mark(NamedTuple):
    """A mark: the offset of its comment, its kind, and what it names."""

    start: int
    kind: str
    names: str


def marks_of(source: Source) -> list[Mark]:
    """Return the marks of a file, in order."""
    matches = ((one.start, _MARK.match(one.text)) for one in source.comments)
    return [Mark(start, mark[1], mark[2]) for start, mark in matches if mark]


def own_names(source: Source) -> dict[str, str]:
    """Return the names that a file gives to rows and columns: name -> key."""
    pairs = (one.names.rpartition("=") for one in marks_of(source) if one.kind == "name")
    return {name.strip(): key.strip() for name, _, key in pairs if name.strip() and key.strip()}
