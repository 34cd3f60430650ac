"""Files of predictions are found by the names of datasets and seeds."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage.submission_files import other_files, submission_files

DATASETS = ("bc5-chem", "bc5-chem@blue", "rel")


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_files_by_dataset_and_seed(tmp_path: Path) -> None:
    touch(tmp_path, "rel.jsonl", "seed-2/bc5-chem@blue.conll", "seed-1/bc5-chem@blue.conll.gz", "README.md")
    touch(tmp_path, "seed-1/notes.txt", "seed-x/rel.tsv")
    assert submission_files(tmp_path, DATASETS) == {
        "bc5-chem@blue": {
            1: tmp_path / "seed-1/bc5-chem@blue.conll.gz",
            2: tmp_path / "seed-2/bc5-chem@blue.conll",
        },
        "rel": {1: tmp_path / "rel.jsonl"},
    }
    assert other_files(tmp_path, DATASETS) == [tmp_path / "README.md", tmp_path / "seed-1/notes.txt"]


@pytest.mark.parametrize("other", ["rel.tsv", "seed-1/rel.jsonl"])
def test_two_files_for_one_run_are_refused(other: str, tmp_path: Path) -> None:
    touch(tmp_path, "rel.jsonl", other)
    with pytest.raises(PubmillError, match="two files of predictions for rel, seed 1"):
        submission_files(tmp_path, DATASETS)
