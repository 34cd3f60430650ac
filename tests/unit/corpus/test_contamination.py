"""Texts of datasets in a corpus: found by PMID and by words, reported without their text, and excluded."""

import hashlib
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus.contamination import (
    RUN,
    EvaluationTexts,
    find_in_part,
    ngram_hashes,
    plain_words,
    report,
    word_hashes,
    write_index,
)
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.medline_bytes import day, year
from pubmill.corpus.shards import Document, write_shard
from pubmill.corpus.statistics import PART, select
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import EvaluatedDataset, SelectionRecipe
from pubmill.storage.files import read_json, write_jsonl_gz


@pytest.mark.parametrize(("text", "words"), [
    ("S-100 binds", ["s", "100", "binds"]), ("S - 100 BINDS!", ["s", "100", "binds"]),
    ("e\N{LATIN SMALL LIGATURE FI}cacy of IL_2", ["eficacy", "of", "il", "2"]),
    ("STRASSE Stra\N{LATIN SMALL LETTER SHARP S}e", ["strasse", "strasse"]),
    ("\N{GREEK CAPITAL LETTER ALPHA}-synuclein", ["\N{GREEK SMALL LETTER ALPHA}", "synuclein"]),
    (" ,.;", []),
])  # fmt: skip
def test_words_are_compared_without_case_punctuation_and_form(text: str, words: list[str]) -> None:
    assert plain_words(text) == words


def test_words_and_ngrams_have_the_same_hashes_everywhere() -> None:
    """Stored indexes of evaluation texts hold these numbers."""
    words = word_hashes("a b c a b c b a".split())
    assert words.dtype == np.uint64
    assert int(words[0]) == int.from_bytes(hashlib.blake2b(b"a", digest_size=8).digest(), "little")
    found = [int(number) for number in ngram_hashes(words, 3)]
    a, b, c = (int(number) for number in words[:3])
    factor = 0x9E3779B97F4A7C15
    assert found[0] == found[3] == (a * factor**2 + b * factor + c) % 2**64
    assert len(found) == 6 and len(set(found)) == 5  # abc, bca, cab, bcb, cba
    assert [len(ngram_hashes(words, size)) for size in (1, 8, 9)] == [8, 1, 0]
    assert len(word_hashes([])) == 0


@pytest.mark.parametrize(("found", "expected"), [
    (day("1998", "3", "7"), "1998-03-07"), (day(" 1998 ", "12", "31"), "1998-12-31"),
    (day("1998", "3", None), "1998-03"), (day("1998", "Mar", "7"), "1998"), (day(None, "3", "7"), ""),
    (day("98", "1", "1"), "0098-01-01"), (year("1998 Dec-1999 Jan"), "1998"), (year("1509"), "1509"),
    (year("Winter 2007"), "2007"), (year("1409 and 2100"), ""), (year("12007"), ""), (year(""), ""),
])  # fmt: skip
def test_days_end_at_the_first_part_that_is_no_number_and_years_are_the_first(
    found: str, expected: str
) -> None:
    assert found == expected


def words(number: int, count: int = 30) -> list[str]:
    dice = random.Random(number)
    return [f"Word{dice.randrange(5000)}" for _ in range(count)]


def example(name: str, text: str, document: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": name, "document": document, "text": text, **more}


SENTENCE = " ".join(words(1))
EXAMPLES = {
    "relations": {
        "dev": [example("d1", " ".join(words(2)), "7"), example("d2", "Too short a text.", "8")],
        "test": [
            example("t1", SENTENCE, "11"), example("t2", SENTENCE, "11"),
            example("t3", " ".join(words(3)), "12"),
        ],
    },
    "entities": {
        "dev": [],
        "test": [{"id": "e1", "document": "11", "labels": [], "words": [*words(4), "-", ","]}],
    },
}  # fmt: skip


@pytest.fixture
def index(tmp_path: Path) -> Path:
    for dataset, splits in EXAMPLES.items():
        for split, rows in splits.items():
            write_jsonl_gz(tmp_path / "datasets" / dataset / f"{split}.jsonl.gz", rows)
    datasets = [
        EvaluatedDataset(dataset="relations", splits=("dev", "test"), pmids=True),
        EvaluatedDataset(dataset="entities", splits=("dev", "test"), pmids=False),
    ]
    assert write_index(tmp_path / "index.parquet", datasets, tmp_path / "datasets") == 5
    return tmp_path / "index.parquet"


def part(path: Path, *documents: tuple[str, str, str]) -> Path:
    """Documents as (id, PMID after a space if it has one; title; text)."""
    rows = [
        {"id": name.partition(" ")[0], "version": 1, "pmid": name.partition(" ")[2], "date": "",
         "title": title, "text": text, "words": 0, "bytes": 0}
        for name, title, text in documents
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, PART), path)
    return path


