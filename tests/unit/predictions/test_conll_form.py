"""CoNLL columns: sentences, ids, marks and tag schemes."""

import pytest

from pubmill.errors import PubmillError
from pubmill.predictions.conll_form import as_bio, read

TEXT = "-DOCSTART- O\n\n# id = s1\nflu\tNN\tB-D\n\nold\tO\nflu\tI-D\n###MEDLINE:7\nno\tO"


def test_sentences_have_their_place_and_id() -> None:
    rows = list(read(TEXT.split("\n"), "f"))
    assert [(one.where, one.id, one.words, one.value) for one in rows] == [
        ("f:4", "s1", ["flu"], ["B-D"]), ("f:6", None, ["old", "flu"], ["O", "I-D"]),
        ("f:9", None, ["no"], ["O"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# id = a\n# id = b\nflu O", "f:2: no sentence follows the id before this one"),
        ("flu O\n\n#id=a", "f: no sentence follows the last id; is the file complete"),
        ("flu O\nflu", "f:2: expected a word and its label"),
        ("\tB-D\nflu O", "f:1: expected a word and its label"),
        ("flu\t", "f:1: expected a label of IOB"),
        ("flu\tno label", "f:1: expected a label of IOB"),
    ],
)
def test_damaged_columns_are_refused(text: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        list(read(text.split("\n"), "f"))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("B-X I-X O B-X", "B-X I-X O B-X"), ("S-X O B-X E-X", "B-X O B-X I-X"),
        ("W-X B-X M-X E-X", "B-X B-X I-X I-X"), ("U L", "B B"), ("I-X I-X O E-X", "B-X I-X O B-X"),
    ],
)  # fmt: skip
def test_every_scheme_becomes_bio(labels: str, expected: str) -> None:
    assert as_bio(labels.split()) == expected.split()
