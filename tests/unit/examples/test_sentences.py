"""Sentences by Punkt, with and without the fast path, and the tables of its archive."""

import zipfile
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.examples import sentences
from pubmill.examples.sentences import FOLDER, TABLES, SentenceSplitter, read_punkt
from tests.world.punkt import punkt_zip


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "punkt_tab.zip"
    path.write_bytes(punkt_zip())
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mice died. They were old.", ["Mice died.", "They were old."]),
        ("See Fig. 3 and Dr. Who. No.", ["See Fig. 3 and Dr. Who.", "No."]),
        # after a single blank, Punkt itself decides
        (" Mice. They died.", [" Mice.", "They died."]),
        (" Dr. Who died.", [" Dr. Who died."]),
        ("One\nline. Two \n\n ", ["One", "line.", "Two"]),
    ],
)
def test_sentences_end_at_stops_but_not_after_abbreviations(
    archive: Path, text: str, expected: list[str]
) -> None:
    assert SentenceSplitter(archive).split(text) == expected


def test_tables_up_to_a_size_are_read(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(archive) as tables:
        sizes = {name: tables.getinfo(f"{FOLDER}/{name}").file_size for name in TABLES}
    largest = max(sizes, key=lambda name: sizes[name])
    monkeypatch.setattr(sentences, "LARGEST_TABLE", sizes[largest])
    assert {"dr", "fig"} <= read_punkt(archive).abbrev_types
    monkeypatch.setattr(sentences, "LARGEST_TABLE", sizes[largest] - 1)
    with pytest.raises(PubmillError) as caught:
        read_punkt(archive)
    assert str(caught.value) == (
        f"{archive}: {FOLDER}/{largest} has {sizes[largest]} bytes; no table is that large"
    )
