"""Other people's files in every form that is read: damaged, recoded, nested, with repeated keys."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

from pubmill.errors import PubmillError
from tests.attack import attack, sound_files, submissions
from tests.attack.sound_files import Reader
from tests.damage import damage
from tests.world.dice import Dice

ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "cp037")
VALUES = (
    "NaN", "Infinity", "-1", "true", "null", "1e999", "9" * 5_000, '"7"', '"\\ud800"', '"\\u0000"', "[]",
    "{}", "[null]", '{"a": 1}', '""', "0.5", '"\\u202e\\n"', "1e3",
)  # fmt: skip
PIECES = (
    "\0", "\ufeff", "\r", "\r\n", "\n\n", "\x0b", "\x1c", "\x85", "\u2028", "\x1b[2J", "\ufffe", "\t",
    "\u0661", "\\ud800", "\\u0000", " ", "a" * 2_000_000, "\n" * 5_000, '"', "<", "&x;", "<!--",
)  # fmt: skip
BLANK = (b"", b"\n", b" ", bytes(100), b"\xef\xbb\xbf", b"\xff\xfe")
NESTS = (("[", "]"), ('{"a":', "}"), ("<a>", "</a>"), ("<document>", "</document>"))
LONGEST_MESSAGE = 2_000

_VALUE = re.compile(r'(?<=[:\[,] )("[^"]*"|[-\d.]+|null|true|false|\[[^\[\]]*\]|\{[^{}]*\})')
_PAIR = re.compile(r'("[^"]+": )("[^"]*"|\d+|\[[^\[\]]*\])')
_ELEMENT = re.compile(r"<(\w+)>[^<>]*</\1>")
_CONTENT = re.compile(r"(?<=: )[^,:{}\[\]]+|(?<=>)[^<]+")


READERS: list[Reader] = [*sound_files.READERS, *submissions.READERS]


def _replaced(text: str, pattern: re.Pattern[str], dice: Dice, change: Callable[[re.Match[str]], str]) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = dice.pick(found)
    return text[: match.start()] + change(match) + text[match.end() :]


def _inserted(text: str, dice: Dice) -> str:
    place = dice.pick([0, len(text), dice.below(len(text))])
    return text[:place] + dice.pick(PIECES) + text[place:]


def _nested(text: str, dice: Dice) -> str:
    opening, closing = dice.pick(NESTS)
    depth = dice.pick([300, 100_000])
    deep = opening * depth + "1" + closing * dice.pick([0, depth])
    return deep if dice.chance(0.5) else _replaced(text, _CONTENT, dice, lambda match: deep)


def _value_changed(text: str, dice: Dice) -> str:
    return _replaced(text, _VALUE, dice, lambda match: dice.pick(VALUES))


def _repeated(text: str, dice: Dice) -> str:
    """Give a key of a JSON object, or an element of XML, a second value after its own."""
    if _PAIR.search(text):
        value = dice.pick(['"x"', "1", "[]", "null"])
        return _replaced(text, _PAIR, dice, lambda match: f"{match[0]}, {match[1]}{value}")
    return _replaced(text, _ELEMENT, dice, lambda match: f"{match[0]}<{match[1]}>5</{match[1]}>")


def _damaged(text: str, dice: Dice) -> bytes:
    content = text.encode()
    for _ in range(dice.between(1, 3)):
        content = damage(content or b"x", dice).content
    return content


DAMAGES: dict[str, Callable[[str, Dice], str | bytes]] = {
    "another encoding": lambda text, dice: text.encode(dice.pick(ENCODINGS), "replace"),
    "something inserted": _inserted, "deep nesting": _nested, "another value": _value_changed,
    "a key repeated": _repeated, "nothing in it": lambda text, dice: dice.pick(BLANK),
    "random bytes": lambda text, dice: bytes(dice.below(256) for _ in range(dice.below(300))),
    "damage": _damaged, "more damage": _damaged,
}  # fmt: skip
GZIP_DAMAGES: dict[str, Callable[[bytes, Dice], bytes]] = {
    "gzip: empty": lambda packed, dice: b"",
    "gzip: cut": lambda packed, dice: packed[: dice.below(len(packed))],
    "gzip: not packed": lambda packed, dice: gzip.decompress(packed),
    "gzip: something after it": lambda packed, dice: packed + b"x",
}
UNSEEN = {"another encoding", "a key repeated", *GZIP_DAMAGES}
"""Damage after which a file must be refused, or read as without it."""


def hostile(reader: Reader, dice: Dice) -> tuple[str, bytes]:
    """Return a kind of damage, and the reader's file with it."""
    sound = reader.content()
    if isinstance(sound, bytes):
        return "damage", damage(sound, dice).content
    packs = reader.name.endswith(".gz")
    if packs and dice.chance(0.2):
        kind = dice.pick(sorted(GZIP_DAMAGES))
        return kind, GZIP_DAMAGES[kind](gzip.compress(sound.encode(), mtime=0), dice)
    kind = dice.pick(sorted(DAMAGES))
    made = DAMAGES[kind](sound, dice)
    content = made.encode() if isinstance(made, str) else made
    return kind, gzip.compress(content, mtime=0) if packs else content


def sound_content(reader: Reader) -> bytes:
    sound = reader.content()
    content = sound.encode() if isinstance(sound, str) else sound
    return gzip.compress(content, mtime=0) if reader.name.endswith(".gz") else content


@attack("readers", cases=5_000, quick=60)
def case(dice: Dice, folder: Path) -> str:
    """Texts, tables, JSON, BioC, PubTator, CSV, LaTeX, predictions: recoded, cut, with NUL, endless lines,
    deep nesting, repeated keys or odd values: refused in one message that names the file, or read; a repeated
    key, another encoding and a cut gzip file never change what is read."""
    reader = dice.pick(READERS)
    path = folder / reader.name
    kind, content = hostile(reader, dice)
    path.write_bytes(content)
    try:
        found = reader.read(path)
    except PubmillError as error:
        named = any(name in str(error) for name in (path.name, *reader.named))
        fits = named and len(str(error)) <= LONGEST_MESSAGE
        return "" if fits else f"{reader.name}: {kind}: not named, or long: {error!s:.300}"
    if kind not in UNSEEN - reader.unseen:
        return ""
    path.write_bytes(sound_content(reader))
    same = found == reader.read(path)
    return "" if same else f"{reader.name}: {kind} was not seen: {content[:200]!r}"
