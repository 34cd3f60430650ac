"""Citations of PubMed and articles of PMC as documents."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pubmill.corpus import medline
from pubmill.corpus.article_metadata import ArticleMetadata
from pubmill.corpus.jats import JatsReader
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError

_GZIP = b"\x1f\x8b"
_PMCID = re.compile(r"PMC(\d+)(?:\.\d+)?\.n?xml")


def read_medline(path: str | Path) -> Iterator[Document]:
    """Return an iterator over every citation of a PubMed file (pubmed26n0001.xml.gz), and every deletion, in
    the file's order.

    Raises `PubmillError` for a file that is not gzipped, a broken gzip, malformed XML (with line and last
    PMID), declared entities, and citations that lack elements required by NLM's DTD.
    """
    file = Path(path)
    try:
        with file.open("rb") as content:
            gzipped = content.read(len(_GZIP)) == _GZIP
    except OSError as error:
        raise PubmillError(f"{file} can't be read: {error.strerror}") from None
    if not gzipped:
        raise PubmillError(f"{file} is not gzipped; expected a file as PubMed distributes it (.xml.gz)")
    return medline.read_medline(file)


def read_jats(path: str | Path, pmcid: int | None = None, leave_out: Collection[str] = ()) -> Document:
    """Read one article in JATS XML, as PMC distributes it.

    `pmcid`: its number in PMC, by default that of the file's name (`PMC123.xml`, `PMC123.1.xml`);
    `leave_out`: kinds of elements to leave out, as in a corpus spec (docs/selection.md). Raises
    `PubmillError` for malformed XML, declared entities, and another PMCID in the article.
    """
    file = Path(path)
    named = _PMCID.fullmatch(file.name)
    if pmcid is None and not named:
        raise PubmillError(
            f"{file}: its name is not that of PMC's files, such as PMC1234567.xml; give the number as `pmcid`"
        )
    try:
        data = file.read_bytes()
    except OSError as error:
        raise PubmillError(f"{file} can't be read: {error.strerror}") from None
    number = pmcid if pmcid is not None else int(named[1]) if named else 0
    return JatsReader(leave_out)(data, ArticleMetadata(number), str(file))
