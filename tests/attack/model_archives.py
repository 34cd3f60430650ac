"""Archives of released models: paths that lead out of the folder, links, several models, damaged bytes."""

import gzip
import io
import tarfile
from pathlib import Path
from zipfile import ZipInfo

from pubmill.errors import PubmillError
from pubmill.storage.archives import unpack_model
from pubmill.storage.model_folders import COPIED, PICKLED
from tests.attack import Attack
from tests.damage import damage
from tests.world.archives import zipped
from tests.world.dice import Dice

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


def _members(dice: Dice) -> list[tuple[str, bytes]]:
    """Names and contents: mostly a model in one folder, and others that should not be there."""
    home = dice.pick(FOLDERS)
    made = [(f"{home}{name}", name.encode()) for name in NAMES if dice.chance(0.8)]
    for _ in range(dice.below(4)):
        made.append((dice.pick(FOLDERS) + dice.pick([*NAMES, *HOSTILE]), b"hostile"))
    return made


def _tar(dice: Dice) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in _members(dice):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            if dice.chance(0.15):
                entry.type, entry.linkname, entry.size = dice.pick(LINKS), dice.pick(TARGETS), 0
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue()) if dice.chance(0.7) else packed.getvalue()


def _zip(dice: Dice) -> bytes:
    return zipped({ZipInfo(name).filename: content for name, content in _members(dice)})


def _case(dice: Dice, folder: Path) -> str:
    content = _zip(dice) if dice.chance(0.2) else _tar(dice)
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


ATTACKS = (
    Attack(
        name="model-archives",
        fault="archives of models with paths that lead elsewhere, links, devices, several models, damage",
        survived="one model folder of weights and texts, or one message; nothing is written elsewhere",
        case=_case, cases=2_000, quick=40,
    ),
)  # fmt: skip
