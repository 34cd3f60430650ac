"""How many processes pack a corpus, in which order their results come, and which documents are held out."""

from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubmill.errors import PubmillError
from pubmill.pretraining import packing
from pubmill.pretraining.packing import apart, is_held_out, pack_documents, pack_parts, useful_processes
from pubmill.recipes.pretraining import PackingRecipe


@pytest.mark.parametrize(("sizes", "processes"), [((6, 3), 1), ((6, 4), 7), ((), 1), ((11,), 7)])
def test_a_small_corpus_is_packed_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], processes: int
) -> None:
    """A part that isn't there yet, and one that is a folder, count as nothing."""
    monkeypatch.setattr(packing, "SMALL_CORPUS", 10)
    monkeypatch.setattr(packing, "cores", lambda: 7)
    parts = [tmp_path / f"part-{number}" for number in range(len(sizes))]
    for part, size in zip(parts, sizes, strict=True):
        part.write_bytes(b"x" * size)
    assert useful_processes([*parts, tmp_path, tmp_path / "missing"]) == processes


class Pool:
    """A pool whose results are there at once, and which remembers how many were asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def submit(self, function: Any, part: Path, recipe: PackingRecipe) -> "Future[Any]":
        self.asked += 1
        made: Future[Any] = Future()
        made.set_result(part.name)
        return made


@pytest.mark.parametrize(("ahead", "asked"), [(1, [1, 2, 3, 4]), (3, [3, 4, 4, 4]), (9, [4, 4, 4, 4])])
def test_results_are_in_order_and_few_wait_in_memory(ahead: int, asked: list[int]) -> None:
    pool: Any = Pool()
    parts = [Path(f"part-{number}") for number in range(4)]
    found, counted = list[Any](), list[int]()
    for result in packing._ordered_results(pool, parts, PackingRecipe(), ahead):
        found.append(result)
        counted.append(pool.asked)
    assert found == [part.name for part in parts] and counted == asked


def test_a_killed_process_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*given: object, **named: object) -> Iterator[Any]:
        raise BrokenProcessPool
        yield

    monkeypatch.setattr(packing, "_ordered_results", broken)
    parts = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(
        PubmillError, match="killed, most likely because memory ran out; run again with fewer"
    ):
        list(pack_parts(PackingRecipe(), parts, tmp_path, tmp_path, processes=2))


def test_the_id_of_a_document_decides_whether_it_is_held_out() -> None:
    names = [f"pmid/{number}" for number in range(400)]
    some = {name for name in names if is_held_out(name, 0.1)}
    more = {name for name in names if is_held_out(name, 0.5)}
    assert some < more and 20 < len(some) < 60 and 150 < len(more) < 250
    assert all(is_held_out(name, 1.0) for name in names) and not any(is_held_out(name, 0.0) for name in names)
    rest: list[str] = []
    trained = list(apart([(name, name.upper()) for name in names], 0.1, rest))
    assert rest == [name.upper() for name in names if name in some]
    assert trained == [name.upper() for name in names if name not in some]


class Letters:
    """An encoder with an id for each letter, of which an x has none."""

    dtype = np.dtype(np.uint16)

    def encode(self, sentence: str) -> bytes:
        return np.array([ord(letter) for letter in sentence if letter != "x"], self.dtype).tobytes()


class Spaces:
    def split(self, text: str) -> list[str]:
        return text.split()


def test_sentences_and_documents_without_tokens_are_left_out_and_counted() -> None:
    encoder: Any = Letters()
    shard = pack_documents(["ab x c", "x xx", "", "d"], Spaces(), encoder)
    assert shard.ids.tolist() == [ord(letter) for letter in "abcd"]
    assert shard.sentences.tolist() == [2, 1, 1] and shard.documents.tolist() == [2, 1]
    assert (shard.empty_sentences, shard.empty_documents) == (3, 2)
    nothing = pack_documents([], Spaces(), encoder)
    assert (len(nothing.ids), len(nothing.sentences), nothing.empty_documents) == (0, 0, 0)
