"""Random damage to source files, both text and archives; deterministic for a seed.

Each kind of damage takes a file's bytes and returns other bytes, or the same ones if it does not apply to
the file. Archives may also be damaged inside: a member is damaged, and the archive is packed again.
"""

import gzip
import io
import re
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.world.archives import tar_of, zip_of
from tests.world.dice import Dice

TextDamage = Callable[[bytes, Dice], bytes]


@dataclass(frozen=True)
class Damaged:
    """Damaged bytes, a description of the damage, and whether it is within one line."""

    how: str
    content: bytes
    in_line: bool = False


def damage(content: bytes, dice: Dice) -> Damaged:
    """Damage a file in one way; the result always differs from the original bytes."""
    while True:
        made = _archive(content, dice) if _is_archive(content) else _text(content, dice)
        if made.content != content:
            return made


# Text.


_SHARE_OF_NUMBERS = 0.2
"""Share of damage to text that changes a number: offsets matter most, but are rare in a file."""


def _text(content: bytes, dice: Dice) -> Damaged:
    kind = "a number changed" if dice.chance(_SHARE_OF_NUMBERS) else dice.pick(list(TEXT))
    return Damaged(kind, TEXT[kind](content, dice), kind in IN_LINE)


def _put(content: bytes, dice: Dice, size: Callable[[Dice], int], new: Callable[[Dice], bytes]) -> bytes:
    place = dice.below(len(content)) if content else 0
    return content[:place] + new(dice) + content[place + size(dice) :]


def _line(content: bytes, dice: Dice, change: Callable[[list[bytes], int], list[bytes]]) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join(change(lines, dice.below(len(lines))))


def _columns_swapped(content: bytes, dice: Dice) -> bytes:
    def change(lines: list[bytes], at: int) -> list[bytes]:
        cells = lines[at].split(b"\t")
        one, other = dice.below(len(cells)), dice.below(len(cells))
        cells[one], cells[other] = cells[other], cells[one]
        return [*lines[:at], b"\t".join(cells), *lines[at + 1 :]]

    return _line(content, dice, change)


def _one_of(content: bytes, dice: Dice, pattern: bytes, change: Callable[[bytes], bytes]) -> bytes:
    found = [match.span() for match in re.finditer(pattern, content)]
    if not found:
        return content
    start, end = dice.pick(found)
    return content[:start] + change(content[start:end]) + content[end:]


def _digit_changed(content: bytes, dice: Dice) -> bytes:
    def change(number: bytes) -> bytes:
        place = dice.below(len(number))
        return number[:place] + b"%d" % dice.below(10) + number[place + 1 :]

    return _one_of(content, dice, rb"\d+", change)


def _field_number_changed(content: bytes, dice: Dice) -> bytes:
    """Change a number that is a whole field, as offsets are."""

    def change(number: bytes) -> bytes:
        return b"%d" % (int(number) + dice.pick([-10, -1, 1, 2, 10]))

    return _one_of(content, dice, rb"(?<=[\t\":, |-])\d{1,6}(?=[\t\":,; |-])", change)


_MARK = rb'[\t<>"{}\[\]:,|=]'
"""A character that structures the file: a tab, quotation mark, bracket, colon, bar ..."""
_WORD = rb"(?<=[\t\"|])[A-Za-z][\w:-]*|\b[A-Z]{2,}\b"
"""A keyword, label or id: a word in capitals, in quotation marks, or after a tab."""
TEXT: dict[str, TextDamage] = {
    "cut": lambda content, dice: content[: dice.below(len(content)) if content else 0],
    "a hole": lambda content, dice: _put(content, dice, lambda dice: dice.between(1, 200), lambda dice: b""),
    "a byte changed": lambda content, dice: _put(
        content, dice, lambda dice: 1, lambda dice: bytes([dice.between(32, 126)])
    ),
    "a byte that is no UTF-8": lambda content, dice: _put(
        content, dice, lambda dice: 1, lambda dice: b"\xff"
    ),
    "a line gone": lambda content, dice: _line(content, dice, lambda of, at: of[:at] + of[at + 1 :]),
    "a line twice": lambda content, dice: _line(content, dice, lambda of, at: of[: at + 1] + of[at:]),
    "lines swapped": lambda content, dice: _line(
        content, dice, lambda of, at: [*of[:at], *of[at : at + 2][::-1], *of[at + 2 :]]
    ),
    "columns swapped": _columns_swapped,
    "a tab inserted": lambda content, dice: _put(content, dice, lambda dice: 0, lambda dice: b"\t"),
    "a mark gone": lambda content, dice: _one_of(content, dice, _MARK, lambda mark: b""),
    "a digit changed": _digit_changed,
    "a number changed": _field_number_changed,
    "a word changed": lambda content, dice: _one_of(content, dice, _WORD, lambda word: word[:-1] + b"q"),
    "empty": lambda content, dice: b"",
}
IN_LINE = (
    "a byte changed", "a byte that is no UTF-8", "columns swapped", "a tab inserted", "a mark gone",
    "a digit changed", "a number changed", "a word changed",
)  # fmt: skip


# Archives, and single gzipped files.

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_SHARE_WITHIN = 0.7
"""Share of the damage to archives that damages one of their members."""


def _is_archive(content: bytes) -> bool:
    return content.startswith((_GZIP, _ZIP)) or content[257:262] == b"ustar"


def _archive(content: bytes, dice: Dice) -> Damaged:
    if not dice.chance(_SHARE_WITHIN):
        kind = dice.pick(["cut", "a hole", "a byte changed", "empty"])
        return Damaged(f"the archive: {kind}", TEXT[kind](content, dice))
    if content.startswith(_GZIP):
        inner = gzip.decompress(content)
        within = _within(inner, dice) if _is_archive(inner) else _text(inner, dice)
        return replace(within, content=gzip.compress(within.content, mtime=0))
    return _within(content, dice)


def _within(content: bytes, dice: Dice) -> Damaged:
    """Damage, remove or duplicate a member, and pack the archive again."""
    is_zip = content.startswith(_ZIP)
    members = _members(content, is_zip)
    at = dice.below(len(members))
    name, inner = members[at]
    made = Damaged("twice", b"")
    if dice.chance(0.7) and inner:
        made = damage(inner, dice)
        members[at] = (name, made.content)
    elif dice.chance(0.7):
        made = Damaged("gone", b"")
        del members[at]
    else:
        members.append((name, inner))
    return replace(made, how=f"{name}: {made.how}", content=(zip_of if is_zip else tar_of)(members))


def _members(content: bytes, is_zip: bool) -> list[tuple[str, bytes]]:
    if is_zip:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            return [(name, packed.read(name)) for name in packed.namelist() if not name.endswith("/")]
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        opened = [(member.name, tar.extractfile(member)) for member in tar if member.isfile()]
        return [(name, file.read()) for name, file in opened if file is not None]
