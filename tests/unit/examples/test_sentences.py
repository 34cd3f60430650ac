"""Sentences by Punkt, with and without the fast path, and the tables of its archive."""

from pathlib import Path

import pytest

from pubmill.examples.sentences import SentenceSplitter
from tests.world.punkt import punkt_zip


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "punkt_tab.zip"
    path.write_bytes(punkt_zip())
    return path


@pytest.mark.parametrize(("text", "expected"), [
    ("Mice died. They were old.", ["Mice died.", "They were old."]),
    ("See Fig. 3 and Dr. Who. No.", ["See Fig. 3 and Dr. Who.", "No."]),
    # after a single blank, Punkt itself decides
    (" Mice. They died.", [" Mice.", "They died."]),
    (" Dr. Who died.", [" Dr. Who died."]),
    ("One\nline. Two \n\n ", ["One", "line.", "Two"]),
])  # fmt: skip
def test_sentences_end_at_stops(archive: Path, text: str, expected: list[str]) -> None:
    assert SentenceSplitter(archive).split(text) == expected
