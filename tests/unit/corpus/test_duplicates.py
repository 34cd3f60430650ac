"""Duplicate documents: exactly the planted ones are found, for any division into shards."""

import hashlib
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rensa import RMinHash

from pubmill.corpus.duplicates import BANDS, HASHES, SEED, SHINGLE, SIMILAR, digest, sketch, write_duplicates
from pubmill.corpus.shards import Document
from pubmill.corpus.statistics import select
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.storage.parquet import parquet_writer
from tests.unit.corpus.toy_corpus import find_duplicates, select_parts, totals, write_shards

Found = dict[str, tuple[str, str]]
CORPUS = SelectionRecipe(min_words=3)
plans = st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["same", "case", "near"])), max_size=12)


def document(name: str, text: str) -> Document:
    return Document(id=name, sections=(("", text),) if text else ())


def distinct(number: int, words: int = 60) -> str:
    """Return a text that shares almost no n-gram with the text of another number."""
    dice = random.Random(number)
    return " ".join(f"w{dice.randrange(5000)}" for _ in range(words))


def changed(text: str, places: int) -> str:
    """The text with so many words replaced, far from each other."""
    words = text.split()
    for place in range(places):
        words[place * len(words) // places] = "other"
    return " ".join(words)


class Corpus:
    """Documents in shards, up to their selection."""

    def __init__(self, folder: Path, shards: Sequence[Sequence[Document]], similarity: float | None) -> None:
        self.folder, self.latest = folder, folder / "latest.parquet"
        self.shards = write_shards(folder, shards)
        self.duplicates = find_duplicates(folder, self.shards, CORPUS, similarity)

    def found(self) -> Found:
        """Return id -> (reason, id of the kept document)."""
        ids = [pq.read_table(shard)["id"].to_pylist() for shard in self.shards]
        rows = pq.read_table(self.duplicates).to_pylist()
        return {ids[row["shard"]][row["position"]]: (row["reason"], row["kept"]) for row in rows}


def test_planted_copies_are_found_and_what_is_rejected_otherwise_is_none(tmp_path: Path) -> None:
    text, other = distinct(1, 200), distinct(2, 200)
    corpus = Corpus(
        tmp_path,
        [[document("a", text), document("b", other), document("short", "w1 w2")],
         [document("c", text.upper().replace(" ", ",  ")), document("d", changed(other, 4))],
         [document("e", changed(text, 40)), document("short too", "w1 w2"), document("none", "")]],
        0.7,
    )  # fmt: skip
    assert corpus.found() == {"c": ("same_text", "a"), "d": ("similar_text", "b")}
    statistics = totals(tmp_path, select_parts(tmp_path, corpus.shards, CORPUS, corpus.duplicates))
    assert statistics["rejected"] == {"same_text": 1, "similar_text": 1, "too_short": 2, "no_abstract": 1}
    assert (statistics["parsed"], statistics["documents"]) == (8, 3)
    assert statistics["samples"]["same_text"] == ["c"]
    first = Document(id="a", sections=(("", distinct(1)),))
    later = Document(id="a", version=2, sections=(("", distinct(2)),))
    assert Corpus(tmp_path, [[first], [later, document("b", distinct(1))]], None).found() == {}
    rows = [document(str(n), "... --- !!!") for n in range(3)]
    assert Corpus(tmp_path, [rows], 0.8).found() == {}


def test_each_that_is_left_out_is_like_one_that_is_kept(tmp_path: Path) -> None:
    """In a chain of small changes the last text differs from the first and is kept."""
    chain = [distinct(1, 200)]
    for place in range(40, 200, 40):
        words = chain[-1].split()
        words[place - 40 : place : 10] = [f"n{place}{n}" for n in range(4)]
        chain.append(" ".join(words))
    corpus = Corpus(tmp_path, [[document(str(n), text) for n, text in enumerate(chain)]], 0.75)
    found = corpus.found()
    assert found and "0" not in found
    assert not {kept for _, kept in found.values()} & found.keys()


@settings(max_examples=5, deadline=None)
@given(plan=plans, cuts=st.lists(st.integers(0, 12), max_size=3))
def test_shards_make_no_difference(
    tmp_path_factory: pytest.TempPathFactory, plan: list[tuple[int, str]], cuts: list[int]
) -> None:
    make: dict[str, Callable[[str], str]] = {
        "same": str, "case": str.swapcase, "near": lambda text: changed(text, 2)
    }  # fmt: skip
    documents = [document(f"{n}", make[how](distinct(of, 150))) for n, (of, how) in enumerate(plan)]
    ends = [0, *sorted(min(cut, len(documents)) for cut in cuts), len(documents)]
    shards = [documents[a:b] for a, b in pairwise(ends)]
    whole = Corpus(tmp_path_factory.mktemp("whole"), [documents], 0.8).found()
    assert Corpus(tmp_path_factory.mktemp("cut"), shards, 0.8).found() == whole
    first: dict[int, str] = {}
    for n, (of, _) in enumerate(plan):
        assert (str(n) in whole) == (of in first)
        if of in first:
            assert whole[str(n)][1] == first[of]
        first.setdefault(of, str(n))


def test_missing_fingerprints_and_a_list_of_another_selection(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="make the fingerprints first"):
        write_duplicates(tmp_path / "d.parquet", [tmp_path / "no.parquet"], None)
    corpus = Corpus(tmp_path, [[document("a", "w1 w2 w3"), document("b", "w1 w2 w3")]], None)
    with pytest.raises(PubmillError, match="made with other filters"):
        select(
            corpus.shards[0], 0, corpus.latest, SelectionRecipe(min_words=9), tmp_path / "part.parquet",
            tmp_path / "part.json", None, corpus.duplicates,
        )  # fmt: skip
    assert not (tmp_path / "part.parquet").exists()


@pytest.mark.parametrize("count", [1, SHINGLE - 1, SHINGLE, SHINGLE + 1, 3 * SHINGLE])
def test_a_sketch_is_of_all_whole_shingles_and_no_others(count: int) -> None:
    words = [f"word{n}" for n in range(count)]
    shingles = [words[n : n + SHINGLE] for n in range(count) if n + SHINGLE <= count] or [words]
    expected = RMinHash(num_perm=HASHES, seed=SEED)
    expected.update([" ".join(shingle) for shingle in shingles])
    assert sketch(words)["signature"] == np.array(expected.digest(), "<u4").tobytes()


def test_the_digest_and_sketch_of_a_text_stay_the_same() -> None:
    words = "the gene is expressed in the cells of the liver".split()
    assert digest([]) is None
    expected = hashlib.blake2b(b"the gene is expressed in the cells of the liver", digest_size=16)
    assert digest(words) == expected.digest()
    found = sketch(words)
    signature = found.pop("signature")
    assert len(signature) == 4 * HASHES and list(found) == [f"band{number:02d}" for number in range(16)]
    for number, band in enumerate(found.values()):
        part = signature[32 * number : 32 * number + 32]  # 8 of the MinHashes
        assert band == int.from_bytes(hashlib.blake2b(part, digest_size=8).digest(), "little")
    assert hashlib.sha256(signature).hexdigest()[:16] == "72d1b3398504a126"
    width = HASHES // BANDS
    assert round(1 - (1 - 0.8**width) ** BANDS, 2) == 0.95
    assert (1 - 0.9**width) ** BANDS < 2e-4


@pytest.mark.parametrize(("equal", "similar"), [(100, False), (101, True), (128, True)])
def test_similar_texts_agree_in_enough_minhashes(tmp_path: Path, equal: int, similar: bool) -> None:
    """A text beside one whose signature agrees in so many numbers; they share the first bands."""
    rows = []
    for number in range(2):
        signature = np.arange(HASHES, dtype="<u4")
        signature[equal:] += 1000 * number
        bands = {name: n if n < 10 else n + 100 * number for n, name in enumerate(SIMILAR.names[4:])}
        row = {"id": f"d{number}", "position": number, "digest": bytes([number] * 16)}
        rows.append(row | {"signature": signature.tobytes()} | bands)
    prints, output = tmp_path / "prints.parquet", tmp_path / "duplicates.parquet"
    with parquet_writer(prints, SIMILAR) as writer:
        writer.write_table(writer.schema.empty_table().from_pylist(rows, SIMILAR))
    write_duplicates(output, [prints], 101 / 128)
    found = [{"shard": 0, "position": 1, "reason": "similar_text", "kept": "d0"}]
    assert pq.read_table(output).to_pylist() == (found if similar else [])
