"""Retractions, concerns, errata and republications, as PubMed and PMC mark them, and those of datasets.

PubMed links a citation and its notice in both directions (`CommentsCorrections`), and gives both a type
(https://www.nlm.nih.gov/bsd/policy/errata.html). Some pairs have only one of these marks, so either is
enough. NLM counts partial retractions as errata. JATS has the article's type and `related-article`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc
from lxml import etree

from pubmill.errors import PubmillError
from pubmill.storage.files import read_jsonl_gz
from pubmill.storage.parquet import open_parquet
from pubmill.storage.strict_parsing import whole_number

Corrections = tuple[tuple[str, str], ...]
"""(kind, PMID of the other citation or ""): the `RefType` of PubMed, also for PMC's articles."""

MARKS: dict[str, frozenset[str]] = {
    "retracted": frozenset({"Retracted Publication", "RetractionIn", "RetractedandRepublishedIn"}),
    "concern": frozenset({"ExpressionOfConcernIn"}),
    "erratum": frozenset({"ErratumIn", "PartialRetractionIn"}),
    "republished": frozenset({"RepublishedIn", "CorrectedandRepublishedIn", "RetractedandRepublishedIn"}),
    "retraction_notice": frozenset(
        {"Retraction of Publication", "Retraction Notice", "RetractionOf", "retraction"}
    ),
    "concern_notice": frozenset({"Expression of Concern", "ExpressionOfConcernFor", "expression-of-concern"}),
    "erratum_notice": frozenset({"Published Erratum", "ErratumFor", "PartialRetractionOf", "correction"}),
    "republication": frozenset({
        "Corrected and Republished Article", "RepublishedFrom", "CorrectedandRepublishedFrom",
        "RetractedandRepublishedFrom",
    }),
}  # fmt: skip
"""Flag of a document -> publication types of PubMed, types of JATS, and kinds of corrections that give it."""
STANDING = ("retracted", "concern", "erratum", "republished")
"""Flags of documents that are the subject of a later notice; the other flags mark the notices."""

CITED = "Cites"
"""The kind of a reference, which older files list among the corrections."""
_RELATED = {
    "retracted-article": "RetractionOf",
    "retraction-forward": "RetractionIn",
    "object-of-concern": "ExpressionOfConcernFor",
    "concern-forward": "ExpressionOfConcernIn",
    "corrected-article": "ErratumFor",
    "correction-forward": "ErratumIn",
}
"""`related-article-type` of JATS -> the same kind in PubMed."""
_HREF = "{http://www.w3.org/1999/xlink}href"
_B = rb"[ \t\r\n]*+"
_PARTS = (
    b"",
    b'<CommentsCorrections RefType="([A-Za-z]++)">',
    b"<RefSource>[^<]*+</RefSource>",
    rb'(?:<PMID(?: Version="[0-9]++")?+>([^<&]*+)</PMID>)?+',
    rb"(?:<Note>[^<]*+</Note>)?+",
    b"</CommentsCorrections>",
)
_ONE = re.compile(_B.join(_PARTS))


def plain_pmid(written: str) -> str:
    """Return a PMID as PubMed writes it; "" if it is not one (lists have 0 for articles not in PubMed)."""
    number = written.strip()
    return number.lstrip("0") if whole_number(number) is not None else ""


def flags_of(types: Iterable[str], corrections: Corrections) -> tuple[str, ...]:
    """Return the flags of a document with these types and corrections, in the order of `MARKS`."""
    marks = {*types, *(kind for kind, _ in corrections)}
    return tuple(flag for flag, giving in MARKS.items() if not giving.isdisjoint(marks))


def listed_corrections(content: bytes) -> Corrections | None:
    """Return the corrections in a `CommentsCorrectionsList`; None if it is not in NLM's usual form."""
    corrections, end = [], 0
    while one := _ONE.match(content, end):
        kind, end = one[1].decode(), one.end()
        if kind != CITED:
            corrections.append((kind, plain_pmid((one[2] or b"").decode())))
    return None if content[end:].strip(b" \t\r\n") else tuple(corrections)


def corrections_in(listed: etree._Element) -> Corrections:
    """Return the corrections of a `CommentsCorrectionsList`, without references."""
    return tuple(
        (kind, plain_pmid(one.findtext("PMID") or ""))
        for one in listed.iterchildren("CommentsCorrections")
        if (kind := one.get("RefType", "")) not in ("", CITED)
    )


def related_articles(meta: etree._Element) -> Corrections:
    """Return the corrections that the `article-meta` of an article in JATS states."""
    return tuple(
        (kind, plain_pmid(one.get(_HREF, "")) if one.get("ext-link-type") in ("pubmed", "pmid") else "")
        for one in meta.iterchildren("related-article")
        if (kind := _RELATED.get(one.get("related-article-type", "")))
    )


def documents_in(files: Iterable[Path]) -> set[str]:
    """Return the ids (`document`) that occur in the rows of files of examples or of sentences' documents."""
    return {str(row["document"]) for file in files for row in read_jsonl_gz(file) if row.get("document")}


_COLUMNS = ["id", "version", "date", "flags", "corrections", "deleted"]
DELETED = "deleted"
"""Mark of a document that PubMed has withdrawn."""


class Notice(TypedDict):
    """A document with its marks (`STANDING`, `DELETED`), the notices about it as [kind, PMID or ""], and the
    day of its last revision."""

    pmid: str
    marks: list[str]
    notices: list[list[str]]
    date: str


class NoticeList(TypedDict):
    """The number of a dataset's documents, the number `found` in the sources, and the notices on them."""

    documents: int
    found: int
    marked: list[Notice]


def notices_of(sources: Sequence[Sequence[Path]], datasets: Mapping[str, set[str]]) -> dict[str, NoticeList]:
    """Return the notices on the documents of each dataset, which are PMIDs. `sources`: the parsed shards of
    each source, in the order of authority, and within a source in the order of loading."""
    ids = pa.array([f"pmid:{pmid}" for pmid in sorted(set().union(*datasets.values()))], pa.string())
    known: dict[str, Notice] = {}
    for shards in reversed(sources):
        known |= _current_notices(shards, ids)
    return {
        name: {
            "documents": len(pmids),
            "found": len(pmids & known.keys()),
            "marked": [known[pmid] for pmid in sorted(pmids & known.keys(), key=int) if known[pmid]["marks"]],
        }
        for name, pmids in datasets.items()
    }


def _current_notices(shards: Iterable[Path], ids: pa.Array) -> dict[str, Notice]:
    """Return the state of documents after all shards of a source are loaded, by PMID."""
    records: dict[str, dict[int, Any]] = {}
    for shard in shards:
        try:
            with open_parquet(shard) as file:
                table = file.read(_COLUMNS)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise PubmillError(f"{shard}: no parsed shard: {error}") from None
        for row in table.filter(pc.is_in(table["id"], value_set=ids)).to_pylist():
            records.setdefault(row["id"].removeprefix("pmid:"), {})[row["version"]] = row
    notices: dict[str, Notice] = {}
    for pmid, versions in records.items():
        there = {version: row for version, row in versions.items() if not row["deleted"]}
        row = there[max(there)] if there else versions[max(versions)]
        notices[pmid] = {
            "pmid": pmid,
            "marks": [mark for mark in STANDING if mark in row["flags"]] if there else [DELETED],
            "notices": [[one["kind"], one["pmid"]] for one in row["corrections"]],
            "date": row["date"],
        }
    return notices
