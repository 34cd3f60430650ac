"""Streaming readers of gzipped tar archives of articles, which unpack nothing to disk.

They read two kinds: PMC's packages (`oa_comm_xml.PMC003xxxxxx.baseline.2024-12-18.tar.gz`, each with a file
list beside it), and the archives that `pubmill.corpus.pmc` makes from the bucket's articles.
"""

import csv
import datetime
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.corpus.notices import plain_pmid
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.storage.archives import BROKEN, Limits, TooLargeError, open_content, tar_members
from pubmill.storage.strict_parsing import unique_keys, whole_number

# Far larger than any real article (tens of MB).
ARTICLE_LIMIT = 134_217_728
# Far larger than all articles of a package (about 10 GB).
PACKAGE_LIMIT = 274_877_906_944

_PACKAGE = re.compile(r"(?P<kind>\w+)\.(?:PMC\d+x+\.baseline|incr)\.(?P<date>\d{4}-\d\d-\d\d)\.tar\.gz", re.I)
_OBJECT = re.compile(r"PMC(?P<pmcid>[0-9]{1,18})\.(?P<version>[0-9]{1,18})\.(?P<kind>json|xml)")
_FLAG_KEYS = {"retracted": "is_retracted", "manuscript": "is_manuscript", "ocr": "is_historical_ocr"}
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9:]{8})?")
_UPDATED = "LastUpdated (YYYY-MM-DD HH:MM:SS)"
_COLUMNS = ("Article File", "AccessionID", _UPDATED, "PMID", "License", "Retracted")


class Article(NamedTuple):
    """One article of an archive: its XML (empty if the source has none); and it without title and text, as
    the archive describes it."""

    name: str
    data: bytes
    facts: Document


