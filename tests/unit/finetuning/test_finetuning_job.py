"""Splits of a dataset, read and encoded."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import RegressionExample, write_examples
from pubmill.finetuning.finetuning_job import read_split, split_path

EXAMPLE = RegressionExample(id="1", document=None, text="a", text_pair="b", score=0.5)


def test_a_split_is_read_from_its_file(tmp_path: Path) -> None:
    write_examples(tmp_path / "dev.jsonl.gz", [EXAMPLE])
    assert split_path(tmp_path, "dev") == tmp_path / "dev.jsonl.gz"
    assert read_split(tmp_path, "dev", RegressionExample) == [EXAMPLE]


def test_a_missing_split_and_one_without_examples_are_named(tmp_path: Path) -> None:
    write_examples(tmp_path / "dev.jsonl.gz", [])
    with pytest.raises(PubmillError) as empty:
        read_split(tmp_path, "dev", RegressionExample)
    assert str(empty.value) == f"{tmp_path}/dev.jsonl.gz holds no example; convert the dataset again"
    with pytest.raises(PubmillError) as missing:
        read_split(tmp_path, "train", RegressionExample)
    assert str(missing.value) == f"{tmp_path}/train.jsonl.gz does not exist; the stage convert makes it"
