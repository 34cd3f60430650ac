"""Downloads from the network, a mirror folder or this machine: complete, checked and recorded.

A mirror is a folder that holds HOST/PATH for https://HOST/PATH. The same layout serves copies made by hand,
those of `wget --force-directories`, and the miniature data of the demo.
"""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.storage.files import locked, sealed, write_json, writing
from pubmill.storage.network import discard, fetch
from pubmill.storage.result_paths import RELATIVE

CHUNK = 1 << 20
SMALL = 64 << 20  # largest size in bytes of a file that is read at once: a checksum, a listing
REFETCHES = 2  # how often a file with a wrong checksum is fetched again


class WrongContentError(PubmillError):
    """A file whose content has another checksum than the expected one."""


def download(
    url: str,
    output: Path,
    mirror: str | None = None,
    sha256: str | None = None,
    md5_beside: bool = False,
    git_blob: str | None = None,
) -> None:
    """Download the file at `url` to `output`, check it, and write its record to OUTPUT.source.json.

    `url`: https://..., or file:///... for a file of this machine; `output`: appears only once it is complete
    and checked; `mirror`: folder (or file:// URL of one) that stands in for the network; `sha256`: the
    expected digest in hex; `git_blob`: the expected id that git gives the content (`git hash-object`), in
    hex, for files of repositories whose sha256 nobody has published; `md5_beside`: check against the md5
    published at URL.md5, in NCBI's form or that of md5sum.

    Raises a `PubmillError` for a file that is unreachable, missing, truncated or not the expected one. Bytes
    received over the network stay in OUTPUT.part, and the same command resumes there.
    """
    source = _file_for(url, mirror)
    expected = {"sha256": sha256.lower()} if sha256 else {}
    if git_blob:
        expected["git_blob"] = git_blob.lower()
    if md5_beside:
        expected["md5"] = published_md5(read(f"{url}.md5", mirror), name_in(url), f"{url}.md5")
    part = output.with_name(f"{output.name}.part")
    # Two processes must not write the same part: a killed Snakemake may have left a download running.
    with locked(output.with_name(f".{output.name}.lock")), writing(output) as temporary:
        digests = _fill_part(url, source, part, expected)
        record = {
            "url": url,
            "bytes": part.stat().st_size,
            **digests,
            "origin": "local" if _is_local(url) else "network" if source is None else "mirror",
            "retrieved": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        write_json(Path(RELATIVE.source_record(str(output))), sealed(record))
        part.replace(temporary)
        discard(part)


def fetch_source(url: str, output: Path, mirror: str | None = None, md5: str = "") -> None:
    """Download one of many small files to `output`, checked as by `download`, but without a record. The
    caller must prevent simultaneous downloads of the same file, and keeps one record for all."""
    part = output.with_name(f"{output.name}.part")
    _fill_part(url, _file_for(url, mirror), part, {"md5": md5} if md5 else {})
    part.replace(output)
    discard(part)


def read(url: str, mirror: str | None = None) -> bytes:
    """Return the content of a small file, from the same places and with the same errors as `download`."""
    source = _file_for(url, mirror)
    if source is not None:
        return source.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        body = Path(folder) / "body"
        fetch(url, body, SMALL)
        return body.read_bytes()


def check(url: str, path: Path, expected: Mapping[str, str]) -> None:
    """Check the copy at `path` of the file at `url`; a `PubmillError` reports how it differs. `expected` is
    as in a spec: kind of digest (`sha256`, `git_blob`) -> its value in hex."""
    digests = _file_digests(path, "git_blob" in expected)
    if not expected.items() <= digests.items():
        raise PubmillError(_explain_difference(url, path, path.stat().st_size, expected, digests))


def published_md5(text: bytes, name: str, where: str) -> str:
    """Return the md5 in `text` for the file `name`: `MD5(name)= hex` (NCBI) or `hex  name` (md5sum)."""
    line = text.decode("utf-8", errors="replace").strip()
    match = re.fullmatch(r"MD5 ?\((?P<name>.+)\) ?= ?(?P<md5>[0-9a-fA-F]{32})", line) or re.fullmatch(
        r"(?P<md5>[0-9a-fA-F]{32})\s+\*?(?P<name>.+)", line
    )
    if match is None:
        raise PubmillError(
            f"{where}: expected one line `MD5({name})= hex` or `hex  {name}`, found {line[:200]!r}"
        )
    if match["name"].rsplit("/", 1)[-1] != name:
        raise PubmillError(f"{where}: expected the md5 of {name}, found that of {match['name']}")
    return match["md5"].lower()


def name_in(url: str) -> str:
    return unquote(urlsplit(url).path).rsplit("/", 1)[-1]


def _is_local(url: str) -> bool:
    return urlsplit(url).scheme == "file"


def _file_for(url: str, mirror: str | None) -> Path | None:
    """Return the local file for `url`, or None if it must be fetched over the network."""
    if _is_local(url):
        path = Path(unquote(urlsplit(url).path))
        advice = "check the path in the settings"
    else:
        copy = path_in_mirror(url, mirror)
        if copy is None:
            return None
        path, advice = copy, f"fetch {url} on a machine with a network connection and put it there"
    if not path.is_file():
        raise PubmillError(f"{url}: expected the file {path}, which does not exist; {advice}")
    return path


def path_in_mirror(url: str, mirror: str | None) -> Path | None:
    """Return the path of a URL's file in the mirror; None without a mirror."""
    if mirror is None:
        return None
    root = Path(unquote(urlsplit(mirror).path)) if mirror.startswith("file://") else Path(mirror)
    if not root.is_dir():
        raise PubmillError(
            f"the mirror {root} is not a folder; expected one that holds HOST/PATH for https://HOST/PATH "
            f"(`mirror:` in the config, --mirror by hand); `make world` writes the demo's"
        )
    parts = urlsplit(url)
    path = root / parts.netloc / unquote(parts.path).lstrip("/")
    if ".." in path.relative_to(root).parts:
        raise PubmillError(f"{url}: `..` is not allowed in a URL that is looked up in a mirror")
    return path


def _fill_part(url: str, source: Path | None, part: Path, expected: Mapping[str, str]) -> dict[str, str]:
    """Fill `part` with the complete, checked file and return its digests; refetch a bad network copy."""
    for left in range(REFETCHES if source is None else 0, -1, -1):
        if source is None:
            fetch(url, part)
        else:
            discard(part)  # leftovers of a broken network download are obsolete
            # A user's own file may be licensed to the user alone, so its copy is private.
            part.touch(mode=0o600 if _is_local(url) else 0o666)
            shutil.copyfile(source, part)
        digests, size = _file_digests(part, "git_blob" in expected), part.stat().st_size
        if expected.items() <= digests.items():
            return digests
        discard(part)
        if left:
            report_progress(
                f"{url}: the checksum is wrong; fetching the whole file anew (at most {left} times)"
            )
    raise WrongContentError(_explain_difference(url, source, size, expected, digests))


def _file_digests(path: Path, git_blob: bool) -> dict[str, str]:
    kinds = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
    if git_blob:
        kinds["git_blob"] = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as body:
        while block := body.read(CHUNK):
            for kind in kinds.values():
                kind.update(block)
    return {name: kind.hexdigest() for name, kind in kinds.items()}


def _explain_difference(
    url: str, source: Path | None, size: int, expected: Mapping[str, str], found: Mapping[str, str]
) -> str:
    wrong = [
        f"  {kind}: expected {value}, found {found[kind]}"
        for kind, value in expected.items()
        if found[kind] != value
    ]
    advice = f"replace {source} by a whole copy of {url}"
    if source is None:
        advice = (
            "the file has changed at its home, or something on the way answers in its place; look at\n"
            "  it, then correct the checksum in the spec or use a mirror that has the right file"
        )
    origin = source or f"the network, fetched {1 + REFETCHES} times"
    return "\n".join([f"{url}: not the expected file ({size:,} bytes from {origin})", *wrong, f"  {advice}"])
