"""Download of articles from PMC's bucket `pmc-oa-opendata`, by shard.

A daily inventory lists the objects; `metadata/PMC13901.1.json` describes version 1 of an article and states
the location and md5 of its XML. A plan (Parquet: pmcid, version, etag, modified; sorted by PMCID) lists the
latest version of each article of one inventory. A shard consists of all articles whose PMCID has the same
first digits: `PMC00123xxxx` are 1,230,000 to 1,239,999. Its archive contains the unchanged files
`PMCn.v.json` and `PMCn.v.xml` of each.
"""

import gzip
import hashlib
import io
import re
import shutil
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pubmill.corpus.packages import read_members, read_metadata
from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import counted
from pubmill.storage.database import copy, database
from pubmill.storage.files import read_json, sealed, write_json, writing
from pubmill.storage.network import GoneError
from pubmill.storage.parquet import open_parquet, verified
from pubmill.storage.result_paths import RELATIVE
from pubmill.storage.sources import WrongContentError, fetch_source

INVENTORY = "inventory-reports/pmc-oa-opendata/metadata"
CONNECTIONS = 8  # simultaneous; NCBI states no limit, and a bucket allows far more
GONE_LIMIT = 0.1
MOST_FAILED = 100  # articles of a shard, each tried several times; then the rest is not tried
COMPRESSION = 6
MEMORY = "2GB"

_MD5 = re.compile("[0-9a-f]{32}")
_SHARD = re.compile(r"PMC(\d{1,9})(x{0,8})")
_PLAN = r"""
WITH found AS (
    SELECT regexp_extract(key, '^metadata/PMC(\d+)\.(\d+)\.json$', ['pmcid', 'version']) AS name, etag,
        modified
    FROM read_csv(getvariable('files'), header = false, auto_detect = false, delim = ',', quote = '"',
        escape = '"',
        columns = {'bucket': 'VARCHAR', 'key': 'VARCHAR', 'modified': 'VARCHAR', 'etag': 'VARCHAR'})
), versions AS (
    SELECT name.pmcid::BIGINT AS pmcid, name.version::INTEGER AS version, etag,
        epoch(modified::TIMESTAMPTZ)::BIGINT AS modified
    FROM found WHERE name.pmcid <> ''
)
SELECT pmcid, max(version) AS version, arg_max(etag, version) AS etag, arg_max(modified, version) AS modified
FROM versions GROUP BY pmcid ORDER BY pmcid
"""


class Planned(NamedTuple):
    """The latest version of an article; `modified` is in seconds since 1970."""

    pmcid: int
    version: int
    etag: str
    modified: int

    @property
    def name(self) -> str:
        return f"PMC{self.pmcid}.{self.version}"

    @property
    def md5(self) -> str:
        """The md5 of its JSON: S3's ETag of an object that was uploaded in one piece; "" for others."""
        etag = self.etag.strip('"').lower()
        return etag if _MD5.fullmatch(etag) else ""


