r"""The files of a manuscript: their code without comments and verbatim text, at the original offsets.

Files are scanned, not executed: macros of the author's own are not expanded, except that macros defined with
bold type count as bold. Marks are comments that name the table, rows and columns behind numbers:

    % pubmill: table gu2020/table06
    % pubmill: columns bert-base-uncased pubmedbert-base pubmedbert-base:published -
    BC2GM & 80.90 & 84.52 & 84.52 & (a) \\ % pubmill: row bc2gm

`columns` names the cells after the first of each row of a tabular, `row` the row; in a tabular with models as
rows, they are `rows` and `column`. `-` is a cell that is not compared. `% pubmill: name Our model = KEY` is
another name of a row or column; `% pubmill: ignore` exempts the sentence with this comment. A comment
with macros, `84.52 % \cell{...}{...}{...}`, names the cells of the last numbers before it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError

_TOKEN = re.compile(
    r"\\verb\*?(?P<verb>[^a-zA-Z\s*])"
    r"|\\begin\{(?P<environment>verbatim\*?|Verbatim|lstlisting|minted|comment|filecontents\*?)\}"
    r"|(?P<end>\\end\{document\}|\\endinput(?![a-zA-Z]))"
    r"|\\(?:[a-zA-Z]+|.)|(?P<comment>%)",
    re.DOTALL,
)
_INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{([^{}]*)\}")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_MARK = re.compile(r"\s*pubmill:\s*(table|columns|rows|row|column|name|ignore)\b[ \t]*(.*?)\s*$")
LONGEST_GROUP = 2_000
"""Longest group in braces that is read, in characters."""
MOST_BYTES = 20_000_000
"""Largest file that is read, in bytes; larger ones are refused."""
KINDS = {
    "stale": "number that is not the table's",
    "rounding": "wrongly rounded number",
    "bold": "wrong bold",
    "unknown": "unknown name",
    "empty": "cell without a value",
    "mark": "row that does not fit its mark",
    "macros": "old file of macros",
    "claim": "claim that no test supports",
}
"""Kind of a fault -> its name in a message."""


@dataclass(frozen=True, order=True)
class ManuscriptFault:
    """A fault of a manuscript. `line` and `position` count from 1. `kind`: a word for programs (`KINDS`);
    `found`: what stands there; `expected`: what the tables have; `to_do`: how to correct it."""

    file: str
    line: int
    position: int
    kind: str
    found: str
    expected: str
    to_do: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.position}"
        return f"{place}: {KINDS[self.kind]}: {self.found}; {self.expected}. {self.to_do}"


class Comment(NamedTuple):
    """A comment: the offset of its `%`, and the text after that."""

    start: int
    text: str


class Mark(NamedTuple):
    """A mark: the offset of its comment, its kind, and what it names."""

    start: int
    kind: str
    names: str


@dataclass(frozen=True)
class Source:
    """A file of a manuscript. `name`: as messages show it; `text`: its content; `code`: the same length, with
    spaces in place of comments, verbatim text, and whatever follows the end of the document."""

    name: str
    text: str
    code: str
    comments: tuple[Comment, ...]

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, offset: int) -> tuple[str, int, int]:
        """Return file, line and position of an offset; both count from 1."""
        line = bisect_right(self._line_starts, offset)
        return self.name, line, offset - self._line_starts[line - 1] + 1

    def line_start(self, offset: int) -> int:
        """Return the offset at which the line of an offset begins."""
        return self._line_starts[bisect_right(self._line_starts, offset) - 1]

    def fault(self, offset: int, kind: str, found: str, expected: str, to_do: str) -> ManuscriptFault:
        """Return a fault at an offset."""
        return ManuscriptFault(*self.place(offset), kind, found, expected, to_do)

    @cached_property
    def marks(self) -> list[Mark]:
        """The marks of the file, in order."""
        matches = ((one.start, _MARK.match(one.text)) for one in self.comments)
        return [Mark(start, mark[1], mark[2]) for start, mark in matches if mark]

    def own_names(self) -> dict[str, str]:
        """Return the names that the file gives to rows and columns: name -> key."""
        pairs = (one.names.rpartition("=") for one in self.marks if one.kind == "name")
        return {name.strip(): key.strip() for name, _, key in pairs if name.strip() and key.strip()}


def read_source(path: Path, name: str) -> Source:
    """Read a file; a `PubmillError` if it cannot be read, is too large or is not UTF-8."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise PubmillError(f"{name}: larger than {MOST_BYTES // 1_000_000} MB, which is no manuscript")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise PubmillError(f"{name}: {error.strerror}; name the main file of a manuscript") from None
    except UnicodeDecodeError as error:
        raise PubmillError(f"{name}: byte {error.start} is not UTF-8; convert the file to UTF-8") from None
    return source_of(name, text.replace("\r\n", " \n").replace("\r", "\n"))


def source_of(name: str, text: str) -> Source:
    """Return a file with its comments and its code."""
    comments: list[Comment] = []
    blank: list[tuple[int, int]] = []
    place = 0
    while token := _TOKEN.search(text, place):
        place = token.end()
        if token["comment"]:
            place = find_end(text, "\n", place)
            comments.append(Comment(token.start(), text[token.end() : place]))
        elif token["verb"]:
            place = min(find_end(text, token["verb"], place) + 1, find_end(text, "\n", place))
        elif token["environment"]:
            place = find_end(text, f"\\end{{{token['environment']}}}", place)
        elif token["end"]:
            place = len(text)
        else:
            continue
        blank.append((token.start(), place))
    return Source(name, text, blanked(text, blank), tuple(comments))


def find_end(text: str, end: str, start: int) -> int:
    """Return the offset of the first `end` from `start` on, or the length of the text if there is none."""
    place = text.find(end, start)
    return len(text) if place < 0 else place


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text with spaces in place of some spans; line ends stay."""
    parts, place = [], 0
    for start, end in sorted(spans):
        start, end = max(start, place), max(end, place)
        parts += [text[place:start], re.sub(r"[^\n]", " ", text[start:end])]
        place = end
    return "".join([*parts, text[place:]])


def read_manuscript(main: Path) -> tuple[list[Source], list[str]]:
    """Read the main file and the files that it inputs, directly or not, from its own folder or below.

    Return them in the order of their first use, and notes on inputs that were not read; TeX may have files of
    these names elsewhere.
    """
    folder = main.resolve().parent
    sources: list[Source] = []
    notes: list[str] = []
    seen: set[Path] = set()
    todo = [(main, str(main))]
    while todo:
        path, name = todo.pop()
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        sources.append(read_source(path, name))
        todo += reversed([*_inputs(sources[-1], folder, main.parent, notes)])
    return sources, notes


def _inputs(source: Source, folder: Path, shown: Path, notes: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield the path and name of each file that a file inputs, or add a note why it is not read."""
    for match in _INPUT.finditer(source.code):
        named = match[1].strip()
        if not named or "\\" in named or "#" in named or "\0" in named:
            continue  # built by a macro
        candidates = [folder / f"{named}.tex", folder / named]
        path = next((one for one in candidates if one.is_file()), None)
        if path and path.resolve().is_relative_to(folder):
            yield path, str(shown / path.relative_to(folder))
            continue
        file, line, _ = source.place(match.start())
        why = "it is outside the manuscript's folder" if path else "the folder has no such file"
        notes.append(f"{file}:{line}: {named} was not read: {why}")


def group_ends(code: str) -> dict[int, int]:
    """Return the offset of each opening brace -> that after its group, in time linear in the code."""
    ends, opened = {}, []
    for brace in _BRACE.finditer(code):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened and brace.end() - (start := opened.pop()) <= LONGEST_GROUP:
            ends[start] = brace.end()
    return ends


def group_end(code: str, start: int) -> int | None:
    """Return the offset after the group whose opening brace is at `start`; None if it does not end."""
    depth = 0
    for brace in _BRACE.finditer(code, start, start + LONGEST_GROUP):
        if brace[0] in "{}":
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                return brace.end()
    return None


def arguments(code: str, start: int, number: int) -> list[tuple[int, int]] | None:
    """Return the spans of the arguments in braces that follow an offset; None if there are fewer."""
    spans = []
    for _ in range(number):
        opening = re.compile(r"\s*(?=\{)").match(code, start)
        end = group_end(code, opening.end()) if opening else None
        if opening is None or end is None:
            return None
        spans.append((opening.end() + 1, end - 1))
        start = end
    return spans
