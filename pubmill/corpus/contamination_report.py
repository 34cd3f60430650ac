"""Reports on dataset texts found in parts of a corpus and in all of it: ids and counts, never text."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
    with open_parquet(part) as file:
        for batch in file.iter_batches(1000, columns=["id", "pmid", "title", "text"]):
            for row in batch.to_pylist():
                found["documents"] += 1
                matches = texts.matches(row["pmid"], f"{row['title']}\n{row['text']}")
                found["matches"] += [[row["id"], *match] for match in matches]
    write_json(output, sealed(found))


def _split_report(texts: Sequence[tuple[IndexedText, Mapping[str, tuple[bool, bool]]]]) -> dict[str, Any]:
    """Return the entry of a split; `texts`: each with the documents that contain it (by PMID, by words).
    `found_by_pmid`: null if no text has a PMID; `share`: found texts divided by all; `ids`: examples with a
    found text; `documents`: corpus documents that have one."""
    found = [(text, documents) for text, documents in texts if documents]
    held = {name for text, _ in found for name in text["examples"]}
    by_pmid = sum(any(by_pmid for by_pmid, _ in documents.values()) for _, documents in found)
    return {
        "texts": len(texts),
        "too_short": sum(not text["runs"] for text, _ in texts),
        "found": len(found),
        "found_by_pmid": by_pmid if any(text["pmid"] is not None for text, _ in texts) else None,
        "found_by_text": sum(any(words for _, words in documents.values()) for _, documents in found),
        "share": round(len(found) / len(texts), 4),
        "examples": len({name for text, _ in texts for name in text["examples"]}),
        "examples_found": len(held),
        "ids": sorted(held),
        "documents": sorted({document for _, documents in found for document in documents}),
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
    datasets: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    with open_parquet(index) as file:
        batches = file.iter_batches(1000, columns=["dataset", "split", "examples", "pmid", "runs"])
        for text, row in enumerate(row for batch in batches for row in batch.to_pylist()):
            row["runs"] = row["runs"][:1]  # whether there are any; all would fill the memory
            datasets[row["dataset"]][row["split"]].append((row, held.pop(text, {})))
    if held:
        raise PubmillError(f"{index} has no text {min(held)}, which was found: another index was used")
    reports = {
        dataset: {split: _split_report(texts) for split, texts in splits.items()}
        for dataset, splits in datasets.items()
    }
    splits = [split for of_dataset in reports.values() for split in of_dataset.values()]
    return {
        "corpus": corpus,
        "documents": documents,
        "documents_with_a_text": len({one for split in splits for one in split["documents"]}),
        "method": {"words_of_a_run": RUN, "least_share_of_runs_in_a_document": SHARE},
        "datasets": reports,
    }
