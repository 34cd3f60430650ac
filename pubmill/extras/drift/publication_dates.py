"""Dates of publication of a corpus's documents: the year of its parsed shards, and PubMed's month."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa

from pubmill.corpus.dataset_documents import wanted_rows
from pubmill.corpus.gzipped import BROKEN, open_gzip
from pubmill.corpus.medline_bytes import ARTICLE_END
from pubmill.errors import PubmillError

CHUNK = 1 << 22
_PMID = re.compile(rb'<PMID Version="[0-9]+">([0-9]+)</PMID>')
_PRINTED = re.compile(rb"<PubDate>\s*<Year>\s*([0-9]{4})\s*</Year>\s*<Month>\s*([A-Za-z]{3}|[0-9]{1,2})")
NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: n for n, name in enumerate(NAMES, 1)} | {
    f"{n:{pad}}": n for n in range(1, 13) for pad in ("", "02")
}
"""What PubMed calls a month, in lower case -> its number."""


def dates_of(names: Collection[str], shard: Path, file: Path | None) -> dict[str, str]:
    """Return the dates of documents, by id: YYYY-MM, or YYYY where the source has no month.

    `shard`: the parsed shard with all of them; `file`: its PubMed file, if it is from PubMed. A later row
    about a document replaces an earlier one. Documents without a year are left out.
    """
    rows = wanted_rows(shard, "id", pa.array(sorted(names), pa.string()), ["id", "pmid", "published"])
    by_id = {row["id"]: row for row in rows.to_pylist()}
    months = months_of({row["pmid"] for row in by_id.values() if row["pmid"]}, file) if file else {}
    dates = {name: months.get(row["pmid"], row["published"]) for name, row in by_id.items()}
    return {name: date for name, date in dates.items() if date}


def months_of(pmids: Collection[str], file: Path) -> dict[str, str]:
    """Return the months in which a PubMed file says that citations were published, YYYY-MM by PMID."""
    months: dict[str, str] = {}
    for article in _articles(file):
        number = _PMID.search(article)
        if number is None or (pmid := str(int(number[1]))) not in pmids:
            continue
        printed = _PRINTED.search(article, number.end())
        if printed and (month := MONTHS.get(printed[2].decode().lower())):
            months[pmid] = f"{printed[1].decode()}-{month:02d}"
        else:
            months.pop(pmid, None)
    return months


def _articles(file: Path) -> Iterator[bytes]:
    """Yield the citations of a PubMed file, each up to its end tag."""
    rest = b""
    try:
        with open_gzip(file) as content:
            while chunk := content.read(CHUNK):
                *whole, rest = (rest + chunk).split(ARTICLE_END)
                yield from whole
    except BROKEN as error:
        raise PubmillError(f"{file}: not a whole gzip file: {error}. Delete it and fetch it again") from None
