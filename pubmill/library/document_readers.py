"""Citations of PubMed and articles of PMC as documents."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pubmill.corpus import medline
from pubmill.corpus.jats import JatsReader
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError

_PMCID = re.compile(r"PMC(\d+)(?:\.\d+)?\.n?xml")


def read_medline(path: str | Path) -> Iterator[Document]:
    """Return an iterator over every citation of a PubMed file (pubmed26n0001.xml.gz, or plain XML as NCBI's
    efetch gives it), and every deletion, in the file's order.

    Raises `PubmillError` for a broken gzip, malformed XML (with line and last PMID), declared entities, and
    citations that lack elements required by NLM's DTD.
    """
    documents = medline.read_medline(_readable(path))
    return (one._replace(pmid=one.id.removeprefix("pmid:")) if one.deleted else one for one in documents)


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
    number = pmcid if pmcid is not None else int(named[1]) if named else 0
    return JatsReader(leave_out)(_readable(file).read_bytes(), Document(f"pmc:{number}"), str(file))


def _readable(path: str | Path) -> Path:
    file = Path(path)
    try:
        file.open("rb").close()
    except OSError as error:
        raise PubmillError(f"{file} can't be read: {error.strerror}") from None
    return file
