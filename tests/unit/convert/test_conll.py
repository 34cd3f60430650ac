"""CoNLL files, read and written: documents, labels, archives, and positions of malformed lines."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.convert.conll import read, write
from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.messages.quotations import withholding
from tests.world.archives import tarball

FIRST = {"labels": "first_character"}
TYPED = {"labels": "as_written"}


def convert(path: Path, text: str, options: dict[str, Any] = FIRST) -> list[TokensExample]:
    path.write_bytes(text.encode())
    return list(read(ConverterInput("dev", {"dev": path}, options, Counter())))


def labels_of(path: Path, labels: str, options: dict[str, Any]) -> list[str]:
    """Return the labels of a sentence of a file; both are strings of labels separated by spaces."""
    (example,) = convert(path, "".join(f"w\t{label}\n" for label in labels.split()), options)
    return example.labels


def test_sentences_get_ids_words_and_cut_labels_without_a_byte_order_mark(tmp_path: Path) -> None:
    examples = convert(
        tmp_path / "a.tsv", "No\tO\npain\tB-Disease\nnow\tI-Disease\n\nAspirin\tB-Chemical\n\n"
    )
    assert examples == [
        TokensExample(id="dev-000001", document=None, words=["No", "pain", "now"], labels=["O", "B", "I"]),
        TokensExample(id="dev-000002", document=None, words=["Aspirin"], labels=["B"]),
    ]
    text = "-DOCSTART- 95369245\n\nA\tO\n\nB\tB\n-DOCSTART- 2\nC\tO\n"
    examples = convert(tmp_path / "a.tsv", text)
    assert [(example.document, example.words) for example in examples] == [
        ("95369245", ["A"]), ("95369245", ["B"]), ("2", ["C"]),
    ]  # fmt: skip
    (example,) = convert(tmp_path / "a.tsv", "A\tO\r\nB\tB")
    assert (example.words, example.labels) == (["A", "B"], ["O", "B"])
    assert [one.words for one in convert(tmp_path / "a.tsv", "\ufeffa\tO\n")] == [["a"]]
    (tmp_path / "a.tar").write_bytes(tarball({"x/a.iob2": "\ufeffa\tO\n".encode()}))
    files = {"train": {"source": "training", "member": "a.iob2"}}
    assert [one.words for one in split_of({"training": tmp_path / "a.tar"}, "train", files)] == [["a"]]


@pytest.mark.parametrize(("form", "mark", "document"), [
    ("medline", "###MEDLINE:95369245", "95369245"), ("parenthesised", "-DOCSTART- (7)", "7"),
    ("unnamed", "-DOCSTART-\tO", None), ("unnamed", "-DOCSTART- -X- O O", None),
])  # fmt: skip
def test_other_document_marks(tmp_path: Path, form: str, mark: str, document: str | None) -> None:
    examples = convert(tmp_path / "a.tsv", f"{mark}\n\nA\tO\n{mark}\nB\tB\n", {**TYPED, "documents": form})
    assert [(example.document, example.words) for example in examples] == [
        (document, ["A"]),
        (document, ["B"]),
    ]


def test_columns_and_the_label_for_outside_may_be_others(tmp_path: Path) -> None:
    options = {**TYPED, "separator": "blank", "columns": ["word", "pos", "chunk", "label"]}
    (example,) = convert(tmp_path / "a.txt", "Pain NN O B-D\nnow RB O O\n", options)
    assert (example.words, example.labels) == (["Pain", "now"], ["B-D", "O"])
    with pytest.raises(PubmillError, match=r"a\.txt:2: expected `word pos chunk label`, found 'now RB O'"):
        convert(tmp_path / "a.txt", "Pain NN O B-D\nnow RB O\n", options)
    options = {**TYPED, "outside": "N", "scheme": "bare"}
    assert labels_of(tmp_path / "a.tsv", "N p p N o", options) == ["O", "B-p", "I-p", "O", "B-o"]
    with pytest.raises(PubmillError, match=r":2: expected a BIO label \(N, B, I, B-TYPE, I-TYPE\), found"):
        labels_of(tmp_path / "a.tsv", "N O", {**TYPED, "outside": "N"})


GENIA = "###MEDLINE:{}\n\nA\tB-protein\nof\tO\n{}\tB-DNA\n\nA\tO\n\n"
FILES = {
    "train": {"source": "training", "member": "task2.iob2", "before": "30"},
    "dev": {"source": "training", "member": "task2.iob2", "from": "30"},
    "test": {"source": "evaluation"},
}


@pytest.fixture
def genia(tmp_path: Path) -> dict[str, Path]:
    """An archive with the documents 10, 20, 10 and 30, 40, and a file with the document 50."""
    text = "".join(GENIA.format(name, name) for name in (10, 20, 10, 30, 40))
    files = {"README": b"\xff", "original/task1.iob2": b"", "original/task2.iob2": text.encode()}
    (tmp_path / "training.tar.gz").write_bytes(tarball(files))
    (tmp_path / "test.iob2").write_text(GENIA.format(50, 50))
    return {"training": tmp_path / "training.tar.gz", "evaluation": tmp_path / "test.iob2"}


def split_of(genia: dict[str, Path], split: str, files: Any = FILES) -> list[TokensExample]:
    options = {**TYPED, "documents": "medline", "files": files}
    return list(read(ConverterInput(split, genia, options, Counter())))


def test_splits_are_cut_from_an_archives_member(genia: dict[str, Path]) -> None:
    documents = {split: [example.document for example in split_of(genia, split)] for split in FILES}
    assert documents == {
        "train": ["10", "10", "20", "20", "10", "10"], "dev": ["30", "30", "40", "40"], "test": ["50", "50"],
    }  # fmt: skip
    assert split_of(genia, "dev")[0].id == "dev-000001"


@pytest.mark.parametrize(("file", "message"), [
    ({"source": "training", "member": "task3.iob2"}, r"expected one file task3\.iob2 in it, found \[\]"),
    ({"source": "training", "member": "task2.iob2", "until": "30"}, "`files` has for train.*`source`"),
    ({"source": "training", "member": "task2.iob2", "from": 30}, "files.train.from: expected text"),
    ({"member": "task2.iob2"}, "`files` has for train.*`source`"),
    ({"source": "elsewhere"}, "needs a source 'elsewhere'"),
    (None, "files.train: expected keys with values .found None"),
])  # fmt: skip
def test_files_that_are_not_there(genia: dict[str, Path], file: Any, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        split_of(genia, "train", {"train": file})


@pytest.mark.parametrize(("text", "line", "message"), [
    ("A\tO\nB B\n", 2, "word<TAB>label"), ("A\tO\tO\n", 1, "word<TAB>label"),
    ("A\tO\n\tO\n", 2, "word<TAB>label"), ("A\tO\n\nB\tE-Disease\n", 3, "BIO label"),
    ("A\t\n", 1, "BIO label"), ("A\tB-\n", 1, "BIO label"), ("A\tO-x\n", 1, "BIO label"),
    ("A\tB-x y\n", 1, "BIO label"), ("-DOCSTART-\n", 1, "-DOCSTART- ID"),
    ("-DOCSTART-\tO\n", 1, "-DOCSTART- ID"), ("-DOCSTART- 1 2\n", 1, "-DOCSTART- ID"),
    ("-DOCSTART- 1\n\n-DOCSTART- 2\nA\tO\n", 1, "no sentence follows the mark of document 1"),
    ("A\tO\n-DOCSTART- 1\n\n", 2, "no sentence follows the mark of document 1"),
    # a word is one word
    *((f"A\tO\n{word}\tO\n", 2, "expected ")
      for word in ("a b", "a\u00a0b", "a\u2028", "a\x0bb", "a\0", "\x01", "a\x7f", "a\x85b", "\x1c")),
])  # fmt: skip
def test_malformed_lines_are_reported(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(PubmillError, match=rf"a\.tsv:{line}: .*{message}"):
        convert(tmp_path / "a.tsv", text)


@pytest.mark.parametrize(("options", "message"), [
    ({}, "labels: this key is required"),
    ({"labels": "second"}, "labels: expected .*first_character"),
    ({**FIRST, "lower": "yes"}, "lower: unknown key"),
    ({**FIRST, "spelling": "TYPE"}, "`spelling` is 'TYPE'; .*TYPE-B"),
    ({**FIRST, "columns": ["word", "tag"]}, "`columns` is "),
    ({**FIRST, "columns": ["word", "label", "label"]}, "`columns` is "),
])  # fmt: skip
def test_wrong_options_are_named(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        convert(tmp_path / "a.tsv", "A\tO\n", options)


@pytest.mark.parametrize("text", [
    "Qzcanary\n", "Qzcanary\tQzcanary\n", "A\tB-Qzcanary x\n", "A\tB-Qzcanary\n", "A\tB-x\nA\tI-Qzcanary\n",
    "Qzcanary\0\tO\n", "-DOCSTART- Qzcanary Qzcanary\n", "-DOCSTART- Qzcanary\n\n-DOCSTART- Qzcanary\n",
])  # fmt: skip
@pytest.mark.parametrize("options", [{**TYPED, "types": ["x"]}, {**FIRST, "types": ["x"], "keep": ["x"]}])
def test_licensed_text_is_in_no_message(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    with withholding(True), pytest.raises(PubmillError, match=r"a\.tsv:\d: ") as caught:
        convert(tmp_path / "a.tsv", text, options)
    assert "Qzcanary" not in str(caught.value)


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1).filter(
    lambda word: not word.startswith(("-DOCSTART-", "\ufeff"))
)
MENTIONS = st.sampled_from([["O"], ["B"], ["B", "I"], ["B-x"], ["B-y-z", "I-y-z"]])
SENTENCES = st.lists(
    st.lists(MENTIONS, min_size=1).flatmap(
        lambda parts: st.tuples(*(st.tuples(WORDS, st.just(label)) for part in parts for label in part))
    ),
    max_size=5,
).map(lambda sentences: [list(rows) for rows in sentences])


@settings(max_examples=40)
@given(SENTENCES)
def test_every_word_and_label_stays(tmp_path_factory: pytest.TempPathFactory, sentences: list[Any]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    text = "\n".join("".join(f"{word}\t{label}\n" for word, label in rows) for rows in sentences)
    examples = convert(path, text, TYPED)
    assert [list(zip(example.words, example.labels, strict=True)) for example in examples] == sentences


def form(**options: str) -> WriterOptions:
    return WriterOptions(options, None)


@pytest.mark.parametrize("documents", ["docstart", "medline", "parenthesised"])
def test_what_is_written_is_read_again(tmp_path: Path, documents: str) -> None:
    examples = [
        TokensExample(id=f"dev-{number:06d}", document=document, words=["a", word], labels=["O", "B-x"])
        for number, (document, word) in enumerate([("1", "b"), ("1", "c"), ("2", "d"), ("1", "e")], 1)
    ]
    text = "".join(write(examples, form(documents=documents)))
    assert convert(tmp_path / "a.tsv", text, {**TYPED, "documents": documents}) == examples


def test_the_written_form_is_that_of_blurb() -> None:
    examples = [
        TokensExample(id=str(number), document=document, words=["a"], labels=["B"])
        for number, document in enumerate(["1", "1", "2"])
    ]
    marked = "-DOCSTART- 1\n\na\tB\n\na\tB\n\n-DOCSTART- 2\n\na\tB\n\n"
    assert "".join(write(examples, form(documents="docstart"))) == marked
    assert "".join(write(examples, form())) == "a\tB\n\n" * 3
    for options in ({"documents": "unnamed"}, {"documents": "docstart", "header": "yes"}):
        with pytest.raises(PubmillError, match="one of.*docstart"):
            list(write([], form(**options)))


@pytest.mark.parametrize(("scheme", "written", "read_as"), [
    ("iob1", "I-x I-x B-x O I-y I-x", "B-x I-x B-x O B-y B-x"),
    ("io", "I I O I-x I-y", "B I O B-x B-y"),
    ("bioul", "B-x I-x L-x U-x O U-y", "B-x I-x I-x B-x O B-y"),
    ("iobes", "B-x I-x E-x S-x O S-y", "B-x I-x I-x B-x O B-y"),
    ("bare", "x x O y x-z", "B-x I-x O B-y B-x-z"),
])  # fmt: skip
def test_other_schemes_become_bio(tmp_path: Path, scheme: str, written: str, read_as: str) -> None:
    found = labels_of(tmp_path / "a.tsv", written, {**TYPED, "scheme": scheme})
    assert found == read_as.split()


@pytest.mark.parametrize("broken", ["B-x O", "O L-x", "I-x L-x", "B-x L-y", "U-x L-x", "B-x B-x L-x"])
@pytest.mark.parametrize(("scheme", "letters"), [("bioul", {}), ("iobes", {"L": "E", "U": "S"})])
def test_broken_schemes_are_named(tmp_path: Path, broken: str, scheme: str, letters: dict[str, str]) -> None:
    written = "".join(letters.get(letter, letter) for letter in broken)
    with pytest.raises(PubmillError, match=rf"a\.tsv:1: .*not well-formed {scheme}"):
        labels_of(tmp_path / "a.tsv", written, {**TYPED, "scheme": scheme})


def test_kept_types_stay_whole_and_the_others_are_counted(tmp_path: Path) -> None:
    path, left_out = tmp_path / "a.tsv", Counter[str]()
    path.write_text("a\tB-p\nb\tI-p\nc\tB-p\nd\tB-D\ne\tI-D\nf\tB-p\n\ng\tB-R\n")
    options = {**TYPED, "keep": ["p", "q"]}
    examples = list(read(ConverterInput("dev", {"dev": path}, options, left_out)))
    assert [example.labels for example in examples] == [["B-p", "I-p", "B-p", "O", "O", "B-p"], ["O"]]
    assert left_out == {"mentions_of_other_types": 2}


@pytest.mark.parametrize(("scheme", "label"), [("iob2", "B-y"), ("bare", "y"), ("bioul", "U-y")])
def test_another_type_than_the_known_ones_is_reported(tmp_path: Path, scheme: str, label: str) -> None:
    options = {**TYPED, "types": ["x", "z"], "scheme": scheme}
    with pytest.raises(PubmillError, match=r"a\.tsv:2: expected a type among x, z .*`types`.*found 'y'"):
        labels_of(tmp_path / "a.tsv", f"O {label}", options)
    assert labels_of(tmp_path / "a.tsv", f"O {label.replace('y', 'z')}", options) == ["O", "B-z"]


@pytest.mark.parametrize(("labels", "line"), [
    ("O I-x", 2), ("I", 1), ("B-x I-y", 2), ("B-x I-x O I-x", 4), ("B I-x", 2), ("B-x I", 2),
])  # fmt: skip
@pytest.mark.parametrize("options", [TYPED, FIRST, {**TYPED, "keep": ["x"]}])
def test_a_lone_i_is_reported(tmp_path: Path, labels: str, line: int, options: dict[str, Any]) -> None:
    with pytest.raises(PubmillError, match=rf"a\.tsv:{line}: I continues no mention.*`scheme: iob1`"):
        labels_of(tmp_path / "a.tsv", labels, options)


def test_types_of_a_licensed_dataset_must_be_listed_where_they_are_kept(tmp_path: Path) -> None:
    with withholding(True):
        with pytest.raises(PubmillError, match="`types` is missing; list all types"):
            convert(tmp_path / "a.tsv", "A\tB-x\n", TYPED)
        (example,) = convert(tmp_path / "a.tsv", "A\tB-Qzcanary\n", FIRST)
        (bare,) = convert(tmp_path / "a.tsv", "A\tB\n", {**TYPED, "types": []})
        with pytest.raises(PubmillError, match="expected a label without a type .*`types`") as refused:
            convert(tmp_path / "a.tsv", "A\tB-Qzcanary\n", {**TYPED, "types": []})
    assert example.labels == bare.labels == ["B"] and "Qzcanary" not in str(refused.value)


@given(st.lists(st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"]), min_size=1), st.sampled_from(["x", "y"]))
def test_only_the_kept_type_stays(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str], kept: str
) -> None:
    mentions = to_mentions(labels)
    wanted = [mention for mention in mentions if mention[2] == kept]
    if mentions and not wanted:
        return
    path, options = tmp_path_factory.getbasetemp() / "types.tsv", {**TYPED, "keep": [kept], "scheme": "iob1"}
    assert to_mentions(labels_of(path, " ".join(labels), options)) == wanted


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from("xy")), max_size=5))
def test_all_schemes_read_the_same(
    tmp_path_factory: pytest.TempPathFactory, gaps: list[tuple[int, int, str]]
) -> None:
    """Mentions (words before, words inside, type) are the same in each scheme that distinguishes them."""
    mentions, place = [], 0
    for before, length, of in gaps:
        mentions.append((place + before, place + before + length, of))
        place += before + length
    path = tmp_path_factory.getbasetemp() / "schemes.tsv"
    bioul = " ".join(to_labels(mentions, place + 1, "bioul"))
    iobes = bioul.replace("L-", "E-").replace("U-", "S-")
    for scheme, written in {"bioul": bioul, "iobes": iobes}.items():
        found = labels_of(path, written, {**TYPED, "scheme": scheme})
        assert to_mentions(found) == mentions and found == to_labels(mentions, place + 1, "bio")
