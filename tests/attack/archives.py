"""Malicious archives: changed headers with a correct checksum, broken pax records, no end, damaged bytes.

Those of released models: paths that lead out of the folder, links, several models.
"""

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipInfo

from pubmill.corpus.packages import read_fetched, read_members
from pubmill.errors import PubmillError
from pubmill.storage.archives import members, unpack_model
from pubmill.storage.model_folders import COPIED, PICKLED
from tests.attack import attack
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


@attack("archives", cases=2_000, quick=60)
def _case(dice: Dice, folder: Path) -> str:
    """Tars with changed headers, broken pax records or no end, damaged archives of all kinds: their files
    within bounds, or one message; nothing is written."""
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


NAMES = "config.json pytorch_model.bin model.safetensors vocab.txt spiece.model README.md LICENSE".split()
HOSTILE = (
    "modeling.py", "optimizer.pt", "..", ".", ".json", "..json", "a\\b.json", "..\\config.json",
    "C:config.json", "a" * 300 + ".json", "-rf.json", "caf\u00e9.json", "\u202egnp.json", "con fig.json",
    "config.json ", "config.json/", "vocab.txt\n", "x\0.json", "*.json", "~.json", ".bashrc",
    "authorized_keys.txt",
)  # fmt: skip
FOLDERS = (
    "", "m/", "m/m-hf/", "./", "m/./", "../", "../../", "m/../", "m/../../../", "/", "/tmp/", "//", "/etc/",
    "m//", "..\\", "~/", "m/config.json/",
)  # fmt: skip
LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)
TARGETS = ("/etc/passwd", "../..", "../outside", "config.json", "m", "/")


def _model_members(dice: Dice) -> list[tuple[str, bytes]]:
    """Names and contents: mostly a model in one folder, and others that should not be there."""
    home = dice.pick(FOLDERS)
    made = [(f"{home}{name}", name.encode()) for name in NAMES if dice.chance(0.8)]
    for _ in range(dice.below(4)):
        made.append((dice.pick(FOLDERS) + dice.pick([*NAMES, *HOSTILE]), b"hostile"))
    return made


def _model_tar(dice: Dice) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in _model_members(dice):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            if dice.chance(0.15):
                entry.type, entry.linkname, entry.size = dice.pick(LINKS), dice.pick(TARGETS), 0
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue()) if dice.chance(0.7) else packed.getvalue()


@attack("model-archives", cases=2_000, quick=40)
def _model_case(dice: Dice, folder: Path) -> str:
    """Archives of models with paths that lead elsewhere, links, devices, several models, damage: one model
    folder of weights and texts, or one message; nothing is written elsewhere."""
    content = _model_tar(dice)
    if dice.chance(0.2):
        content = zipped({ZipInfo(name).filename: inside for name, inside in _model_members(dice)})
    archive, work = folder / "model.tar.gz", folder / "in/work"
    archive.write_bytes(damage(content, dice).content if dice.chance(0.3) else content)
    work.mkdir(parents=True)
    try:
        unpack_model(archive, work / "model")
    except PubmillError as error:
        if str(archive) not in str(error) or "\n" in str(error):
            return f"not one line that names the archive: {error!s:.200}"
    paths = [path for path in folder.rglob("*") if path != archive and path not in (work, work.parent)]
    if strays := [path for path in paths if work not in path.parents or path.is_symlink()]:
        return f"{strays[0]} is outside of the folder, or a link"
    allowed = [*COPIED, PICKLED]
    files = [path for path in paths if path.is_file()]
    if odd := [path for path in files if not any(path.match(pattern) for pattern in allowed)]:
        return f"{odd[0]} was unpacked"
    return ""
