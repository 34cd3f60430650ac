"""Gzipped tar archives of articles, streamed: nothing is unpacked to disk, nothing outside is reached.

Two kinds are read: PMC's packages (`oa_comm_xml.PMC003xxxxxx.baseline.2024-12-18.tar.gz`, each with a file
list beside it), and the archives that `pubmill.corpus.pmc` makes of the bucket's articles.
"""

import csv
import datetime
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from pubmill.corpus.facts import Facts, plain_pmid
from pubmill.corpus.gzipped import BROKEN, open_gzip
from pubmill.errors import PubmillError

# Far above the largest real article (tens of MB).
ARTICLE_LIMIT = 1 << 27
PADDING_LIMIT = 1 << 20
DAMAGED: tuple[type[Exception], ...] = (*BROKEN, tarfile.TarError, OSError)

_PACKAGE = re.compile(r"(?P<kind>\w+)\.(?:PMC\d+x+\.baseline|incr)\.(?P<date>\d{4}-\d\d-\d\d)\.tar\.gz", re.I)
_OBJECT = re.compile(r"PMC(?P<pmcid>\d+)\.(?P<version>\d+)\.(?P<kind>json|xml)")
_COLUMNS = (
    "Article File",
    "AccessionID",
    "LastUpdated (YYYY-MM-DD HH:MM:SS)",
    "PMID",
    "License",
    "Retracted",
)


class Article(NamedTuple):
    """One article as it was filed: its XML (empty where the source has none), and what is known beside."""

    name: str
    data: bytes
    facts: Facts


class _Bounded:
    """A stream that ends with an error where a member or the padding is larger than can be."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.stream, self.path, self.left = stream, path, ARTICLE_LIMIT

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise PubmillError(f"{self.path}: more than {ARTICLE_LIMIT >> 20} MiB without an end of a member")
        return data


def read_members(path: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield every file of an archive with its content; folders are passed over.

    Raises `PubmillError` for members outside (absolute, `..`), links and devices, members of more than
    `ARTICLE_LIMIT` bytes, and what is truncated or damaged, the gzip's checksum included.
    """
    last = "none"
    try:
        with open_gzip(path) as stream:
            bounded = _Bounded(stream, path)
            with tarfile.open(fileobj=cast(IO[bytes], bounded), mode="r|") as archive:
                for member in archive:
                    if _is_file(member, path):
                        last = member.name
                        content = archive.extractfile(member)
                        assert content is not None
                        yield member, content.read()
                    bounded.left = ARTICLE_LIMIT + PADDING_LIMIT
                    archive.members = []  # type: ignore[attr-defined]  # it keeps every member that it has seen
            bounded.left = PADDING_LIMIT
            while bounded.read(1 << 16):  # the checksum stands at the end
                pass
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except DAMAGED as error:
        raise PubmillError(
            f"{path}: truncated or damaged archive ({error}); last member read: {last}. "
            f"Delete the file and download it again."
        ) from None


def _is_file(member: tarfile.TarInfo, path: Path) -> bool:
    """Whether the member is a file that may be read; False for a folder."""
    parts = member.name.replace("\\", "/").split("/")
    if member.name.startswith(("/", "\\")) or ".." in parts:
        raise PubmillError(f"{path}: {member.name!r} lies outside of the archive; refused")
    if member.isdir():
        return False
    if not member.isfile():
        raise PubmillError(f"{path}: {member.name!r} is a link or device, not a file; refused")
    if member.size > ARTICLE_LIMIT:
        raise PubmillError(
            f"{path}: {member.name!r} has {member.size:,} bytes, more than any article; refused"
        )
    return True


def package_order(path: Path) -> int:
    """The place of a package in the order of loading: its date as a number."""
    return int(_package(path)["date"].replace("-", ""))


def read_package(path: Path, filelist: Path) -> Iterator[Article]:
    """Yield the articles of one of PMC's packages, with what its file list says of them.

    Raises `PubmillError` also where archive and list don't name the same files.
    """
    flags = ("manuscript",) if _package(path)["kind"].startswith("author_manuscript") else ()
    rows = _read_filelist(filelist)
    for member, data in read_members(path):
        row = rows.pop(member.name, None)
        if row is None:
            raise PubmillError(f"{path}: {member.name!r} is not in {filelist.name}, or is there twice")
        yield Article(member.name, data, _facts_of_row(row, flags, filelist))
    if rows:
        raise PubmillError(
            f"{path}: lacks {len(rows):,} of the files in {filelist.name}, the first {next(iter(rows))}: "
            f"one of the two is not whole, or not of the same date. Download both again."
        )


