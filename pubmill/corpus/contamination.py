"""Search for documents that contain texts of datasets' dev and test splits.

A text is identified by its PMID, if its dataset has PMIDs, and by its words: a document contains a text if it
has at least half of the text's 13-grams of words. Brown et al. (2020), "Language models are few-shot
learners", appendix C, compare 13-grams of words without case and punctuation, and count one common 13-gram
as a match. Medical prose has common phrases ("data collection and analysis: two authors independently
assessed ..."), so half of them must be in one document here. Brown et al. use n-grams of down to 8 words for
short texts; here a text under 13 words is reported as `too_short`, because the runs of 8 to 12 words that are
found in abstracts are mostly common phrases ("a double-blind, placebo-controlled, cross-over study").

No text of a dataset is ever written: the index contains hashes, reports contain ids and counts.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubmill.errors import PubmillError
from pubmill.recipes.corpora import EvaluatedDataset
from pubmill.storage.blocks import digest_of
from pubmill.storage.checksums import check_examples
from pubmill.storage.files import read_json, read_jsonl_gz, sealed, write_json, writing
from pubmill.storage.parquet import open_parquet, parquet_writer
from pubmill.storage.privacy import label_of_process

Hashes = npt.NDArray[np.uint64]

_WORD = re.compile(r"[^\W_]+")
_KNOWN = 1_000_000
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplication by it loses nothing


def plain_words(text: str) -> list[str]:
    """Return the runs of letters and digits, in lower case and compatibility form (NFKC). "S-100" and
    "S - 100" are the same two words, as are a ligature and its letters."""
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(plain)


class _WordHashes(dict[str, int]):
    def __missing__(self, word: str) -> int:
        self[word] = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        return self[word]


_HASHES = _WordHashes()


def word_hashes(words: Sequence[str]) -> Hashes:
    """Return 64-bit hashes of words, the same on every machine; about a million are cached."""
    if len(_HASHES) > _KNOWN:
        _HASHES.clear()
    return np.fromiter(map(_HASHES.__getitem__, words), np.uint64, len(words))


def ngram_hashes(words: Hashes, n: int) -> Hashes:
    """Return a hash of each n-gram of words, in order; empty if there are fewer than `n` words."""
    count = len(words) - n + 1
    if count <= 0:
        return np.empty(0, np.uint64)
    total = np.zeros(count, np.uint64)
    for k in range(n):
        total *= _MULTIPLIER
        total += words[k : k + count]
    return total


RUN = 13
"""Number of words of an n-gram."""
SHARE = 0.5
"""Share of a text's n-grams that a document must have to contain the text."""

_TEXT, _RUNS = pa.string(), pa.list_(pa.uint64())
INDEX = pa.schema(
    {"dataset": _TEXT, "split": _TEXT, "examples": pa.list_(_TEXT), "pmid": _TEXT, "runs": _RUNS}
)
"""A text of a split, with the ids of the examples that contain it."""
_DUMMY = re.compile(r"@[^\s@$]+\$")
"""Placeholder of a mention in published forms of relations (`@GENE$`), which no n-gram spans."""


class IndexedText(TypedDict):
    """A row of the index: a text of a split, and the ids of the examples that contain it."""

    dataset: str
    split: str
    examples: list[str]
    pmid: str | None
    runs: list[int]


def write_index(path: Path, datasets: Iterable[EvaluatedDataset], folder: Path) -> int:
    """Write the index of the texts of `datasets`, whose examples are in `folder`; return their number. Each
    text of a split is listed once, with the ids of all examples that contain it. The index contains no text:
    only hashes, from which it cannot be restored. It has the label of the process in its metadata."""
    rows = 0
    schema = INDEX.with_metadata(label_of_process())
    with writing(path) as temporary, parquet_writer(temporary, schema) as writer:
        for data in datasets:
            for split in data.splits:
                texts = _ids_by_text(folder / data.dataset / f"{split}.jsonl.gz", data.pmids)
                listed: list[IndexedText] = []
                for (text, pmid), examples in texts.items():
                    pieces = [word_hashes(plain_words(piece)) for piece in _DUMMY.split(text)]
                    runs = sorted({int(run) for piece in pieces for run in ngram_hashes(piece, RUN)})
                    listed.append({
                        "dataset": data.dataset, "split": split, "examples": examples, "pmid": pmid,
                        "runs": runs,
                    })  # fmt: skip
                writer.write_table(pa.Table.from_pylist(listed, schema))
                rows += len(listed)
    return rows


