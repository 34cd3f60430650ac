"""How the offsets of a file count, and the places in a document's text that they mean.

By default they count characters (Unicode code points) from the start of the document, the end of a mention is
the place after its last character, and one character separates title and abstract. Files that count otherwise
are read by the words of an option, such as `utf-16` or `shift=-1 last`:

- `utf-16`, `bytes`: units of UTF-16 (Java, JavaScript) or UTF-8; `no-returns`: characters without carriage
  returns; `two-at-line-ends`: a line feed counts as two characters.
- `shift=N`: N is added to each offset.
- `separator=N`: N characters separate title and abstract, or two passages, whatever their offsets say.
- `passages`: offsets count from the start of each passage.
- `last`: the end of a mention is its last character.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages.quotations import quote

UNITS: dict[str, tuple[Callable[[str], int], str]] = {
    "utf-16": (lambda one: 1 + (ord(one) > 0xFFFF), "offsets count units of UTF-16"),
    "bytes": (lambda one: len(one.encode("utf-8", "surrogatepass")), "offsets count bytes of UTF-8"),
    "no-returns": (lambda one: int(one != "\r"), "offsets do not count carriage returns"),
    "two-at-line-ends": (lambda one: 1 + (one == "\n"), "offsets count a line feed as two characters"),
}
"""Unit -> how many a character has, and what this means."""
_WORD = re.compile(r"(shift|separator)=(-?\d{1,6})|last|passages|" + "|".join(UNITS))


@dataclass(frozen=True)
class Offsets:
    """How offsets count (see the module). `leave_out`: mentions that differ from the text at their offsets
    are left out and counted, not errors."""

    unit: str = ""
    shift: int = 0
    separator: int | None = None
    passages: bool = False
    last: bool = False
    leave_out: bool = False

    @property
    def described(self) -> str:
        """What differs from the usual count, in words."""
        parts = [UNITS[self.unit][1]] if self.unit else []
        if self.shift:
            size = f"{abs(self.shift)} too {'small' if self.shift > 0 else 'large'}"
            parts.append(f"each offset is {size}")
        if self.separator is not None:
            number = "no character" if self.separator == 0 else f"{self.separator} character(s)"
            parts.append(f"they count {number} between title and abstract, or passages")
        parts += ["they count from the start of each passage"] if self.passages else []
        return " and ".join([*parts, *(["each end is the last character"] if self.last else [])])


def parse_offsets(words: str, leave_out: bool = False) -> Offsets:
    """Return what the words of an option mean; a `PubmillError` names an unknown one."""
    found = [(word, _WORD.fullmatch(word)) for word in words.split()]
    if wrong := [word for word, match in found if match is None]:
        known = ", ".join((*UNITS, "shift=N", "separator=N", "passages", "last"))
        raise PubmillError(f"the option `offsets` has {wrong[0]!r}; it is made of {known}")
    numbers = {match[1]: int(match[2]) for _, match in found if match and match[1]}
    return Offsets(
        unit=next((word for word, _ in found if word in UNITS), ""),
        shift=numbers.get("shift", 0),
        separator=numbers.get("separator"),
        passages="passages" in words.split(),
        last="last" in words.split(),
        leave_out=leave_out,
    )


USUAL = Offsets()


class Misplaced(NamedTuple):
    """A mention that differs from the text at its offsets: its place, the text that the file states, the text
    at its offsets (empty outside of the document), and how far away the stated text is (None: nowhere)."""

    where: str
    stated: str
    found: str
    distance: int | None

    @property
    def texts(self) -> str:
        """Both texts for a message, in which licensed text is withheld."""
        return f"it says {quote(self.stated)}, the text there is {quote(self.found)}"


class Piece(NamedTuple):
    """A text of a document, its place in the file's own count, and its place in characters."""

    stated: int
    start: int
    text: str


class TextPlaces:
    """The places in the texts of a document that a file's offsets mean, and the mentions that were left out
    (`misplaced`) because their text is not there."""

    def __init__(self, pieces: Sequence[Piece], offsets: Offsets) -> None:
        self._pieces, self._offsets = pieces, offsets
        self.misplaced: list[Misplaced] = []
        sizes = UNITS[offsets.unit][0] if offsets.unit else None
        self._sums = [list(accumulate(map(sizes, one.text), initial=0)) if sizes else None for one in pieces]

    def span(self, start: int, end: int, piece: int | None = None) -> tuple[int, int] | None:
        """Return the characters that two offsets mean; None if they are in no text, or inside a character.
        `piece`: the number of the text in which they are, if the file says it."""
        start, end = start + self._offsets.shift, end + self._offsets.shift
        number = self._piece_at(start) if piece is None else piece
        if number is None:
            return None
        first = self._place(number, start)
        last = self._place(number, end)
        if last is None and piece is None and (number := self._piece_at(end)) is not None:
            last = self._place(number, end)
        if first is None or last is None:
            return None
        last += self._offsets.last
        return (first, last) if first < last else None

    def leave_out(self, where: str, stated: str, text: str, start: int, end: int, fault: str) -> None:
        """Leave out a mention that differs from the `text` of its document at its offsets; a `PubmillError`
        with the `fault` unless such mentions are to be left out."""
        places = [match.start() for match in re.finditer(re.escape(stated), text)] if stated else []
        distance = min((place - start for place in places), key=abs, default=None)
        one = Misplaced(where, stated, text[max(start, 0) : max(end, 0)], distance)
        if not self._offsets.leave_out:
            raise PubmillError(f"{where}: {fault}; {one.texts}")
        self.misplaced.append(one)

    def _piece_at(self, offset: int) -> int | None:
        starts = [number for number, piece in enumerate(self._pieces) if piece.stated <= offset]
        return starts[-1] if starts else None

    def _place(self, number: int, offset: int) -> int | None:
        """Return the character at an offset of a text, or the place after its last one."""
        piece, sums = self._pieces[number], self._sums[number]
        inside = offset - (0 if self._offsets.passages else piece.stated)
        if sums is None:
            return piece.start + inside if 0 <= inside <= len(piece.text) else None
        place = bisect_left(sums, inside)
        return piece.start + place if place < len(sums) and sums[place] == inside else None


def pieces_of(texts: Iterable[str], offsets: Offsets) -> list[Piece]:
    """Return texts one after the other, with one character between two of them."""
    pieces, stated, start = list[Piece](), 0, 0
    between = 1 if offsets.separator is None else offsets.separator
    for text in texts:
        pieces.append(Piece(stated, start, text))
        stated, start = stated + size_of(text, offsets.unit) + between, start + len(text) + 1
    return pieces


def size_of(text: str, unit: str) -> int:
    """Return the length of a text in a unit."""
    return sum(map(UNITS[unit][0], text)) if unit else len(text)


def explanations(distances: Iterable[int | None]) -> Iterator[str]:
    """Yield options by which misplaced mentions may be read, the simplest first. `distances`: how far away
    their texts are."""
    yield from (*UNITS, "separator=0", "separator=1", "separator=2", "separator=3", "last", "passages")
    shifts = dict.fromkeys([*(one for one in distances if one), -1, 1, -2, 2, -3, 3])
    for shift in shifts:
        yield f"shift={shift}"
    for shift in shifts:
        yield from (f"shift={shift} last", f"shift={shift} passages")
