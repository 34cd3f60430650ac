"""Rows with annotation and identifiers: annotation is read or named, and no identifier becomes a class."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pubmill.errors import PubmillError
from pubmill.new_specs.new_dataset import Described, describe, new_dataset, write_dataset

Rows = list[dict[str, Any]]


def found(folder: Path, *splits: Rows) -> Described:
    folder.mkdir(exist_ok=True)
    for name, rows in zip(("train", "test"), splits, strict=False):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = new_dataset([str(folder)], "mine", None, folder, access="public")
    described = describe(made)
    write_dataset(made, described, folder)
    return described


def rows(*names: str, number: int = 70, **values: Any) -> Rows:
    own = {
        "sentence_id": lambda n: n // 2,
        "text": lambda n: f"Mice ran {n} times.",
        "entities": lambda n: [{"start": 0, "end": 4, "type": "Species", "text": "Mice"}],
        "named": lambda n: [{"name": "Mice", "kind": "Species"}],
        **values,
    }
    return [{name: own[name](n) for name in (*names, *values)} for n in range(number)]


def test_entities_are_mentions_and_other_keys_are_named(tmp_path: Path) -> None:
    made = found(tmp_path, rows("sentence_id", "text", "entities", source=lambda n: "web"))
    assert made.form.kind == "tokens" and made.values["expect"]["train"]["mentions"] == 70
    assert made.form.unread == ("sentence_id", "source")


def test_entities_without_offsets_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        PubmillError, match=r"the key 'named' has annotations \(70 objects with the keys kind, name\)"
    ):
        found(tmp_path, rows("sentence_id", "text", "named"))


@pytest.mark.parametrize(
    "key",
    [
        {"sentence_id": lambda n: n // 2},
        {"place": lambda n: n // 2},
        {"doc": lambda n: f"doc{n // 2}"},
        {"docId": lambda n: "abcdefg"[n % 7]},
        {"word": lambda n: f"{chr(97 + n % 26)}x"},
    ],
)
def test_what_identifies_or_is_nearly_always_different_is_no_class(
    tmp_path: Path, key: dict[str, Any]
) -> None:
    with pytest.raises(PubmillError, match=f"no key looks like a label .*{next(iter(key))} would identify"):
        found(tmp_path, rows("text", **key))


def test_keys_with_lists_and_objects_that_are_not_read_are_named(tmp_path: Path) -> None:
    more: dict[str, Any] = {
        "label": lambda n: "ab"[n % 2],
        "meta": lambda n: {"a": n},
        "tags": lambda n: ["x"],
    }
    assert found(tmp_path, rows("text", "named", **more)).form.unread == ("named", "meta", "tags")


def test_ids_that_repeat_are_counted_and_not_read(tmp_path: Path) -> None:
    train = rows("text", id=lambda n: n // 2, label=lambda n: "ab"[n % 2])
    made = found(tmp_path, train, rows("text", id=str, label=lambda n: "ab"[n % 2], number=10))
    line = "35 of 70 rows of train have the id of another; examples are numbered instead"
    assert made.form.notes == (line,) and "id" not in made.form.options
    assert yaml.safe_load((tmp_path / "specs/datasets/mine.yaml").read_text())["notes"] == [line]


def test_doubts_are_told_with_their_counts(tmp_path: Path) -> None:
    train = rows("text", label=lambda n: ("yes", "Yes", "no", "maybe")[n % 4], number=40)
    test = [*rows("text", label=lambda n: "no", number=8), {"text": "A new text here.", "label": "never "}]
    said = found(tmp_path, train, test).cautions
    assert said == (
        "8 inputs of test are also in train",
        "1 label of test is not in train: never  (1)",
        "3 labels of train are not in test: Yes (10), maybe (10), yes (10)",
        "2 labels differ only in case or white space: 'Yes' (10), 'yes' (10)",
    )
    same = found(tmp_path / "same", train, train)
    size = (tmp_path / "same/train.jsonl").stat().st_size
    assert same.cautions[0] == f"test and train are of files with the same {size:,} bytes"
