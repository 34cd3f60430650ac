"""What a source says of an article of PMC beside its XML."""

from dataclasses import dataclass

from pubmill.corpus.shards import Document
from pubmill.storage.whole_numbers import whole_number


@dataclass(frozen=True, slots=True)
class Facts:
    """An article's number and version, and what is said of it; "" where nothing is."""

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
        """The article without title and text; with these flags beside its own."""
        return Document(
            id=f"pmc:{self.pmcid}",
            version=self.version,
            pmid=self.pmid,
            date=self.date,
            licence=self.licence,
            flags=(*self.flags, *flags),
        )


def plain_pmid(written: str) -> str:
    """A PMID as PubMed writes it; "" for what is none (lists have 0 for articles that PubMed lacks)."""
    number = written.strip()
    return number.lstrip("0") if whole_number(number) is not None else ""
