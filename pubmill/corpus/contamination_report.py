"""Reports on dataset texts found in parts of a corpus and in all of it: ids and counts, never text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from pubmill.corpus.contamination import RUN, SHARE, EvaluationTexts, IndexedText
from pubmill.errors import PubmillError
from pubmill.storage.files import read_json, sealed, write_json
from pubmill.storage.parquet import open_parquet


class PartMatches(TypedDict):
    """The number of a part's documents, and its matches as [document, text (its row in the index), matched by
    PMID, matched by words]."""

    documents: int
    matches: list[list[Any]]


def find_in_part(part: Path, texts: EvaluationTexts, output: Path) -> None:
    """Write the matches between a corpus part and the texts of an index. The title is searched too, because
    models may read it before the text."""
    found: PartMatches = {"documents": 0, "matches": []}
    for document, pmid, text in _read_documents(part):
        found["documents"] += 1
        found["matches"] += [[document, *match] for match in texts.matches(pmid, text)]
    write_json(output, sealed(found))


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
        matches: PartMatches = read_json(path)
        documents += matches["documents"]
        for document, text, by_pmid, by_words in matches["matches"]:
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
