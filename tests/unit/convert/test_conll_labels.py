"""Labels of CoNLL files: schemes, types, and refused labels."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.convert.conll import read
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.messages.quotations import withholding
from tests.unit.convert.columns import FIRST, TYPED, convert, labels_of


@pytest.mark.parametrize(
    ("scheme", "written", "read_as"),
    [
        ("iob1", "I-x I-x B-x O I-y I-x", "B-x I-x B-x O B-y B-x"),
        ("io", "I I O I-x I-y", "B I O B-x B-y"),
        ("bioul", "B-x I-x L-x U-x O U-y", "B-x I-x I-x B-x O B-y"),
        ("iobes", "B-x I-x E-x S-x O S-y", "B-x I-x I-x B-x O B-y"),
        ("bare", "x x O y x-z", "B-x I-x O B-y B-x-z"),
    ],
)
def test_other_schemes_become_bio(tmp_path: Path, scheme: str, written: str, read_as: str) -> None:
    found = labels_of(tmp_path / "a.tsv", written, {**TYPED, "scheme": scheme})
    assert found == read_as.split()


def test_a_file_can_write_another_label_for_outside(tmp_path: Path) -> None:
    options = {**TYPED, "outside": "N", "scheme": "bare"}
    assert labels_of(tmp_path / "a.tsv", "N p p N o", options) == ["O", "B-p", "I-p", "O", "B-o"]
    with pytest.raises(
        PubmillError, match=r":2: expected a BIO label \(N, B, I, B-TYPE, I-TYPE\), found 'O'"
    ):
        labels_of(tmp_path / "a.tsv", "N O", {**TYPED, "outside": "N"})


@pytest.mark.parametrize("broken", ["B-x O", "O L-x", "I-x L-x", "B-x L-y", "U-x L-x", "B-x B-x L-x"])
@pytest.mark.parametrize(("scheme", "letters"), [("bioul", {}), ("iobes", {"L": "E", "U": "S"})])
def test_labels_that_are_not_well_formed_are_reported(
    tmp_path: Path, broken: str, scheme: str, letters: dict[str, str]
) -> None:
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


def test_types_that_no_mention_has_are_reported(tmp_path: Path) -> None:
    with pytest.raises(
        PubmillError, match=r"a\.tsv: no mention in dev has.*\['proteins'\].*are DNA, protein"
    ):
        convert(tmp_path / "a.tsv", "a\tB-protein\nb\tB-DNA\n", {**TYPED, "keep": ["proteins"]})


@pytest.mark.parametrize(("scheme", "label"), [("iob2", "B-y"), ("bare", "y"), ("bioul", "U-y")])
def test_another_type_than_the_known_ones_is_reported(tmp_path: Path, scheme: str, label: str) -> None:
    options = {**TYPED, "types": ["x", "z"], "scheme": scheme}
    with pytest.raises(PubmillError, match=r"a\.tsv:2: expected a type among x, z .*`types`.*found 'y'"):
        labels_of(tmp_path / "a.tsv", f"O {label}", options)
    assert labels_of(tmp_path / "a.tsv", f"O {label.replace('y', 'z')}", options) == ["O", "B-z"]


@pytest.mark.parametrize(
    ("labels", "line"),
    [("O I-x", 2), ("I", 1), ("B-x I-y", 2), ("B-x I-x O I-x", 4), ("B I-x", 2), ("B-x I", 2)],
)
@pytest.mark.parametrize("options", [TYPED, FIRST, {**TYPED, "keep": ["x"]}])
def test_an_i_that_continues_nothing_is_reported(
    tmp_path: Path, labels: str, line: int, options: dict[str, Any]
) -> None:
    with pytest.raises(PubmillError, match=rf"a\.tsv:{line}: I continues no mention.*`scheme: iob1`"):
        labels_of(tmp_path / "a.tsv", labels, options)


def test_types_of_a_licensed_dataset_must_be_listed_where_they_are_kept(tmp_path: Path) -> None:
    with withholding(True):
        with pytest.raises(PubmillError, match="`types` is missing; list all types"):
            convert(tmp_path / "a.tsv", "A\tB-x\n", TYPED)
        (example,) = convert(tmp_path / "a.tsv", "A\tB-Qzcanary\n", FIRST)
    assert example.labels == ["B"]


@given(st.lists(st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"]), min_size=1), st.sampled_from(["x", "y"]))
def test_keeping_a_type_keeps_its_mentions_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str], kept: str
) -> None:
    mentions = to_mentions(labels)
    wanted = [mention for mention in mentions if mention[2] == kept]
    if mentions and not wanted:
        return
    path, options = tmp_path_factory.getbasetemp() / "types.tsv", {**TYPED, "keep": [kept], "scheme": "iob1"}
    assert to_mentions(labels_of(path, " ".join(labels), options)) == wanted


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from("xy")), max_size=5))
def test_every_scheme_reads_the_same_mentions(
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