def read_fetched(path: Path) -> Iterator[Article]:
    """Yield the articles of an archive that was made of the bucket: `PMCn.v.json`, then `PMCn.v.xml`."""
    waiting: Article | None = None
    for member, data in read_members(path):
        found = _OBJECT.fullmatch(member.name)
        if not found:
            raise PubmillError(f"{path}: {member.name!r}: expected PMC1234.1.json or PMC1234.1.xml")
        if found["kind"] == "json":
            if waiting:
                yield waiting
            day = datetime.datetime.fromtimestamp(member.mtime, datetime.UTC).date().isoformat()
            where = f"{path}:{member.name}"
            waiting = Article(member.name, b"", _facts_of_json(read_metadata(data, where), day, where))
        elif waiting and (waiting.facts.pmcid, waiting.facts.version) == (int(found[1]), int(found[2])):
            yield waiting._replace(name=member.name, data=data)
            waiting = None
        else:
            raise PubmillError(f"{path}: {member.name!r} comes without its JSON before it")
    if waiting:
        yield waiting


def read_metadata(data: bytes, where: str) -> dict[str, Any]:
    """The bucket's JSON on one article; a `PubmillError` where it is not such."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PubmillError(f"{where}: not valid JSON: {error}") from None
    if not isinstance(value, dict) or not re.fullmatch(r"PMC\d+", str(value.get("pmcid"))):
        raise PubmillError(f"{where}: expected an object with a `pmcid` such as PMC13901")
    if not str(value.get("version")).isdecimal():
        raise PubmillError(f"{where}: expected a whole number as `version`, found {value.get('version')!r}")
    return value


def _facts_of_json(value: dict[str, Any], day: str, where: str) -> Facts:
    flags = []
    for flag, key in (
        ("retracted", "is_retracted"), ("manuscript", "is_manuscript"), ("ocr", "is_historical_ocr"),
    ):  # fmt: skip
        if not isinstance(value.get(key), bool):
            raise PubmillError(f"{where}: `{key}` must be true or false, found {value.get(key)!r}")
        flags += [flag] if value[key] else []
    return Facts(
        pmcid=int(value["pmcid"][3:]),
        version=int(value["version"]),
        pmid=plain_pmid(str(value.get("pmid") or "")),
        date=day,
        licence=str(value.get("license_code") or ""),
        flags=tuple(flags),
    )


def _package(path: Path) -> re.Match[str]:
    found = _PACKAGE.fullmatch(path.name)
    if not found:
        raise PubmillError(
            f"{path}: a package of PMC is named like oa_comm_xml.PMC003xxxxxx.baseline.2024-12-18.tar.gz or "
            f"oa_comm_xml.incr.2024-12-19.tar.gz; its date says which version of an article is the later "
            f"one. Give the file its original name."
        )
    return found


def _read_filelist(path: Path) -> dict[str, dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            if missing := [name for name in _COLUMNS if name not in (reader.fieldnames or ())]:
                raise PubmillError(f"{path}: lacks the column {missing[0]!r}; expected PMC's file list")
            rows = {row["Article File"]: row for row in reader}
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise PubmillError(f"{path}: not a CSV file in UTF-8: {error}") from None
    return rows


def _facts_of_row(row: dict[str, str], flags: tuple[str, ...], path: Path) -> Facts:
    found = re.fullmatch(r"PMC(\d+)", row["AccessionID"] or "")
    retracted = {"no": (), "yes": ("retracted",)}.get(row["Retracted"] or "")
    if not found or retracted is None:
        raise PubmillError(
            f"{path}: {row['Article File']}: expected an AccessionID such as PMC13901 and Retracted yes or "
            f"no, found {row['AccessionID']!r}, {row['Retracted']!r}"
        )
    return Facts(
        pmcid=int(found[1]),
        pmid=plain_pmid(row["PMID"] or ""),
        date=row[_COLUMNS[2]][:10],
        licence=row["License"] or "",
        flags=(*retracted, *flags),
    )
