"""One made-up file with its digests, and a mirror that has it, for tests of downloads."""

import hashlib
import random
from pathlib import Path

BODY = random.Random(1).randbytes(1_024_000)  # so that a piece in the wrong place is seen
SHA256 = hashlib.sha256(BODY).hexdigest()
MD5 = hashlib.md5(BODY).hexdigest()
GIT_BLOB = hashlib.sha1(b"blob 1024000\0" + BODY).hexdigest()
URL = "https://ftp.example.org/pubmed/baseline/f.gz"


def make_mirror(folder: Path) -> Path:
    """A mirror with the file at its URL, its md5 beside it and an empty folder."""
    baseline = folder / "mirror" / "ftp.example.org" / "pubmed" / "baseline"
    baseline.mkdir(parents=True)
    (baseline / "f.gz").write_bytes(BODY)
    (baseline / "f.gz.md5").write_text(f"MD5(f.gz)= {MD5}\n")
    (baseline / "stats").mkdir()
    return folder / "mirror"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
