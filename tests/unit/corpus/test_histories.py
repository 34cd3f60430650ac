"""Random histories of PubMed: a corpus that is updated day by day has the bytes of one built from scratch.

`Corpus.update` runs a step only if an input's bytes or its list of inputs changed, as Snakemake does between
the rounds of `pubmill update`, and stops before any step if it is killed.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from pubmill.corpus.contamination import write_index
from pubmill.corpus.contamination_report import find_in_parts, report
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.duplicates import write_duplicates
from pubmill.corpus.fingerprints import write_fingerprints
from pubmill.corpus.part_tables import divide_by_part
from pubmill.corpus.shards import Document, write_shard
from pubmill.corpus.statistics import select, total, write_manifest
from pubmill.recipes.corpora import EvaluatedDataset, SelectionRecipe
from pubmill.storage import files
from pubmill.storage.files import write_json, write_jsonl_gz

SELECTION = SelectionRecipe(min_words=3, without=("retracted",))
WORDS = ("gene", "cell", "mouse", "dose", "trial", "risk")


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_sync", lambda path: None)


class KilledError(Exception):
    """The end of a process in the middle of an update."""


class History:
    """PubMed's files on each day: (year and number, its citations and deletions)."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.known: dict[int, Document] = {}
        self.files = [(26_0001 + n, self._baseline(n)) for n in range(dice.randint(1, 3))]

    def _document(self, pmid: int, version: int = 1) -> Document:
        dice = self.dice
        text = " ".join(dice.choices(WORDS, k=dice.randint(0, 16)))
        self.known[pmid] = Document(
            id=f"pmid:{pmid}", pmid=str(pmid), version=version, sections=(("", text),) if text else (),
            flags=("retracted",) if dice.random() < 0.1 else (),
        )  # fmt: skip
        return self.known[pmid]

    def _baseline(self, number: int) -> list[Document]:
        return [self._document(10 * number + k) for k in range(self.dice.randint(0, 6))]

    def next_day(self) -> None:
        if self.dice.random() < 0.1:
            return self._roll_over()
        rows = []
        for _ in range(self.dice.randint(0, 4)):
            pmid, kind = self.dice.randint(0, 40), self.dice.random()
            version = self.dice.choice((1, 1, 1, 2))
            if kind < 0.25:
                rows.append(Document(id=f"pmid:{pmid}", version=version, deleted=True))
                self.known.pop(pmid, None)
            else:
                rows.append(self._document(pmid, version))
        self.files.append((self.files[-1][0] + 1, rows))

    def _roll_over(self) -> None:
        """Replace all files by the baseline of the next year, in other files and another order."""
        rows, first = list(self.known.values()), (self.files[-1][0] // 10_000 + 1) * 10_000 + 1
        self.dice.shuffle(rows)
        cut = self.dice.randint(0, len(rows))
        self.files = [(first, rows[:cut]), (first + 1, rows[cut:])]


class Corpus:
    """A corpus in a folder, of which only steps with changed inputs run."""

    def __init__(self, folder: Path, index: Path) -> None:
        folder.mkdir()
        self.folder, self.index = folder, index
        self.done: dict[Path, str] = {}
        self.runs: list[str] = []
        self.left: float = float("inf")

    def update(self, files: Sequence[tuple[int, list[Document]]], left: float = float("inf")) -> None:
        """Bring the corpus to the day of these files; raise `KilledError` after so many steps."""
        self.left = left
        shards = [self.folder / f"parsed-{order}.parquet" for order, _ in files]
        for shard, (order, rows) in zip(shards, files, strict=True):
            self._step("parse", shard, [], lambda path, o=order, r=rows: write_shard(  # type: ignore[misc]
                path, r, source="pubmed", file=path.name, order=o))  # fmt: skip
        latest = self.folder / "latest.parquet"
        self._step("latest", latest, shards, lambda path: write_latest(path, shards, [0] * len(shards)))
        currents = self._divided(latest, len(shards))
        prints = [self.folder / f"prints-{n}.parquet" for n in range(len(shards))]
        for n, (shard, current) in enumerate(zip(shards, currents, strict=True)):
            self._step("print", prints[n], [shard, current], lambda path, s=shard, c=current, n=n:  # type: ignore[misc]
                write_fingerprints(s, n, c, SELECTION, None, path, similar=False))  # fmt: skip
        copies = self.folder / "duplicates.parquet"
        self._step("copies", copies, prints, lambda path: write_duplicates(path, prints, None))
        repeated = self._divided(copies, len(shards))
        parts = [self.folder / f"part-{n:04d}.parquet" for n in range(len(shards))]
        for n, (s, c, r) in enumerate(zip(shards, currents, repeated, strict=True)):
            self._step("select", parts[n], [s, c, r], lambda path, s=s, c=c, r=r, n=n:  # type: ignore[misc]
                select(s, n, c, SELECTION, path, path.with_suffix(".json"), None, r))  # fmt: skip
        self._step("statistics", self.folder / "stats.json", parts, lambda path: self._count(path, parts))
        found = self.folder / "found.json"
        self._step("search", found, [self.index, *parts], lambda path: find_in_parts(parts, self.index, path))
        self._step("report", self.folder / "contamination.json", [found], lambda path: write_json(
            path, report("c", self.index, [found])))  # fmt: skip
        self._remove_others(shards, parts)

    def _divided(self, table: Path, parts: int) -> list[Path]:
        outputs = [self.folder / f"{table.stem}-{n}.parquet" for n in range(10 * (parts // 10 + 1))]
        blocks = [self.folder / f"{table.stem}-block-{n}.parquet" for n in range(10)]
        self._step(f"blocks {table.stem}", blocks[0], [table], lambda _: divide_by_part(table, 0, blocks, 10))
        for block, first in zip(blocks, range(0, len(outputs), 10), strict=False):
            part = outputs[first : first + 10]
            self._step(f"divide {table.stem}", part[0], [block], lambda _, b=block, f=first, p=part:  # type: ignore[misc]
                divide_by_part(b, f, p))  # fmt: skip
        return outputs[:parts]

    def _count(self, path: Path, parts: list[Path]) -> None:
        rows = write_manifest(self.folder / "manifest.parquet", parts)
        write_json(path, total([part.with_suffix(".json") for part in parts], rows))

    def _step(self, name: str, output: Path, inputs: Sequence[Path], make: Callable[[Path], object]) -> None:
        key = repr([(path.name, sha256(path.read_bytes()).hexdigest()) for path in inputs])
        if self.done.get(output) == key and output.exists():
            return
        self.left -= 1
        if self.left < 0:
            raise KilledError
        self.done.pop(output, None)
        make(output)
        self.runs.append(name)
        self.done[output] = key

    def _remove_others(self, shards: Sequence[Path], parts: Sequence[Path]) -> None:
        """Forget files of parts and shards that the corpus no longer has; nothing reads them."""
        for path in self.folder.glob("parsed-*"):
            if path not in shards:
                path.unlink()
                self.done.pop(path)
        for path in self.folder.iterdir():
            number = path.stem.rpartition("-")[2]
            if path.stem.startswith(("part-", "prints-")) and int(number) >= len(parts):
                path.unlink()
                self.done.pop(path, None)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def days(seed: int) -> Iterator[tuple[History, random.Random]]:
    dice = random.Random(seed)
    history = History(dice)
    yield history, dice
    for _ in range(dice.randint(1, 4)):
        history.next_day()
        yield history, dice


def check_history(seed: int, folder: Path) -> None:
    index = folder / "index.parquet"
    row = {"id": "1", "document": "3", "text": " ".join(random.Random(1).choices(WORDS, k=14))}
    write_jsonl_gz(folder / "d/test.jsonl.gz", [row])
    write_index(index, [EvaluatedDataset(dataset="d", splits=("test",), pmids=True)], folder)
    updated = Corpus(folder / "updated", index)
    for history, dice in days(seed):
        while True:
            try:
                kill = dice.randint(0, 12) if dice.random() < 0.5 else float("inf")
                updated.update(history.files, kill)
                break
            except KilledError:
                if dice.random() < 0.3:
                    history.next_day()
    fresh = Corpus(folder / "fresh", index)
    fresh.update(history.files)
    assert content(folder / "updated") == content(folder / "fresh")


@pytest.mark.parametrize("seed", range(8))
def test_an_updated_corpus_equals_one_from_scratch(seed: int, tmp_path: Path) -> None:
    check_history(seed, tmp_path)


@pytest.mark.long
@pytest.mark.weekly
@pytest.mark.parametrize("block", range(10))
def test_five_hundred_histories(block: int, tmp_path: Path) -> None:
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        (tmp_path / str(seed)).mkdir()
        check_history(seed, tmp_path / str(seed))


def test_a_part_is_made_again_only_if_one_of_its_documents_changed(tmp_path: Path) -> None:
    index = tmp_path / "index.parquet"
    write_index(index, [], tmp_path)
    rows = [
        [Document(id=f"pmid:{n}", sections=(("", f"a text of {n}"),)) for n in range(first, first + 9)]
        for first in range(0, 200, 10)
    ]
    files = [(26_0001 + n, of) for n, of in enumerate(rows)]
    corpus = Corpus(tmp_path / "c", index)
    corpus.update(files)
    corpus.runs.clear()
    revised = Document(id="pmid:42", sections=(("", "another text of 42"),))
    corpus.update([*files, (26_0021, [revised, Document(id="pmid:205", sections=(("", "a new text"),))])])
    assert {name: corpus.runs.count(name) for name in ("parse", "print", "select")} == {
        "parse": 1, "print": 2, "select": 2,
    }  # fmt: skip
