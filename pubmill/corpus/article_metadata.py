"""Metadata of a PMC article from its source, in addition to its XML."""

from dataclasses import dataclass

from pubmill.corpus.shards import Document
from pubmill.storage.strict_parsing import whole_number


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
            flags=(*self.flags, *flags),
        )


def plain_pmid(written: str) -> str:
    """Return a PMID as PubMed writes it; "" if it is not one (lists have 0 for articles not in PubMed)."""
    number = written.strip()
    return number.lstrip("0") if whole_number(number) is not None else ""