def test_the_report_has_no_word_of_a_dataset(index: Path, tmp_path: Path) -> None:
    tokenised = SENTENCE.lower().replace(" ", " , ")
    first = part(
        tmp_path / "a.parquet",
        ("pmid:11 11", "", "Another text."),
        ("x:1", "T", f"Before. {tokenised} after."),
    )
    second = part(tmp_path / "b.parquet", ("x:2", " ".join(words(4)), "Its title."), ("pmc:5 8", "", "No."))
    for path in (first, second):
        find_in_part(path, EvaluationTexts(index), path.with_suffix(".json"))
    whole = report("c", index, [path.with_suffix(".json") for path in (first, second)])
    assert (whole["documents"], whole["documents_with_a_text"]) == (4, 4)
    assert whole["datasets"]["relations"] == {
        "dev": {
            "texts": 2, "too_short": 1, "found": 1, "found_by_pmid": 1, "found_by_text": 0, "share": 0.5,
            "examples": 2, "examples_found": 1, "ids": ["d2"], "documents": ["pmc:5"],
        },
        "test": {
            "texts": 2, "too_short": 0, "found": 1, "found_by_pmid": 1, "found_by_text": 1, "share": 0.5,
            "examples": 3, "examples_found": 2, "ids": ["t1", "t2"], "documents": ["pmid:11", "x:1"],
        },
    }  # fmt: skip
    assert whole["datasets"]["entities"]["test"]["found_by_pmid"] is None
    assert whole["datasets"]["entities"]["test"]["documents"] == ["x:2"]
    output = tmp_path / "found.json"
    find_in_part(part(tmp_path / "a.parquet", ("x:1", "", SENTENCE)), EvaluationTexts(index), output)
    table = pq.read_table(index).drop_columns(["runs"])
    written = output.read_text() + str(table.to_pylist()) + str(report("c", index, [output]))
    assert "t1" in written and not any(word in written for word in SENTENCE.split())
    assert index.stat().st_size and words(1)[0].encode() not in index.read_bytes()


@settings(max_examples=40)
@given(kept=st.integers(0, 30), before=st.integers(0, 3))
def test_half_of_the_runs_are_enough(
    tmp_path_factory: pytest.TempPathFactory, kept: int, before: int
) -> None:
    folder = tmp_path_factory.mktemp("half")
    write_jsonl_gz(folder / "d/test.jsonl.gz", [example("t1", SENTENCE)])
    write_index(folder / "i.parquet", [EvaluatedDataset(dataset="d", splits=("test",), pmids=False)], folder)
    document = " ".join([*words(9, before), *words(1)[:kept], *words(10)])
    runs = len(words(1)) - RUN + 1
    expected = kept - RUN + 1 >= runs / 2
    assert bool(EvaluationTexts(folder / "i.parquet").matches("", document)) == expected


def test_runs_neither_add_up_nor_reach_over_a_dummy(index: Path, tmp_path: Path) -> None:
    texts = EvaluationTexts(index)
    beginning, end = " ".join(words(1)[:20]), " ".join(words(1)[15:])
    assert not texts.matches("", beginning) and not texts.matches("", end)
    assert not texts.matches("", beginning.replace(words(1)[10], "other") * 5)
    text = f"{' '.join(words(1, 12))} @GENE$ {' '.join(words(2, 14))}"
    write_jsonl_gz(tmp_path / "d/test.jsonl.gz", [example("t1", text)])
    write_index(
        tmp_path / "i.parquet", [EvaluatedDataset(dataset="d", splits=("test",), pmids=False)], tmp_path
    )
    original = text.replace("@GENE$", "BRCA1")
    assert EvaluationTexts(tmp_path / "i.parquet").matches("", original)


def test_documents_with_excluded_texts_are_left_out_and_counted(index: Path, tmp_path: Path) -> None:
    documents = [
        Document(id="pmc:5", pmid="11", sections=(("", "Known by its PMID."),)),
        Document(id="pmid:1", title="T", sections=(("AIM", SENTENCE[:60]), ("", SENTENCE))),
        Document(id="pmid:2", sections=(("", "Harmless text."),)),
        Document(id="pmid:3", title=" ".join(words(3)), sections=()),
    ]
    write_shard(tmp_path / "s.parquet", documents, source="s", file="f", order=0)
    write_latest(tmp_path / "latest.parquet", [tmp_path / "s.parquet"], [0])
    select(
        tmp_path / "s.parquet", 0, tmp_path / "latest.parquet", SelectionRecipe(), tmp_path / "p.parquet",
        tmp_path / "p.json", EvaluationTexts(index),
    )  # fmt: skip
    statistics = read_json(tmp_path / "p.json")
    assert statistics["rejected"] == {"contamination": 2, "no_abstract": 1}
    assert statistics["samples"]["contamination"] == ["pmc:5", "pmid:1"]
    find_in_part(tmp_path / "p.parquet", EvaluationTexts(index), tmp_path / "found.json")
    assert read_json(tmp_path / "found.json") == {"documents": 1, "matches": []}


def test_other_indexes_are_refused_and_one_of_nothing_finds_nothing(index: Path, tmp_path: Path) -> None:
    (tmp_path / "found.json").write_text('{"documents": 1, "matches": [["x:1", 99, false, true]]}')
    with pytest.raises(PubmillError, match="another index was used"):
        report("c", index, [tmp_path / "found.json"])
    with pytest.raises(PubmillError, match="no index of evaluation texts"):
        EvaluationTexts(part(tmp_path / "a.parquet"))
    assert write_index(tmp_path / "i.parquet", [], tmp_path) == 0
    assert EvaluationTexts(tmp_path / "i.parquet").matches("1", SENTENCE) == []
