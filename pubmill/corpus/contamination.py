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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubmill.errors import PubmillError
from pubmill.recipes.corpora import EvaluatedDataset
from pubmill.storage.blocks import digest_of
from pubmill.storage.checksums import check_examples
from pubmill.storage.files import read_jsonl_gz, writing
from pubmill.storage.parquet import open_parquet, parquet_writer
from pubmill.storage.privacy import label_of_process

Hashes = npt.NDArray[np.uint64]

_WORD = re.compile(r"[^\W_]+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplication by it loses nothing
_KNOWN = 1_000_000


def plain_words(text: str) -> list[str]:
    """Return the runs of letters and digits, in lower case and compatibility form (NFKC). "S-100" and
    "S - 100" are the same two words, as are a ligature and its letters."""
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(plain)


class WordHashes:
    """64-bit hashes of words, the same on every machine; about a million are cached."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, words: Sequence[str]) -> Hashes:
        known = self._known
        if len(known) > _KNOWN:
            known.clear()
        for word in words:
            if word not in known:
                known[word] = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        return np.fromiter(map(known.__getitem__, words), np.uint64, len(words))


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


class Match(NamedTuple):
    """A text found in a document: its row in the index, and whether its PMID and its words matched."""

    text: int
    by_pmid: bool
    by_words: bool


def write_index(path: Path, datasets: Iterable[EvaluatedDataset], folder: Path) -> int:
    """Write the index of the texts of `datasets`, whose examples are in `folder`; return their number. Each
    text of a split is listed once, with the ids of all examples that contain it. The index contains no text:
    only hashes, from which it cannot be restored. It has the label of the process in its metadata."""
    rows = 0
    words = WordHashes()
    schema = INDEX.with_metadata(label_of_process())
    with writing(path) as temporary, parquet_writer(temporary, schema) as writer:
        for data in datasets:
            for split in data.splits:
                texts = _ids_by_text(folder / data.dataset / f"{split}.jsonl.gz", data.pmids)
                listed: list[IndexedText] = [
                    {
                        "dataset": data.dataset,
                        "split": split,
                        "examples": examples,
                        "pmid": pmid,
                        "runs": _hash_ngrams(text, words),
                    }
                    for (text, pmid), examples in texts.items()
                ]
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


def _hash_ngrams(text: str, words: WordHashes) -> list[int]:
    """Return the hashes of a text's n-grams, sorted."""
    pieces = [words(plain_words(piece)) for piece in _DUMMY.split(text)]
    return sorted({int(run) for piece in pieces for run in ngram_hashes(piece, RUN)})


class EvaluationTexts:
    """The texts of an index, prepared for the search in documents."""

    def __init__(self, index: Path) -> None:
        try:
            table = open_parquet(index).read(["pmid", "runs"]).select(["pmid", "runs"])
        except (pa.ArrowException, OSError, KeyError) as error:
            raise PubmillError(f"{index}: no index of evaluation texts: {error}") from None
        self._words = WordHashes()
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

    def matches(self, pmid: str, text: str) -> list[Match]:
        """Return the texts that a document with this PMID ("" for none) and text contains, in index order."""
        by_pmid = set(self._of_pmid.get(pmid, ()))
        by_words = set[int]()
        if len(self._runs):
            runs = ngram_hashes(self._words(plain_words(text)), RUN)
            places = np.searchsorted(self._runs, runs)
            places[places == len(self._runs)] = 0
            places = np.unique(places[self._runs[places] == runs])
            owners = [self._owners[self._starts[place] : self._ends[place]] for place in places]
            texts, counts = np.unique(np.concatenate([self._owners[:0], *owners]), return_counts=True)
            by_words = set(texts[counts >= self._needed[texts]].tolist())  # at least `SHARE` of the n-grams
        return [Match(n, n in by_pmid, n in by_words) for n in sorted(by_pmid | by_words)]
