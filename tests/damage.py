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

from tests.world.dice import Dice

TextDamage = Callable[[bytes, Dice], bytes]
Members = list[tuple[str, bytes]]


@dataclass(frozen=True)
class Damaged:
    """Damaged bytes, a description of the damage, and whether it is within one line."""

    how: str
    content: bytes
    in_line: bool


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


def _at(content: bytes, dice: Dice) -> int:
    return dice.below(len(content)) if content else 0


def _cut(content: bytes, dice: Dice) -> bytes:
    return content[: _at(content, dice)]


def _hole(content: bytes, dice: Dice) -> bytes:
    place = _at(content, dice)
    return content[:place] + content[place + dice.between(1, 200) :]


def _byte(content: bytes, dice: Dice) -> bytes:
    place = _at(content, dice)
    return content[:place] + bytes([dice.between(32, 126)]) + content[place + 1 :]


def _not_utf8(content: bytes, dice: Dice) -> bytes:
    place = _at(content, dice)
    return content[:place] + b"\xff" + content[place + 1 :]


def _line(content: bytes, dice: Dice, change: Callable[[list[bytes], int], list[bytes]]) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join(change(lines, dice.below(len(lines))))


def _line_gone(content: bytes, dice: Dice) -> bytes:
    return _line(content, dice, lambda lines, at: lines[:at] + lines[at + 1 :])


def _line_twice(content: bytes, dice: Dice) -> bytes:
    return _line(content, dice, lambda lines, at: lines[: at + 1] + lines[at:])


def _lines_swapped(content: bytes, dice: Dice) -> bytes:
    return _line(content, dice, lambda lines, at: [*lines[:at], *lines[at : at + 2][::-1], *lines[at + 2 :]])


def _columns_swapped(content: bytes, dice: Dice) -> bytes:
    def change(lines: list[bytes], at: int) -> list[bytes]:
        cells = lines[at].split(b"\t")
        one, other = dice.below(len(cells)), dice.below(len(cells))
        cells[one], cells[other] = cells[other], cells[one]
        return [*lines[:at], b"\t".join(cells), *lines[at + 1 :]]

    return _line(content, dice, change)


def _tab_inserted(content: bytes, dice: Dice) -> bytes:
    place = _at(content, dice)
    return content[:place] + b"\t" + content[place:]


def _one_of(content: bytes, dice: Dice, pattern: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Change one match of the pattern."""
    found = [match.span() for match in re.finditer(pattern, content)]
    if not found:
        return content
    start, end = dice.pick(found)
    return content[:start] + change(content[start:end]) + content[end:]


def _mark_gone(content: bytes, dice: Dice) -> bytes:
    """Remove a character that structures the file: a tab, quotation mark, bracket, colon, bar ..."""
    return _one_of(content, dice, rb'[\t<>"{}\[\]:,|=]', lambda mark: b"")


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


def _word_changed(content: bytes, dice: Dice) -> bytes:
    """Change a keyword, label or id: a word in capitals, in quotation marks, or after a tab."""
    return _one_of(
        content, dice, rb"(?<=[\t\"|])[A-Za-z][\w:-]*|\b[A-Z]{2,}\b", lambda word: word[:-1] + b"q"
    )


TEXT: dict[str, TextDamage] = {
    "cut": _cut, "a hole": _hole, "a byte changed": _byte, "a byte that is no UTF-8": _not_utf8,
    "a line gone": _line_gone, "a line twice": _line_twice, "lines swapped": _lines_swapped,
    "columns swapped": _columns_swapped, "a tab inserted": _tab_inserted, "a mark gone": _mark_gone,
    "a digit changed": _digit_changed, "a number changed": _field_number_changed,
    "a word changed": _word_changed, "empty": lambda content, dice: b"",
}  # fmt: skip
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
        return Damaged(f"the archive: {kind}", TEXT[kind](content, dice), in_line=False)
    if content.startswith(_GZIP):
        inner = gzip.decompress(content)
        within = _within(inner, dice) if _is_archive(inner) else _text(inner, dice)
        return replace(within, content=gzip.compress(within.content, mtime=0))
    return _within(content, dice)


def _within(content: bytes, dice: Dice) -> Damaged:
    """Damage, remove or duplicate a member, and pack the archive again."""
    zipped = content.startswith(_ZIP)
    members = _zip_members(content) if zipped else _tar_members(content)
    at = dice.below(len(members))
    name, inner = members[at]
    if dice.chance(0.7) and inner:
        made = damage(inner, dice)
        members[at] = (name, made.content)
    elif dice.chance(0.7):
        made = Damaged("gone", b"", in_line=False)
        del members[at]
    else:
        made = Damaged("twice", b"", in_line=False)
        members.append((name, inner))
    packed = _zip(members) if zipped else _tar(members)
    return replace(made, how=f"{name}: {made.how}", content=packed)


def _tar_members(content: bytes) -> Members:
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        opened = [(member.name, tar.extractfile(member)) for member in tar if member.isfile()]
        return [(name, file.read()) for name, file in opened if file is not None]


def _zip_members(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return [(name, zipped.read(name)) for name in zipped.namelist() if not name.endswith("/")]


def _tar(members: Members) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return target.getvalue()


def _zip(members: Members) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in members:
            zipped.writestr(zipfile.ZipInfo(name), content)
    return target.getvalue()