def _ids_by_text(path: Path, pmids: bool) -> dict[tuple[str, str | None], list[str]]:
    """Return (text, PMID) -> ids of the examples that contain it."""
    texts: dict[tuple[str, str | None], list[str]] = {}
    check_examples(path)
    for example in read_jsonl_gz(path):
        document = str(example["document"]) if pmids and example["document"] is not None else ""
        pmid = str(int(document)) if document.isascii() and document.isdigit() else None
        # A sentence, each text of a pair, or a question and its context.
        shown = [" ".join(example["words"])] if "words" in example else []
        names = ("text", "text_pair", "question", "context")
        for text in (*shown, *(example[name] for name in names if example.get(name))):
            ids = texts.setdefault((text, pmid), [])
            if example["id"] not in ids[-1:]:
                ids.append(example["id"])
    return texts


class EvaluationTexts:
    """The texts of an index, prepared for the search in documents."""

    def __init__(self, index: Path) -> None:
        try:
            table = open_parquet(index).read(["pmid", "runs"]).select(["pmid", "runs"])
        except (pa.ArrowException, OSError, KeyError) as error:
            raise PubmillError(f"{index}: no index of evaluation texts: {error}") from None
        self._of_pmid: dict[str, list[int]] = {}
        for text, pmid in enumerate(table["pmid"].to_pylist()):
            if pmid is not None:
                self._of_pmid.setdefault(pmid, []).append(text)
        runs = table["runs"].combine_chunks()
        counts = runs.value_lengths().to_numpy(zero_copy_only=False)
        self._needed = np.ceil(counts * SHARE)
        hashes = runs.flatten().to_numpy(zero_copy_only=False)
        order = np.argsort(hashes, kind="stable")
        self._owners = np.repeat(np.arange(len(counts)), counts)[order]
        self._runs, self._starts = np.unique(hashes[order], return_index=True)
        self._ends = np.append(self._starts[1:], len(hashes))

    @classmethod
    def excluded(cls, index: Path | None) -> tuple["EvaluationTexts | None", str]:
        """Return the texts that a corpus must not contain and the SHA-256 of their index, if there is one."""
        return (cls(index), digest_of(index)) if index else (None, "")

    def matches(self, pmid: str, text: str) -> list[tuple[int, bool, bool]]:
        """Return the texts that a document with this PMID ("" for none) and text contains: their rows in the
        index, in order, and whether their PMID and their words matched."""
        by_pmid = set(self._of_pmid.get(pmid, ()))
        by_words = set[int]()
        if len(self._runs):
            runs = ngram_hashes(word_hashes(plain_words(text)), RUN)
            places = np.searchsorted(self._runs, runs)
            places[places == len(self._runs)] = 0
            places = np.unique(places[self._runs[places] == runs])
            owners = [self._owners[self._starts[place] : self._ends[place]] for place in places]
            texts, counts = np.unique(np.concatenate([self._owners[:0], *owners]), return_counts=True)
            by_words = set(texts[counts >= self._needed[texts]].tolist())  # at least `SHARE` of the n-grams
        return [(n, n in by_pmid, n in by_words) for n in sorted(by_pmid | by_words)]


def find_in_part(part: Path, texts: EvaluationTexts, output: Path) -> None:
    """Write the number of a corpus part's documents, and the matches between them and the texts of an index:
    [document, text (its row in the index), matched by PMID, matched by words]. The title is searched too,
    because models may read it before the text."""
    documents, found = 0, list[tuple[str, int, bool, bool]]()
    with open_parquet(part) as file:
        for batch in file.iter_batches(1000, columns=["id", "pmid", "title", "text"]):
            for row in batch.to_pylist():
                documents += 1
                matches = texts.matches(row["pmid"], f"{row['title']}\n{row['text']}")
                found += [(row["id"], *match) for match in matches]
    write_json(output, sealed({"documents": documents, "matches": found}))


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
        found = read_json(path)
        documents += found["documents"]
        for document, text, by_pmid, by_words in found["matches"]:
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
