"""Sources and options of converters: what is found, and what a message says of the rest."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.source_files import ConverterInput, SpecError, check_id, for_split, lines, one_line
from pubmill.errors import PubmillError
from pubmill.messages.quotations import show, withholding
from tests.clinical import given


def source(folder: Path, **options: Any) -> ConverterInput:
    inputs = {}
    for role in ("dev", "dev_labels"):
        inputs[role] = folder / role
        inputs[role].write_text("")
    return ConverterInput("dev", inputs | {"gone": folder / "gone"}, options, Counter())


def test_sources_are_found_by_their_role(tmp_path: Path) -> None:
    given = source(tmp_path)
    assert given.input("dev_labels") == given.of_split("labels") == tmp_path / "dev_labels"
    assert given.of_split() == tmp_path / "dev"
    with pytest.raises(SpecError) as caught:
        given.of_split("texts")
    assert str(caught.value) == (
        "the converter needs a source 'dev_texts'; the spec's sources are dev, dev_labels, gone"
    )
    with pytest.raises(PubmillError, match=r"gone does not exist$"):
        given.input("gone")


def test_options_have_known_names_and_those_of_a_split_override_the_others(tmp_path: Path) -> None:
    given = source(tmp_path, b=1, a=2, known=3)
    given.check_options("a", "b", "known", "more")
    with pytest.raises(SpecError) as caught:
        given.check_options("known", "also")
    assert str(caught.value) == ("the converter has no options ['a', 'b']; its options are ['also', 'known']")
    options = {"a": 1, "b": 2, "train": {"b": 3, "c": 4}, "dev": None, "test": {"a": 5}}
    assert for_split(options, "train") == {"a": 1, "b": 3, "c": 4}
    assert for_split(options, "dev") == {"a": 1, "b": 2}
    assert for_split(options, "test") == {"a": 5, "b": 2}
    with pytest.raises(SpecError) as caught:
        for_split({"dev": [1]}, "dev")
    assert str(caught.value) == "the option `dev` is [1]; give the options of that split, by name"
    assert for_split({"dev": [1], "a": 1}, "train") == {"a": 1}


def test_ids_of_licensed_datasets_must_be_identifiers() -> None:
    assert check_id("Jane Doe", "in:1") == "Jane Doe"
    with withholding(True, own=True):  # own data are named in any way, and not shown
        assert check_id("note of May", "in:1") == "note of May" and "May" not in show("note of May")
    with withholding(True):
        assert check_id("a-1", "in:1") == "a-1" and check_id("1" * 40, "in:1") == "1" * 40
        for text in ("Jane Doe", "Jane", "1" * 41, ""):
            with pytest.raises(PubmillError) as caught:
                check_id(text, "in:1")
            assert str(caught.value) == (
                "in:1: expected an id of at most 40 letters, digits and `_.:-`, with a digit, found "
                f"<{len(text)} characters, not shown: the dataset's licence forbids it>"
            )


def test_only_line_feeds_separate_lines_and_a_byte_order_mark_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes("a\x0bb\u2028c\r\n\n d\r".encode())
    assert list(lines(path)) == [(1, "a\x0bb\u2028c"), (2, ""), (3, " d")]
    assert one_line("a\tb\r\nc\u2028d") == "a b  c\u2028d"
    path.write_bytes(b"a\nb\ncaf\xe9\n")
    with pytest.raises(PubmillError, match=r"in:3: not UTF-8: unexpected end|in:3: not UTF-8: invalid"):
        list(lines(path))
    path.write_bytes(b"\xef\xbb\xbfa\n")
    assert list(lines(path)) == [(1, "a")]
    path.write_bytes(b"a\n\xef\xbb\xbfb\n")
    assert list(lines(path)) == [(1, "a"), (2, "\ufeffb")]


def split(groups: list[str], name: str, dev: Any) -> set[str]:
    return given(name, {}, dev=dev).held_out(groups)


def test_dev_is_a_share_of_the_groups_in_the_order_of_their_hashes() -> None:
    groups = [f"record-{number}" for number in range(97)]
    dev = split(groups, "dev", {"share": 0.1, "seed": 1})
    assert len(dev) == 10
    assert split(groups[::-1], "dev", {"share": 0.1, "seed": 1}) == dev
    assert split(groups, "train", {"share": 0.1, "seed": 1}) == set(groups) - dev
    assert split(groups, "dev", {"share": 0.1, "seed": 2}) != dev
    # the output of `printf 1:004 | sha256sum` and so on
    groups = [f"{number:03}" for number in range(20)]
    assert split(groups, "dev", {"share": 0.15, "seed": 1}) == {"004", "012", "014"}
    with pytest.raises(PubmillError, match="none are left for train"):
        split(["a"], "train", {"share": 0.1, "seed": 1})


@pytest.mark.parametrize("dev", [
    None, 0.1, {}, {"share": 0.1}, {"share": 1, "seed": 1}, {"share": 1.5, "seed": 1},
    {"share": 0.1, "seed": True}, {"share": "0.1", "seed": 1}, {"share": 0.1, "seed": 1, "by": "x"},
])  # fmt: skip
def test_any_other_form_of_the_option_is_reported(dev: Any) -> None:
    with pytest.raises(PubmillError, match="option `dev`"):
        split(["a", "b"], "dev", dev)