def write_plan(path: Path, url: str, day: str, mirror: str | None) -> int:
    """Write the plan of the inventory of one day (YYYY-MM-DD); return the number of articles."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder, writing(path) as temporary:
        where = f"{url}/{INVENTORY}/{day}T01-00Z/manifest.json"
        fetch_source(where, Path(folder, "manifest.json"), mirror)
        manifest = read_json(Path(folder, "manifest.json"))
        try:
            kind, columns = manifest["fileFormat"], manifest["fileSchema"]
            if (kind, columns) != ("CSV", "Bucket, Key, LastModifiedDate, ETag"):
                raise ValueError(f"format {kind}, columns {columns}")
            listed = [(str(file["key"]), str(file["MD5checksum"])) for file in manifest["files"]]
        except (KeyError, TypeError, ValueError) as error:
            raise PubmillError(
                f"{where}: expected the manifest of an inventory in CSV with the columns Bucket, Key, "
                f"LastModifiedDate, ETag; found {error}"
            ) from None
        files = [str(Path(folder, f"{number}.csv.gz")) for number in range(len(listed))]
        for file, (key, md5) in zip(files, listed, strict=True):
            fetch_source(f"{url}/{key}", Path(file), mirror, md5)
        fault = f"the inventory of {day} at {url} cannot be read"
        with database(Path(folder, "spill"), MEMORY, fault) as connection:
            connection.execute("SET VARIABLE files = $files", {"files": files})
            copy(connection, _PLAN, temporary)
        articles = int(pq.read_metadata(temporary).num_rows)
        if not articles:
            raise PubmillError(f"the inventory of {day} at {url} names no metadata/PMC*.json")
    return articles


def shard_bounds(shard: str) -> tuple[int, int]:
    """Return the first PMCID of a shard, and the one after its last."""
    match = _SHARD.fullmatch(shard)
    if not match:
        raise PubmillError(f"{shard!r}: a shard of PMC's bucket is named like PMC00123xxxx")
    size = 10 ** len(match[2])
    return int(match[1]) * size, (int(match[1]) + 1) * size


def read_plan(path: Path, shard: str) -> list[Planned]:
    """Return the articles of one shard, sorted by PMCID."""
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; make the plan of the inventory first")
    first, end = shard_bounds(shard)
    chosen = (pc.field("pmcid") >= first) & (pc.field("pmcid") < end)
    rows = ds.dataset(verified(path)).to_table(filter=chosen).to_pylist()
    return [Planned(**row) for row in rows]


def count_by_shard(path: Path, digits: int) -> dict[str, int]:
    """Return the number of articles of a plan by shard; a shard's name fixes `digits` of the nine digits."""
    numbers = open_parquet(path).read(["pmcid"])["pmcid"].to_numpy()
    shards, counts = np.unique(numbers // 10 ** (9 - digits), return_counts=True)
    named = (f"PMC{shard:0{digits}d}{'x' * (9 - digits)}" for shard in shards.tolist())
    return dict(zip(named, counts.tolist(), strict=True))


def fetch_shard(archive: Path, planned: list[Planned], shard: str, url: str, mirror: str | None) -> None:
    """Make the archive of a shard and its record ARCHIVE.source.json.

    Every object is compared with its md5 before it is kept: the JSON with its ETag in the inventory, the XML
    with the md5 in the JSON. Objects stay in ARCHIVE.part, named by these, until all are complete; the same
    command resumes there. Those that an archive of an earlier inventory has unchanged are not downloaded
    again. Articles that have left the bucket since the inventory are recorded as gone; one that cannot be
    fetched does not stop the others.
    """
    part = archive.with_name(f"{archive.name}.part")
    part.mkdir(parents=True, exist_ok=True)
    if archive.is_file():
        with suppress(PubmillError):  # damaged, and about to be replaced
            _copy_unchanged_articles(archive, planned, part)
    failed: list[str] = []

    def bring_or_note(article: Planned) -> list[Path]:
        try:
            return _bring_article(article, part, url, mirror)
        except PubmillError as error:
            failed.append(str(error))
            if len(failed) >= MOST_FAILED:
                raise
            return []

    pool = ThreadPoolExecutor(CONNECTIONS)
    try:
        came = list(pool.map(bring_or_note, planned))
    finally:
        pool.shutdown(cancel_futures=True)
    if failed:
        raise PubmillError(
            f"{shard}: {counted(len(failed), 'article')} of {len(planned):,} could not be fetched; the "
            f"others are kept, and the same command fetches the rest. The first: {failed[0]}"
        )
    gone = [article.name for article, files in zip(planned, came, strict=True) if not files]
    if len(gone) > GONE_LIMIT * len(planned):
        raise PubmillError(
            f"{url}: {len(gone)} of the {len(planned)} articles of {shard} are gone, the first {gone[0]}; "
            f"take a later inventory"
        )
    without_xml = [article.name for article, files in zip(planned, came, strict=True) if len(files) == 1]
    record = {
        "url": url,
        "shard": shard,
        "articles": len(planned) - len(gone),
        "gone": gone,
        "without_xml": without_xml,
        "origin": "network" if mirror is None else "mirror",
        "retrieved": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with writing(archive) as temporary:
        _write_archive(temporary, [pair for pair in zip(planned, came, strict=True) if pair[1]])
        write_json(Path(RELATIVE.source_record(str(archive))), sealed(record))
    shutil.rmtree(part)
    print(f"{shard}: {record['articles']} articles, {len(without_xml)} of them without XML, {len(gone)} gone")


def _copy_unchanged_articles(archive: Path, planned: list[Planned], part: Path) -> None:
    names = {article.name: article for article in planned}
    for member, data in read_members(archive):
        name, _, kind = member.name.rpartition(".")
        if name in names and (kind == "xml" or _md5(data) == names[name].md5):
            with writing(part / f"{name}.{_md5(data)}.{kind}") as temporary:
                temporary.write_bytes(data)


def _bring_article(article: Planned, part: Path, url: str, mirror: str | None) -> list[Path]:
    """Return the files of an article: its JSON, and its XML if it has one; none if it is gone."""
    described = part / f"{article.name}.{article.md5}.json"
    where = f"{url}/metadata/{article.name}.json"
    try:
        if not _is_whole(described, article.md5):
            try:
                fetch_source(where, described, mirror, article.md5)
            except WrongContentError as error:
                raise PubmillError(
                    f"{error}\n  the checksum is its ETag in the inventory. If the article has been revised "
                    f"since, take a later `inventory:`; unchanged articles are not fetched again"
                ) from None
        value = read_metadata(described.read_bytes(), where)
        if (value["pmcid"], int(value["version"])) != (f"PMC{article.pmcid}", article.version):
            raise PubmillError(f"{where}: describes {value['pmcid']} version {value['version']}")
        if value.get("xml_url") is None:
            return [described]
        address = urlsplit(str(value["xml_url"]))  # s3://pmc-oa-opendata/PMC13901.1/PMC13901.1.xml?md5=HEX
        md5, key = parse_qs(address.query).get("md5", [""])[0].lower(), address.path.removeprefix("/")
        if address.scheme != "s3" or not _MD5.fullmatch(md5) or ".." in key.split("/"):
            fault = f"expected `xml_url` as s3://BUCKET/KEY?md5=HEX, found {value['xml_url']!r}"
            raise PubmillError(f"{where}: {fault}")
        content = part / f"{article.name}.{md5}.xml"
        if not _is_whole(content, md5):
            fetch_source(f"{url}/{key}", content, mirror, md5)
    except GoneError as error:
        report_progress(str(error))
        return []
    return [described, content]


def _is_whole(file: Path, md5: str) -> bool:
    return file.is_file() and _md5(file.read_bytes()) == md5


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def _write_archive(path: Path, articles: list[tuple[Planned, list[Path]]]) -> None:
    """Write a gzipped tar; a member's time is when its article was last modified in the bucket."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=COMPRESSION, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for article, files in articles:
            for file in files:
                data = file.read_bytes()
                member = tarfile.TarInfo(f"{article.name}{file.suffix}")
                member.size, member.mtime = len(data), article.modified
                archive.addfile(member, io.BytesIO(data))
                archive.members = []  # type: ignore[attr-defined]  # tarfile keeps every member
