"""Texts of datasets' dev and test splits, and the documents that hold them.

A text is known by its PMID, where its dataset has PMIDs, and by its words: a document holds a text if it has
at least half of the text's runs of 13 successive words. Brown et al. (2020), "Language models are few-shot
learners", appendix C, compare 13-grams of words without case and punctuation, down to 8-grams for short
texts, as is done here with texts of 8 to 12 words; shorter ones can't be told from chance and are counted
as `short`. They take one common 13-gram for a sign; medical prose has many that are nobody's
("there was no significant difference between the two groups ..."), hence the half, in one document.

No text of a dataset is written anywhere: the index has hashes, reports have ids and counts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pubmill.corpus.ngrams import Hashes, WordHashes, ngram_hashes, plain_words
from pubmill.errors import PubmillError
from pubmill.files import read_jsonl_gz, writing

LENGTHS = (13, 8)
"""Words of a run: of a text with at least so many of them in a row, and of a shorter one."""
SHARE = 0.5
"""Of a text's runs that a document must have to hold the text."""

INDEX = pa.schema(
    [
        ("dataset", pa.string()),
        ("split", pa.string()),
        ("examples", pa.list_(pa.string())),
        ("pmid", pa.string()),
        ("length", pa.int32()),
        ("runs", pa.list_(pa.uint64())),
    ]
)
_DUMMY = re.compile(r"@[^\s@$]+\$")
"""What stands for a mention in published forms of relations (`@GENE$`): no run of words reaches over it."""


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """A dataset whose texts are looked for: its splits, and whether its documents are known by PMID."""

    dataset: str
    splits: list[str]
    pmids: bool


class Match(NamedTuple):
    """A text that a document holds: its row in the index, and whether that is known by PMID and by its words."""

    text: int
    by_pmid: bool
    by_words: bool


def write_index(path: Path, datasets: Iterable[Evaluated], folder: Path) -> int:
    """Write the index of the texts of `datasets`, whose examples lie in `folder`; give the number of texts.

    Each text of a split is there once, with the ids of all examples that it is in. The index has no text:
    only hashes, which don't give it back.
    """
    rows = 0
    words = WordHashes()
    with writing(path) as temporary, pq.ParquetWriter(temporary, INDEX, compression="zstd") as writer:
        for data in datasets:
            for split in data.splits:
                texts = _texts(folder / data.dataset / f"{split}.jsonl.gz", data.pmids)
                found = [_row(data.dataset, split, *one, words) for one in texts.items()]
                writer.write_table(pa.Table.from_pylist(found, INDEX))
                rows += len(found)
    return rows


def _texts(path: Path, pmids: bool) -> dict[tuple[str, str | None], list[str]]:
    """(text, PMID) -> ids of the examples that it is in."""
    texts: dict[tuple[str, str | None], list[str]] = {}
    for example in read_jsonl_gz(path):
        document = str(example["document"]) if pmids and example["document"] is not None else ""
        pmid = str(int(document)) if document.isascii() and document.isdigit() else None
        for text in _of(example):
            ids = texts.setdefault((text, pmid), [])
            if example["id"] not in ids[-1:]:
                ids.append(example["id"])
    return texts


def _of(example: Mapping[str, Any]) -> Iterator[str]:
    """The texts of an example of any kind: a sentence, each of a pair, a question and its context."""
    if "words" in example:
        yield " ".join(example["words"])
    for name in ("text", "text_pair", "question", "context"):
        if example.get(name):
            yield example[name]


def _row(
    dataset: str, split: str, text: tuple[str, str | None], examples: list[str], words: WordHashes
) -> dict[str, Any]:
    length, runs = _runs(text[0], words)
    return {
        "dataset": dataset, "split": split, "examples": examples, "pmid": text[1], "length": length, "runs": runs,
    }  # fmt: skip


def _runs(text: str, words: WordHashes) -> tuple[int, list[int]]:
    """Length and hashes of the runs that a text is known by; length 0 of one that is too short."""
    pieces = [words(plain_words(piece)) for piece in _DUMMY.split(text)]
    for length in LENGTHS:
        runs = {int(run) for piece in pieces for run in ngram_hashes(piece, length)}
        if runs:
            return length, sorted(runs)
    return 0, []


class EvaluationTexts:
    """The texts of an index, ready to be looked for in documents."""

    def __init__(self, index: Path) -> None:
        try:
            table = pq.read_table(index, columns=["pmid", "length", "runs"])
        except (pa.ArrowException, OSError, KeyError) as error:
            raise PubmillError(f"{index}: no index of evaluation texts: {error}") from None
        self._words = WordHashes()
        self._of_pmid: dict[str, list[int]] = {}
        for text, pmid in enumerate(table["pmid"].to_pylist()):
            if pmid is not None:
                self._of_pmid.setdefault(f"pmid:{pmid}", []).append(text)
        lengths = table["length"].to_numpy()
        runs = table["runs"].combine_chunks()
        counts = runs.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        self._needed = np.ceil(counts * SHARE).astype(np.int64)
        owners = np.repeat(np.arange(len(counts)), counts)
        hashes = runs.flatten().to_numpy(zero_copy_only=False).astype(np.uint64)
        self._tables = [
            (length, _Table(hashes[chosen], owners[chosen]))
            for length in LENGTHS
            if (chosen := lengths[owners] == length).any()
        ]

    def found(self, document: str, text: str) -> list[Match]:
        """The texts that a document with this id and text holds, in the index's order."""
        by_pmid = set(self._of_pmid.get(document, ()))
        words = self._words(plain_words(text))
        by_words = {n for length, table in self._tables for n in self._held(table, ngram_hashes(words, length))}
        return [Match(n, n in by_pmid, n in by_words) for n in sorted(by_pmid | by_words)]

    def _held(self, table: "_Table", runs: Hashes) -> Iterator[int]:
        texts, counts = np.unique(table.owners(runs), return_counts=True)
        for text, count in zip(texts.tolist(), counts.tolist(), strict=True):
            if count >= self._needed[text]:
                yield text


class _Table:
    """Runs of words and the texts that have them."""

    def __init__(self, hashes: Hashes, owners: Any) -> None:
        order = np.argsort(hashes, kind="stable")
        self._owners = owners[order]
        self._runs, self._starts = np.unique(hashes[order], return_index=True)
        self._ends = np.append(self._starts[1:], len(hashes))

    def owners(self, runs: Hashes) -> Any:
        """The texts that have these runs, one for each run that a text has; a run counts once."""
        places = np.searchsorted(self._runs, runs)
        places[places == len(self._runs)] = 0
        places = np.unique(places[self._runs[places] == runs])
        if not len(places):
            return self._owners[:0]
        return np.concatenate([self._owners[self._starts[p] : self._ends[p]] for p in places])
