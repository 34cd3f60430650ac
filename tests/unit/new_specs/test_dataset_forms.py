"""Columns and keys of a dataset's files: label, text, id, and the scheme of labels."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.dataset_forms import guess
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
