"""Documents and identifiers of sentences, from PubTator files of the same corpus."""

from pathlib import Path

from pubmill.convert.concepts import concepts_of, read_documents
from pubmill.examples.concept_files import all_identifiers
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


def sentence(name: str, words: str, labels: str = "") -> TokensExample:
    split = words.split()
    return TokensExample(id=name, document=None, words=split, labels=labels.split() or ["O"] * len(split))


def copy(folder: Path, text: str = COPY) -> Path:
    path = folder / "copy.txt"
    path.write_text(text, newline="")
    return path


def test_sentences_get_documents_and_mentions_identifiers(tmp_path: Path) -> None:
    """Wrong offsets do not matter; `Results.` is in both documents, but what follows tells them apart."""
    examples = [
        sentence("1", "Results ."),
        sentence("2", "Tumours of the Wilms kind .", "B O O B O O"),
        sentence("3", "Ataxia ® again .", "B O O O"),
        sentence("4", "Results ."),
        sentence("5", "Tum ours vanish .", "B I O O"),
        sentence("6", "Elsewhere ."),
    ]
    found = concepts_of({"test": examples}, list(read_documents(copy(tmp_path))))["test"]
    assert {name: one.document for name, one in found.items()} == {"1": "11", "2": "11", "4": "12", "5": "12"}
    assert found["2"].identifiers == {(0, 1): {"D1", "D2"}, (3, 4): {"D3", "OMIM:4"}}
    assert found["5"].identifiers == {}
    assert all_identifiers(found.values()) == {"D1", "D2", "D3", "OMIM:4"}


def test_a_sentence_with_other_characters_belongs_to_the_document_around_it(tmp_path: Path) -> None:
    text = COPY.replace("again.", "again. Last words.")
    names = ("Tumours of the Wilms kind .", "Ataxia ® again .", "Last words .", "Results .", "Unknown .")
    examples = [sentence(str(number), words) for number, words in enumerate(names)]
    examples[1] = sentence("1", names[1], "B O O O")
    found = concepts_of({"test": examples}, list(read_documents(copy(tmp_path, text))))["test"]
    assert {name: one.document for name, one in found.items()} == {"0": "11", "1": "11", "2": "11", "3": "12"}
    assert found["1"].identifiers == {(0, 1): {"D5"}}


def test_an_ambiguous_sentence_has_no_document(tmp_path: Path) -> None:
    examples = [sentence("1", "Results ."), sentence("2", "Elsewhere .")]
    assert concepts_of({"test": examples}, list(read_documents(copy(tmp_path)))) == {"test": {}}


def test_a_document_that_is_there_twice_is_one(tmp_path: Path) -> None:
    documents = [*read_documents(copy(tmp_path)), *read_documents(copy(tmp_path))]
    examples = [sentence("1", "Tumours vanish .")]
    assert concepts_of({"test": examples}, documents)["test"]["1"].document == "12"
