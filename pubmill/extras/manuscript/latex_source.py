r"""The files of a manuscript: their code without comments and verbatim text, at the original offsets.

Files are scanned, not executed: macros of the author's own are not expanded, except that macros defined with
bold type count as bold.
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
LONGEST_GROUP = 2_000
"""Longer arguments of macros are not read."""
MOST_BYTES = 20_000_000
"""Larger files are refused: no manuscript has as much."""


class Comment(NamedTuple):
    """A comment: the offset of its `%`, and the text after that."""

    start: int
    text: str


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
            place = _end(text, "\n", place)
            comments.append(Comment(token.start(), text[token.end() : place]))
        elif token["verb"]:
            place = min(_end(text, token["verb"], place) + 1, _end(text, "\n", place))
        elif token["environment"]:
            place = _end(text, f"\\end{{{token['environment']}}}", place)
        elif token["end"]:
            place = len(text)
        else:
            continue
        blank.append((token.start(), place))
    return Source(name, text, blanked(text, blank), tuple(comments))


def _end(text: str, end: str, start: int) -> int:
    """Return where a text that ends something begins, or the end of the whole."""
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


class Unread(NamedTuple):
    """An input that was not read: its place, its name, and why (`absent` or `outside`)."""

    source: Source
    offset: int
    named: str
    why: str


class Manuscript(NamedTuple):
    """The files of a manuscript in the order of their first use, and inputs that were not read."""

    sources: list[Source]
    unread: list[Unread]


def read_manuscript(main: Path) -> Manuscript:
    """Read the main file and the files that it inputs, directly or not, from its own folder or below."""
    folder = main.resolve().parent
    sources: list[Source] = []
    unread: list[Unread] = []
    seen: set[Path] = set()
    todo = [(main, str(main))]
    while todo:
        path, name = todo.pop()
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        source = read_source(path, name)
        sources.append(source)
        inputs = list(_inputs(source, folder, main.parent))
        unread += [one for one in inputs if isinstance(one, Unread)]
        todo += [one for one in reversed(inputs) if not isinstance(one, Unread)]
    return Manuscript(sources, unread)


def _inputs(source: Source, folder: Path, shown: Path) -> Iterator[tuple[Path, str] | Unread]:
    """Yield the path and name of each file that a file inputs, or why it is not read."""
    for match in _INPUT.finditer(source.code):
        named = match[1].strip()
        if not named or "\\" in named or "#" in named or "\0" in named:
            continue  # built by a macro
        candidates = [folder / f"{named}.tex", folder / named]
        path = next((one for one in candidates if one.is_file()), None)
        if path is None:
            yield Unread(source, match.start(), named, "absent")
        elif not path.resolve().is_relative_to(folder):
            yield Unread(source, match.start(), named, "outside")
        else:
            yield path, str(shown / path.relative_to(folder))


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
