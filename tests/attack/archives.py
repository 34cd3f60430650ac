"""Malicious archives: changed headers with a correct checksum, broken pax records, no end, damaged bytes."""

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

from pubmill.corpus.packages import read_fetched, read_members
from pubmill.errors import PubmillError
from pubmill.storage.archives import members
from tests.attack import Attack
from tests.damage import TEXT, damage
from tests.world.archives import zipped
from tests.world.dice import Dice

BLOCK = 512
MOST = 50_000_000
"""Bytes that may come of any archive here: each is made of less than a megabyte."""
FIELDS = {
    "name": (0, 100), "mode": (100, 8), "size": (124, 12), "mtime": (136, 12), "type": (156, 1),
    "link": (157, 100),
    "magic": (257, 8), "device": (329, 8), "prefix": (345, 155),
}  # fmt: skip
VALUES = (
    b"", b"\0" * 12, b"\xff" * 12, b"\x80" + b"\x7f" * 11, b"77777777777", b"-0000000001", b"x", b"8",
    b"9999999999", b" 10",
    b"../../etc/passwd", b"/etc/passwd", b"\x1b[2J", b"\xff\xfe", b"1", b"2", b"5", b"7", b"g", b"x",
    b"L", b"K", b"S", b"V", b"\0",
)  # fmt: skip
RECORDS = (
    b"11 size=-5\n", b"20 size=99999999999\n", b"9 mtime=\n", b"13 mtime=inf\n", b"13 mtime=nan\n",
    b"6 a=b", b"0 =\n", b"-5 a=b\n",
    b"99999999999999999999999 a=b\n", b"999 path=x\n", b"17 path=../../x\n", b"12 path=a\0b\n",
    b"24 GNU.sparse.major=1\n",
    b"22 GNU.sparse.map=0,0\n", b"27 GNU.sparse.realsize=9999\n", b"21 hdrcharset=BINARY\n",
    b"10 uid=x\n", b"\0", b"\xff\xff",
)  # fmt: skip
PACKED: tuple[Callable[[bytes], bytes], ...] = (
    gzip.compress, gzip.compress, bz2.compress, lzma.compress, bytes,
)  # fmt: skip


def _header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    made = tarfile.TarInfo(name)
    made.size, made.type = size, kind
    return made.tobuf(tarfile.USTAR_FORMAT)


def _changed(header: bytes, dice: Dice) -> bytes:
    """Return a header with another value in one field and, mostly, a correct checksum."""
    start, length = FIELDS[dice.pick(list(FIELDS))]
    value = dice.pick(VALUES)[:length].ljust(length, b"\0")
    header = header[:start] + value + header[start + length :]
    if dice.chance(0.1):
        return header
    total = sum(header[:148]) + sum(header[156:]) + 8 * 32
    return header[:148] + b"%06o\0 " % total + header[156:]


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % BLOCK)


def _tar(dice: Dice) -> bytes:
    parts = []
    for number in range(dice.between(1, 4)):
        if dice.chance(0.4):
            records = b"".join(dice.pick(RECORDS) for _ in range(dice.between(1, 3)))
            kind = dice.pick([tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
            parts += [_header("x", len(records), kind), _padded(records)] * dice.pick([1, 1, 2, 2_000])
        content = bytes([65 + number]) * dice.pick([0, 1, 511, 512, 2_000])
        header = _header(f"PMC{number}.1.{dice.pick(['json', 'xml'])}", len(content))
        parts += [_changed(header, dice) if dice.chance(0.6) else header, _padded(content)]
    end = dice.pick([b"", bytes(BLOCK), bytes(2 * BLOCK), bytes(2 * BLOCK), bytes(20 * BLOCK), b"x" * BLOCK])
    made = b"".join(parts) + end
    return made[: dice.below(len(made))] if dice.chance(0.2) else made


def _content(dice: Dice) -> bytes:
    if dice.chance(0.2):
        made = zipped({f"{number}.txt": bytes(dice.below(3_000)) for number in range(3)})
        return damage(made, dice).content
    made = dice.pick(PACKED)(_tar(dice))
    return TEXT[dice.pick(["cut", "a hole", "a byte changed"])](made, dice) if dice.chance(0.2) else made


def _case(dice: Dice, folder: Path) -> str:
    path = folder / "PMC.tar.gz"
    path.write_bytes(_content(dice))
    for read in (members, read_members, read_fetched):
        total = 0
        try:
            for found in read(path):
                total += len(found[1])
                if total > MOST:
                    return f"{read.__name__} gives more than {MOST:,} bytes"
        except PubmillError as error:
            if str(path) not in str(error) or "\n" in str(error):
                return f"{read.__name__}: not one line that names the archive: {error!s:.200}"
    if {found.name for found in folder.iterdir()} != {path.name}:
        return "something was written"
    return ""


ATTACKS = (
    Attack(
        name="archives",
        fault="tars with changed headers, broken pax records or no end, damaged archives of all kinds",
        survived="their files within bounds, or one message; nothing is written", case=_case, cases=2_000,
        quick=60,
    ),
)  # fmt: skip