def read_members(path: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield every file of an archive with its content; skip folders. Raises `PubmillError` for members
    outside of the archive (absolute, `..`), links and devices, members of more than `ARTICLE_LIMIT` bytes,
    and truncated or damaged archives, including a wrong gzip checksum."""
    last = "none"
    try:
        with open_content(path) as stream:
            for member, content in tar_members(stream, Limits(ARTICLE_LIMIT, PACKAGE_LIMIT)):
                if member.name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", member.name):
                    raise PubmillError(f"{path}: {member.name!r} lies outside of the archive; refused")
                if not member.isdir() and not member.isfile():
                    raise PubmillError(f"{path}: {member.name!r} is a link or device, not a file; refused")
                if member.isfile():
                    last = member.name
                    yield member, content
    except TooLargeError as error:
        raise PubmillError(f"{path}: {error}; refused") from None
    except BROKEN as error:
        raise PubmillError(
            f"{path}: truncated or damaged archive ({error}); last member read: {last}. "
            f"Delete the file and download it again."
        ) from None


def package_order(path: Path) -> int:
    return int(_parse_package_name(path)["date"].replace("-", ""))


def read_package(path: Path, filelist: Path) -> Iterator[Article]:
    """Yield the articles of one of PMC's packages, with their metadata in its file list. Raises
    `PubmillError` also if archive and list do not contain the same files."""
    flags = ("manuscript",) if _parse_package_name(path)["kind"].startswith("author_manuscript") else ()
    rows = _read_filelist(filelist)
    for member, data in read_members(path):
        row = rows.pop(member.name, None)
        if row is None:
            raise PubmillError(f"{path}: {member.name!r} is not in {filelist.name}, or is there twice")
        match = re.fullmatch(r"PMC([0-9]{1,18})", row["AccessionID"])
        retracted = {"no": (), "yes": ("retracted",)}.get(row["Retracted"])
        date = row[_UPDATED]
        if not match or retracted is None or not _TIME.fullmatch(date):
            raise PubmillError(
                f"{filelist}: {member.name!r:.60}: expected an AccessionID such as PMC13901, Retracted yes "
                f"or no, and a date, found {row['AccessionID']!r:.60}, {row['Retracted']!r:.60}, {date!r:.60}"
            )
        facts = Document(
            id=f"pmc:{int(match[1])}",
            pmid=plain_pmid(row["PMID"]),
            date=date[:10],
            licence=row["License"],
            flags=(*retracted, *flags),
        )
        yield Article(member.name, data, facts)
    if rows:
        raise PubmillError(
            f"{path}: lacks {len(rows):,} of the files in {filelist.name}, the first {next(iter(rows))}: "
            f"one of the two is not whole, or not of the same date. Download both again."
        )


def read_fetched(path: Path) -> Iterator[Article]:
    """Yield the articles of an archive made from the bucket: `PMCn.v.json`, then `PMCn.v.xml`."""
    waiting: Article | None = None
    for member, data in read_members(path):
        match = _OBJECT.fullmatch(member.name)
        if not match:
            raise PubmillError(f"{path}: {member.name!r}: expected PMC1234.1.json or PMC1234.1.xml")
        if match["kind"] == "json":
            if waiting:
                yield waiting
            where = f"{path}:{member.name}"
            try:
                day = datetime.datetime.fromtimestamp(member.mtime, datetime.UTC).date().isoformat()
            except (ValueError, OverflowError, OSError):
                fault = f"{where}: its time {member.mtime!r:.40} is no date; fetch it again"
                raise PubmillError(fault) from None
            value = read_metadata(data, where)
            flags = []
            for flag, key in _FLAG_KEYS.items():
                if not isinstance(value.get(key), bool):
                    fault = f"`{key}` must be true or false, found {value.get(key)!r:.60}"
                    raise PubmillError(f"{where}: {fault}")
                flags += [flag] if value[key] else []
            facts = Document(
                id=f"pmc:{int(value['pmcid'][3:])}",
                version=int(value["version"]),
                pmid=plain_pmid(str(value.get("pmid") or "")),
                date=day,
                licence=str(value.get("license_code") or ""),
                flags=tuple(flags),
            )
            waiting = Article(member.name, b"", facts)
        elif waiting and waiting.facts[:2] == (f"pmc:{int(match[1])}", int(match[2])):
            yield waiting._replace(name=member.name, data=data)
            waiting = None
        else:
            raise PubmillError(f"{path}: {member.name!r} comes without its JSON before it")
    if waiting:
        yield waiting


def read_metadata(data: bytes, where: str) -> dict[str, Any]:
    """Return the bucket's JSON of one article; raise a `PubmillError` if it is invalid."""
    try:
        value = json.loads(data, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise PubmillError(f"{where}: not valid JSON: {error}") from None
    if not isinstance(value, dict) or not re.fullmatch(r"PMC[0-9]{1,18}", str(value.get("pmcid"))):
        raise PubmillError(f"{where}: expected an object with a `pmcid` such as PMC13901")
    version = value.get("version")
    if whole_number(str(version)) is None:
        raise PubmillError(f"{where}: expected a whole number as `version`, found {version!r:.60}")
    return value


def _parse_package_name(path: Path) -> re.Match[str]:
    match = _PACKAGE.fullmatch(path.name)
    if not match:
        raise PubmillError(
            f"{path}: a package of PMC is named like oa_comm_xml.PMC003xxxxxx.baseline.2024-12-18.tar.gz or "
            f"oa_comm_xml.incr.2024-12-19.tar.gz; its date decides which version of an article is the "
            f"later one. Give the file its original name."
        )
    return match


def _read_filelist(path: Path) -> dict[str, dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            if missing := [name for name in _COLUMNS if name not in (reader.fieldnames or ())]:
                raise PubmillError(f"{path}: lacks the column {missing[0]!r}; expected PMC's file list")
            rows: dict[str, dict[str, str]] = {}
            for row in reader:
                if None in row or None in row.values() or row["Article File"] in rows:
                    raise PubmillError(
                        f"{path}:{reader.line_num}: {row['Article File']!r:.60} is there twice, or the line "
                        f"has other fields than the header; download the list again"
                    )
                rows[row["Article File"]] = row
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise PubmillError(f"{path}: not a CSV file in UTF-8: {error}") from None
    return rows
