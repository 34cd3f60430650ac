"""Numbers of documents with notices in files of PubMed and in parsed shards."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from pubmill.corpus.medline import file_order, read_medline
from pubmill.corpus.notices import MARKS
from pubmill.corpus.shards import Document, read_shard

MARK_COLUMNS = ("mark", "documents", "type and link", "type only", "link only", "PMID of the other")


def count_marks(files: Iterable[Path]) -> tuple[int, list[tuple[str, ...]]]:
    """Return the number of documents in files, and for each mark the columns `MARK_COLUMNS`. Files of PubMed
    are loaded in NCBI's order, parsed shards (`.parquet`) before them in the order of their names; the last
    record of each version of a document counts."""
    counts: dict[str, Counter[str]] = {mark: Counter() for mark in MARKS}
    documents = _documents(files)
    for document in documents:
        for mark in set(document.flags) & MARKS.keys():
            links = [pmid for kind, pmid in document.corrections if kind in MARKS[mark]]
            by_type = not MARKS[mark].isdisjoint(document.types)
            how = "both" if by_type and links else "type" if by_type else "link" if links else "source"
            counts[mark].update([how, *(["known"] if any(links) else []), "all"])
    order = ("all", "both", "type", "link", "known")
    return len(documents), [(mark, *(str(one[how]) for how in order)) for mark, one in counts.items()]


def _documents(files: Iterable[Path]) -> list[Document]:
    """Return the documents without their texts, after all files are loaded."""
    documents: dict[tuple[str, int], Document] = {}
    paths = list(files)
    shards = sorted((path for path in paths if path.suffix == ".parquet"), key=str)
    ordered = sorted((path for path in paths if path.suffix != ".parquet"), key=file_order)
    parsed = (document for path in shards for _, document in read_shard(path))
    cited = (document for path in ordered for document in read_medline(path))
    for document in chain(parsed, cited):
        if document.deleted:
            documents.pop((document.id, document.version), None)
        else:
            documents[document.id, document.version] = document._replace(title="", sections=(), body=())
    return list(documents.values())
