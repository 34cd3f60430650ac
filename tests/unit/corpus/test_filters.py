"""One assertion for each rejection reason."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus.filters import rejection
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.recipes import read
from pubmill.recipes.corpora import SelectionRecipe
from tests.unit.corpus.toy_corpus import find_duplicates, select_parts, totals, write_shards


def document(words: int = 128, published: str = "2001", languages: tuple[str, ...] = ("eng",)) -> Document:
    sections = (("TWO WORDS", "w " * words),) if words else ()
    return Document(id="pmid:1", title="A title", published=published, languages=languages, sections=sections)


def of(**fields: Any) -> Document:
    return Document(id="pmid:1", sections=(("", "some words"),), **fields)


@pytest.mark.parametrize(("given", "settings", "reason"), [
    (document(), {}, None), (of(flags=("unreadable",)), {}, "unreadable"), (document(0), {}, "no_abstract"),
    (document(128), {"min_words": 128}, None), (document(127), {"min_words": 128}, "too_short"),
    (document(9), {"max_words": 9}, None), (document(10), {"max_words": 9}, "too_long"),
    (document(), {"languages": ("eng",)}, None),
    (document(languages=("fre", "eng")), {"languages": ("eng",)}, None),
    (document(languages=("fre",)), {"languages": ("eng",)}, "language"),
    (document(languages=()), {"languages": ("eng",)}, "unknown_language"),
    (document(), {"published_from": 2001, "published_to": 2001}, None),
    (document(), {"published_from": 2002}, "published_before"),
    (document(), {"published_to": 2000}, "published_after"),
    (document(published=""), {"published_to": 2000}, "unknown_year"),
    (document(0, languages=()), {"min_words": 5, "languages": ("eng",)}, "no_abstract"),
    (document(3, languages=("fre",)), {"min_words": 5, "languages": ("eng",)}, "language"),
    (Document(id="mimic:1", flags=("error",), sections=(("", "a"),)), {}, "error_note"),
    (of(types=("Physician", "x")), {"types": ("Physician",)}, None),
    (of(types=("Nursing",)), {"types": ("Physician",)}, "type"),
    (of(types=()), {"types": ("Physician",)}, "type"),
    (of(types=("Review", "Letter")), {"without_types": ("Letter",)}, "unwanted_type"),
    (of(types=()), {"without_types": ("Letter",)}, None),
    (of(), {"requires": ("title", "abstract")}, "no_title"),
    (of(title="T"), {"requires": ("title", "abstract", "body")}, "no_body"),
    (of(title="T", body=(("", "b"),)), {"requires": ("title", "abstract", "body")}, None),
    (of(date="2001-05-01"), {"dated_from": "2001-05-01", "dated_to": "2001-05-01"}, None),
    (of(date="2001-04-30"), {"dated_from": "2001-05-01"}, "dated_before"),
    (of(date="2001-05-02"), {"dated_to": "2001-05-01"}, "dated_after"),
    (of(date="2001"), {"dated_from": "2001-05-01", "dated_to": "2001-06-01"}, None),
    (of(date="2000"), {"dated_from": "2001-05-01"}, "dated_before"),
    (of(), {"dated_to": "2001-05-01"}, "unknown_date"),
])  # fmt: skip
def test_first_reason(given: Document, settings: dict[str, Any], reason: str | None) -> None:
    assert rejection(given, SelectionRecipe(**settings)) == reason


def test_a_date_that_is_no_day_is_refused() -> None:
    with pytest.raises(PubmillError, match="--recipe.*\\s*dated_to must be a day, YYYY-MM-DD"):
        read(SelectionRecipe, '{"dated_to": "May"}')


SECTION = st.tuples(
    st.sampled_from(["", "AIM"]), st.sampled_from(["one", "one two", "three four five", "..."])
)
DOCUMENT = st.builds(
    Document, id=st.sampled_from([f"pmid:{n}" for n in range(12)]), version=st.integers(1, 2),
    date=st.sampled_from(["", "2001", "2001-02-03"]), published=st.sampled_from(["", "1999", "2001"]),
    languages=st.sampled_from([(), ("eng",), ("fre", "eng")]),
    types=st.sampled_from([(), ("Review",), ("Letter", "Review")]),
    title=st.sampled_from(["", "T"]), sections=st.lists(SECTION, max_size=2).map(tuple),
    body=st.lists(SECTION, max_size=2).map(tuple), flags=st.sampled_from([(), ("error",)]),
    deleted=st.booleans(),
)  # fmt: skip
SELECTION = st.builds(
    SelectionRecipe,
    parts=st.sampled_from([("abstract",), ("abstract", "body")]),
    min_words=st.sampled_from([None, 2]), languages=st.sampled_from([None, ("eng",)]),
    types=st.sampled_from([None, ("Review",)]), without_types=st.sampled_from([None, ("Letter",)]),
    requires=st.sampled_from([(), ("title", "body")]), published_from=st.sampled_from([None, 2000]),
    dated_to=st.sampled_from([None, "2001-02-02"]),
)  # fmt: skip


def made(
    folder: Path, shards: list[list[Document]], selection: SelectionRecipe
) -> tuple[dict[str, Any], list[str]]:
    """Return the statistics of the corpus of these shards, without duplicates, and its documents' ids."""
    paths = write_shards(folder, shards)
    copies = find_duplicates(folder, paths, selection, None)
    parts = select_parts(folder, paths, selection, copies)
    ids = [name for part in parts for name in pq.read_table(part)["id"].to_pylist()]
    return totals(folder, parts), ids


@settings(max_examples=5)
@given(documents=st.lists(DOCUMENT, max_size=25), selection=SELECTION, cut=st.integers(0, 25))
def test_counts_add_up_however_the_documents_are_divided(
    tmp_path_factory: pytest.TempPathFactory, documents: list[Document], selection: SelectionRecipe, cut: int
) -> None:
    stats, ids = made(tmp_path_factory.mktemp("whole"), [documents], selection)
    assert stats["parsed"] == sum(not document.deleted for document in documents)
    assert stats["parsed"] == stats["documents"] + sum(stats["rejected"].values())
    assert stats["documents"] == len(ids) == len(set(ids)) == sum(stats["years"].values())
    assert set(stats["samples"]) == set(stats["rejected"])
    shards = [documents[:cut], documents[cut:]]
    assert made(tmp_path_factory.mktemp("cut"), shards, selection) == (stats, ids)
