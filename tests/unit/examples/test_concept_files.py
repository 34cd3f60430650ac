"""Files of the identifiers of mentions: written, read back, and what a wrong line says."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.concept_files import (
    ExampleConcepts,
    all_identifiers,
    read_concepts,
    write_concepts,
)
from pubmill.storage.files import read_jsonl_gz, write_jsonl_gz

ONE = ExampleConcepts("d1", {(2, 4): frozenset(["D2", "D1"]), (0, 1): frozenset(["C1"])})
NONE = ExampleConcepts("d2", {})


def test_concepts_are_read_back_with_all_splits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    write_concepts(path, {"train": {"a": ONE}, "test": {"a": NONE}})
    assert list(read_jsonl_gz(path)) == [
        {"split": "train", "id": "a", "document": "d1", "mentions": [[0, 1, ["C1"]], [2, 4, ["D1", "D2"]]]},
        {"split": "test", "id": "a", "document": "d2", "mentions": []},
    ]
    assert read_concepts(path) == {"train": {"a": ONE}, "dev": {}, "test": {"a": NONE}}
    assert all_identifiers([ONE, NONE]) == {"C1", "D1", "D2"}


def test_only_a_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    write_concepts(tmp_path / "public", {"train": {"a": ONE}})
    write_concepts(tmp_path / "private", {"train": {"a": ONE}}, private=True)
    (tmp_path / "plain").write_text("")
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("public", "private", "plain")]
    assert modes[:2] == [modes[2], 0o600]


@pytest.mark.parametrize(
    "change",
    [{"split": "other"}, {"id": ["a"]}, *({"mentions": wrong} for wrong in ([[0, 1]], [[0, 1, 5]], None))],
)
def test_a_line_of_another_form_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "a.jsonl.gz"
    row = {"split": "dev", "id": "a", "document": "d", "mentions": [[0, 1, ["C1"]]]}
    write_jsonl_gz(path, [row, row | {"id": "b"} | change])
    with pytest.raises(PubmillError) as caught:
        read_concepts(path)
    assert str(caught.value) == (
        f"{path}:2: expected split, id, document and mentions; remove the file and make it again"
    )
