"""Metadata of a PMC article besides its text: number, version, date, and its licence with PMC's groups."""

import re
from dataclasses import dataclass

from pubmill.corpus.shards import Document
from pubmill.storage.strict_parsing import whole_number

GROUPS = {
    "CC0": "commercial", "CC BY": "commercial", "CC BY-SA": "commercial", "CC BY-ND": "commercial",
    "CC BY-NC": "noncommercial", "CC BY-NC-SA": "noncommercial", "CC BY-NC-ND": "noncommercial",
}  # fmt: skip
"""Group of each licence; all others (none, custom, text mining only) are in `other`."""

_LINK = re.compile(
    r"creativecommons\.org/(?:licen[sc]es/(by(?:-nc)?(?:-sa|-nd)?)\b(?!-)|(publicdomain/zero))", re.I
)


@dataclass(frozen=True, slots=True)
class ArticleMetadata:
    """An article's number, version and other metadata; "" where the source states none."""

    pmcid: int
    version: int = 1
    pmid: str = ""
    date: str = ""
    licence: str = ""
    flags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"PMC{self.pmcid}.{self.version}"

    def document(self, *flags: str) -> Document:
        """Return the article without title and text, with these flags in addition to its own."""
        return Document(
            id=f"pmc:{self.pmcid}",
            version=self.version,
            pmid=self.pmid,
            date=self.date,
            licence=self.licence,
            flags=tuple(dict.fromkeys((*self.flags, *flags))),
        )


def plain_pmid(written: str) -> str:
    """Return a PMID as PubMed writes it; "" if it is not one (lists have 0 for articles not in PubMed)."""
    number = written.strip()
    return number.lstrip("0") if whole_number(number) is not None else ""


def licence_at(text: str) -> str:
    """Return the code (`CC BY-NC`) of the Creative Commons licence that a text links to; "" if none."""
    match = _LINK.search(text) if "creativecommons" in text.lower() else None
    if not match:
        return ""
    return f"CC {match[1].upper()}" if match[1] else "CC0"
