"""Columns and keys of a dataset's files: label, text, id, and the scheme of labels."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.conll_forms import is_conll
from pubmill.new_specs.dataset_forms import guess, is_marked, marked_form
from pubmill.new_specs.file_forms import label_of, named_columns


@pytest.mark.parametrize(
    ("different", "rows", "length", "known"),
    [
        (50, 100, 50, True), (51, 102, 50, False), (50, 99, 50, False), (50, 100, 51, False), (2, 4, 1, True),
        (1, 100, 1, False),
    ],
)  # fmt: skip
def test_a_label_has_few_short_and_repeated_values(
    different: int, rows: int, length: int, known: bool
) -> None:
    values = {
        "text": tuple(map(str, range(rows))),
        "label": tuple(f"{n % different:0{length}}" for n in range(rows)),
    }
    if known:
        assert label_of(values, "f:1", "column") == "label"
        return
    with pytest.raises(PubmillError, match="f:1: no column looks like a label"):
        label_of(values, "f:1", "column")


def test_the_label_has_the_fewest_values_and_the_text_is_the_longest_column() -> None:
    values = {"id": ("a1", "a2", "a3", "a4"), "kind": ("x", "y", "x", "y"), "text": ("some words",) * 4}
    assert label_of(values, "f:1", "column") == "kind"
    assert named_columns(values, "kind", "f:1") == {"kind": "label", "text": "text", "id": "id"}
    assert named_columns(values | {"id": ("a1", "a1", "a3", "a4")}, "kind", "f:1") == {
        "kind": "label",
        "text": "text",
    }
    with pytest.raises(PubmillError, match=r"f:1: no column or key looks like a text"):
        named_columns({"kind": ("x", "y")}, "kind", "f:1")
    long = {"id": tuple(str(n) * 51 for n in range(4)), "text": ("some words" * 9,) * 4}
    assert "id" not in named_columns({**long, "kind": values["kind"]}, "kind", "f:1")


def test_the_schemes_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    for labels, scheme in (
        ("B I O", None),
        ("I O I", "io"),
        ("B L O", "bioul"),
        ("S O O", "iobes"),
        ("O O O", None),
    ):
        path.write_text("".join(f"w {label}\n" for label in labels.split()))
        assert guess({"train": path}).options.get("scheme") == scheme


def marked(number: int) -> dict[str, Any]:
    text = f"The << drug {number} >> harms [[ mice ]] now."
    return {"text": text, "label": ("FALSE", "HARMS")[number % 2], "metadata": [number]}


def lines_of(folder: Path, rows: list[dict[str, Any]]) -> dict[str, Path]:
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"train": folder / "train.jsonl"}


def test_texts_with_two_marked_mentions_are_scibert_relations() -> None:
    form = marked_form([marked(0), marked(1)], ["FALSE", "HARMS"], "f:1")
    assert (form.kind, form.task, form.metric, form.negative) == ("sequence", "relation", "micro_f1", "FALSE")
    assert (form.converter, form.options) == ("pubmill.convert.scibert:read", {"labels": ["FALSE", "HARMS"]})
    assert form.writer == ("pubmill.convert.scibert:write", {})
    none = marked_form([marked(0)], ["CAUSES", "HARMS"], "f:1")
    assert (none.metric, none.negative) == ("macro_f1", None)


def test_marked_texts_with_other_keys_are_refused(tmp_path: Path) -> None:
    rows = [{**marked(number), "metadata": number % 2} for number in range(4)]
    assert guess(lines_of(tmp_path, rows)).converter == "pubmill.convert.scibert:read"
    for row in rows:
        row["more"] = row.pop("metadata")
    with pytest.raises(PubmillError, match=r"train.jsonl:1: the texts mark two mentions .* lack the keys of"):
        guess(lines_of(tmp_path, rows))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<< a >> and [[ b ]]", True), ("<< a >>", False), ("[[ b ]]", False), ("<< a and [[ b ]]", False),
        ("<< a >> and b ]]", False), ("<< a >> and [[ b", False), ("a >> and [[ b ]]", False),
    ],
)  # fmt: skip
def test_a_text_marks_two_mentions_on_both_sides(text: str, found: bool) -> None:
    assert is_marked([text]) is found and not is_marked(["<< a >> [[ b ]]", "plain"])


def test_rows_of_two_texts_are_read_as_pairs_and_those_of_one_as_texts(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"first": f"Many mice ran to {n}.", "second": f"Some of {n} rats.", "gold": "ab"[n % 2]}
        for n in range(4)
    ]
    pairs = guess(lines_of(tmp_path, rows))
    assert pairs.converter == "pubmill.convert.row_examples:sequence"
    assert pairs.options == {"text": "first", "text_pair": "second", "label": "gold", "labels": ["a", "b"]}
    for row in rows:
        row["second"] = "x"
    one = guess(lines_of(tmp_path, rows))
    assert (one.converter, one.unread) == ("pubmill.convert.jsonl:read", ("second",))


def test_a_row_that_lacks_a_key_of_the_first_is_refused_and_one_with_more_is_not(tmp_path: Path) -> None:
    rows = [{"text": f"The text {n}.", "gold": "ab"[n % 2]} for n in range(4)]
    rows[2]["more"] = "x"
    assert guess(lines_of(tmp_path, rows)).options == {"text": "text", "label": "gold", "labels": ["a", "b"]}
    rows[0]["more"] = "x"
    with pytest.raises(PubmillError, match="its lines are not JSON objects with the same keys; write the"):
        guess(lines_of(tmp_path, rows))


@pytest.mark.parametrize("content", [b"", b"\n  \n\n"])
def test_a_file_of_blanks_is_as_empty_as_one_without_bytes(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "train.txt").write_bytes(content)
    with pytest.raises(PubmillError, match=r"train\.txt: the file is empty$"):
        guess({"train": tmp_path / "train.txt"})


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (b"Mice\tB\nran\tO\n", True), (b"Mice NN B\n\nran VB O\n", True), (b"\xff\xfe\x00", False),
        (b"", False), (b"-DOCSTART-\n\n", False), (b"B\nO\n", False), (b"Mice\tB\nran\tVB\tO\n", False),
        (b"Mice\tB\nran\tX\n", False),
    ],
)  # fmt: skip
def test_lines_of_a_word_and_a_label_are_conll(tmp_path: Path, content: bytes, known: bool) -> None:
    (tmp_path / "a").write_bytes(content)
    assert is_conll(tmp_path / "a") is known
