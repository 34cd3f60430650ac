"""Documents of sentences, from PubTator files of the same corpus."""

from pathlib import Path

import pytest

from pubmill.convert.sentence_documents import documents_of, read_documents
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample

COPY = """\
11|t|Results.
11|a|Tumours of the Wilms kind. Ataxia (R) again.\r
11\t9\t16\tTumours\tDisease\tD1|D2
11\t24\t29\tWilms\tDisease\t D3+OMIM:4
11\t36\t99\tAtaxia\tDisease\tD5
11\tCID\tD1\tD5

12|t|Results.
12|a|Tumours   vanish.
12\t9\t16\tTumours\tDisease\t-1
12\t9\t16\tTumours\tDisease

"""


def found(path: Path, *sentences: str) -> list[str | None]:
    examples = [
        TokensExample(id=str(number), document=None, words=words.split(), labels=["O"] * len(words.split()))
        for number, words in enumerate(sentences)
    ]
    return documents_of(examples, list(read_documents(path)))


def copy(folder: Path, text: str = COPY) -> Path:
    path = folder / "copy.txt"
    path.write_text(text, newline="", errors="surrogateescape")
    return path


@pytest.mark.parametrize(("sentences", "documents"), [
    # `Results.` is in both documents, but what follows tells them apart
    (["Results .", "Tumours of the Wilms kind .", "Ataxia ® again .", "Results .", "Tum ours vanish .",
      "No ."],
     ["11", "11", None, "12", "12", None]),
    (["Results .", "Elsewhere ."], [None, None]),
])  # fmt: skip
def test_sentences_get_documents(tmp_path: Path, sentences: list[str], documents: list[str | None]) -> None:
    """Wrong offsets of mentions do not matter."""
    assert found(copy(tmp_path), *sentences) == documents


def test_documents_are_known_by_the_sentences_around(tmp_path: Path) -> None:
    path = copy(tmp_path, COPY.replace("again.", "again. Last words."))
    names = ("Tumours of the Wilms kind .", "Ataxia ® again .", "Last words .", "Results .", "Unknown .")
    assert found(path, *names) == ["11", "11", "11", "12", None]
    assert found(copy(tmp_path, COPY + COPY), "Tumours vanish .") == ["12"]
    for wrong in ("11 0 1 T", "12|a|A"):
        with pytest.raises(
            PubmillError, match="copy.txt:2: expected tab-separated columns that begin with 1"
        ):
            list(read_documents(copy(tmp_path, f"11|t|T\n{wrong}\n")))
