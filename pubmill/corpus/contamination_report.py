"""Reports on dataset texts found in parts of a corpus and in all of it: ids and counts, never text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from pubmill.corpus.contamination import RUN, SHARE, EvaluationTexts, IndexedText
from pubmill.errors import PubmillError
from pubmill.storage.files import read_json, sealed, sha256, write_json
from pubmill.storage.parquet import open_parquet


class PartMatches(TypedDict):
    """The digest of a part, the number of its documents, and its matches as [document, text (its row in the
    index), matched by PMID, matched by words]."""

    sha256: str
    documents: int
    matches: list[list[Any]]


def find_in_parts(parts: Iterable[Path], index: Path, output: Path, version: str = "") -> int:
    """Write the matches between corpus parts and an index of texts; return the number of matching documents.

    The title is searched too, because models may read it before the text. If `output` is there, made with the
    same index and the same `version` of the search, the matches of parts that have not changed since are
    taken from it.
    """
    made_with = [version, sha256(index)]
    known = _known_matches(output, made_with)
    texts = cache(lambda: EvaluationTexts(index))  # loaded for the first part that is searched
    matches = [
        known.get(digest) or _search(part, digest, texts()) for part in parts for digest in [sha256(part)]
    ]
    write_json(output, sealed({"made_with": made_with, "parts": matches}))
    return len({match[0] for one in matches for match in one["matches"]})


def _known_matches(path: Path, made_with: list[str]) -> dict[str, PartMatches]:
    """Return an earlier output's matches by SHA-256 of the part; {} if it is missing, damaged or outdated."""
    try:
        stored = read_json(path) if path.is_file() else {}
    except PubmillError:  # damaged, and about to be replaced
        return {}
    return {one["sha256"]: one for one in stored["parts"]} if stored.get("made_with") == made_with else {}


def _search(part: Path, digest: str, texts: EvaluationTexts) -> PartMatches:
    documents, matches = 0, list[list[Any]]()
    for document, pmid, text in _read_documents(part):
        documents += 1
        matches += [[document, *match] for match in texts.matches(pmid, text)]
    return {"sha256": digest, "documents": documents, "matches": matches}


def _read_documents(part: Path) -> Iterator[tuple[str, str, str]]:
    with open_parquet(part) as file:
        for batch in file.iter_batches(1000, columns=["id", "pmid", "title", "text"]):
            for row in batch.to_pylist():
                yield row["id"], row["pmid"], f"{row['title']}\n{row['text']}"


class SplitReport(TypedDict):
    """Texts of a split that are in the corpus. `found_by_pmid`: null if no text has a PMID; `share`: found
    texts divided by all; `ids`: examples with a found text; `documents`: corpus documents that have one."""

    texts: int
    too_short: int
    found: int
    found_by_pmid: int | None
    found_by_text: int
    share: float | None
    examples: int
    examples_found: int
    ids: list[str]
    documents: list[str]


@dataclass
class _Split:
    """Counts of one split's texts."""

    texts: int = 0
    short: int = 0
    with_pmid: int = 0
    by_pmid: int = 0
    by_words: int = 0
    found: int = 0
    examples: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)

    def add(self, row: IndexedText, documents: dict[str, tuple[bool, bool]]) -> None:
        """Count a text of the index and the documents that contain it (by PMID, by words)."""
        self.texts += 1
        self.short += not row["runs"]
        self.with_pmid += row["pmid"] is not None
        self.by_pmid += any(by_pmid for by_pmid, _ in documents.values())
        self.by_words += any(by_words for _, by_words in documents.values())
        self.examples.update(row["examples"])
        if documents:
            self.found += 1
            self.held.update(row["examples"])
            self.documents.update(documents)

    def as_json(self) -> SplitReport:
        """Return the counts as an entry of the report."""
        return {
            "texts": self.texts,
            "too_short": self.short,
            "found": self.found,
            "found_by_pmid": self.by_pmid if self.with_pmid else None,
            "found_by_text": self.by_words,
            "share": round(self.found / self.texts, 4) if self.texts else None,
            "examples": len(self.examples),
            "examples_found": len(self.held),
            "ids": sorted(self.held),
            "documents": sorted(self.documents),
        }


def report(corpus: str, index: Path, found_in: Iterable[Path]) -> dict[str, Any]:
    """Return for each dataset and split how many texts are in the corpus, and which."""
    held: dict[int, dict[str, tuple[bool, bool]]] = {}
    documents = 0
    for path in found_in:
        for one in read_json(path)["parts"]:
            documents += one["documents"]
            for document, text, by_pmid, by_words in one["matches"]:
                held.setdefault(text, {})[document] = (by_pmid, by_words)
    splits: dict[tuple[str, str], _Split] = {}
    for text, row in enumerate(_read_texts(index)):
        splits.setdefault((row["dataset"], row["split"]), _Split()).add(row, held.pop(text, {}))
    if held:
        raise PubmillError(f"{index} has no text {min(held)}, which was found: another index was used")
    datasets: dict[str, dict[str, SplitReport]] = {}
    for (dataset, split), one in splits.items():
        datasets.setdefault(dataset, {})[split] = one.as_json()
    return {
        "corpus": corpus,
        "documents": documents,
        "documents_with_a_text": len(set().union(*(one.documents for one in splits.values()))),
        "method": {"words_of_a_run": RUN, "least_share_of_runs_in_a_document": SHARE},
        "datasets": datasets,
    }


def _read_texts(index: Path) -> Iterator[IndexedText]:
    with open_parquet(index) as file:
        for batch in file.iter_batches(1000, columns=["dataset", "split", "examples", "pmid", "runs"]):
            yield from batch.to_pylist()
