"""The program of the floors, on one small converted dataset."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pubmill.examples.kinds import SequenceExample, write_examples
from pubmill.storage.files import write_json
from tests.unit.programs import Ended, run_verb


def floors(*words: object) -> Ended:
    return run_verb("audit", "floors", *words)


def questions(name: str, number: int) -> list[SequenceExample]:
    return [
        SequenceExample(
            id=f"{name}{n}",
            document=None,
            text="Does it work?",
            text_pair=f"It {'works' if n % 3 else 'fails'}.",
            label="yes" if n % 3 else "no",
        )
        for n in range(number)
    ]


def converted(folder: Path, **sizes: int) -> None:
    """Write a dataset; a split without examples has an empty file, and no counts in the card."""
    for split, number in sizes.items():
        write_examples(folder / f"{split}.jsonl.gz", questions(split, number))
    counts = {split: {"examples": number} for split, number in sizes.items() if number}
    write_json(folder / "card.json", {"kind": "sequence", "counts": counts})


def test_a_converted_dataset_is_measured_and_a_leak_is_pointed_out(tmp_path: Path) -> None:
    converted(tmp_path / "datasets/pubmedqa", train=30, dev=3, test=12)
    made = floors("--results", tmp_path, "--format", "json")
    assert made.returncode == 0, made.stderr
    [found] = json.loads(made.stdout)
    assert found["labels_given_away"] == ["tfidf", "context_only"]
    assert found["floors"]["majority"] == found["floors"]["question_only"] == pytest.approx(8 / 12)
    assert found["ceiling"]["score"] == 78.0 and found["share_of_room"] is None
    written = {path.name for path in (tmp_path / "floors/pubmedqa").iterdir()}
    assert {"tfidf.predictions.jsonl.gz", "tfidf.json"} <= written
    record = json.loads((tmp_path / "floors/pubmedqa/tfidf.json").read_text())
    assert record["metrics"]["accuracy"] == record["score"] == 1.0 and set(record["known_sha256"]) == {
        "train"
    }


def test_without_converted_datasets_the_program_says_so(tmp_path: Path) -> None:
    made = floors("--results", tmp_path)
    assert made.returncode == 1 and "has no converted datasets" in made.stderr


def test_other_folders_with_converted_datasets_are_named(tmp_path: Path) -> None:
    write_json(tmp_path / "brief/datasets/pubmedqa/card.json", {"kind": "sequence", "counts": {}})
    made = floors("--results", tmp_path / "full")
    assert made.returncode == 1 and f"give --results {tmp_path / 'brief'}" in made.stderr


def test_datasets_without_a_test_split_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    """SQuAD has train and dev only, and an empty file of test."""
    converted(tmp_path / "datasets/pubmedqa", train=12, dev=12, test=12)
    converted(tmp_path / "datasets/mednli", train=12, dev=12, test=0)
    made = floors("--results", tmp_path, "--format", "json")
    assert made.returncode == 0, made.stderr
    assert [one["dataset"] for one in json.loads(made.stdout)] == ["pubmedqa"]
    assert "left out, without examples in train and test: mednli" in made.stderr
    named = floors("--results", tmp_path, "--dataset", "mednli")
    assert named.returncode == 1 and "mednli needs examples in train and test" in named.stderr


def test_the_floors_of_a_dataset_for_tables(root: Path, tmp_path: Path) -> None:
    for split, number in (("train", 30), ("dev", 3), ("test", 12)):
        write_examples(tmp_path / f"pubmedqa/{split}.jsonl.gz", questions(split, number))
    recipe = {"name": "pubmedqa", "kind": "sequence", "task": "yes-no", "splits": ["train", "dev", "test"]}
    more = {"access": "public", "metric": "accuracy"}
    line = [
        sys.executable,
        str(root / "pubmill/extras/baselines/programs/floors.py"),
        "--recipe",
        json.dumps(recipe | more),
    ]
    line += ["--examples", str(tmp_path / "pubmedqa"), "--predictions", str(tmp_path / "floors/pubmedqa")]
    output = tmp_path / "floors/pubmedqa.json"
    subprocess.run([*line, "--output", str(output)], check=True)
    found = json.loads(output.read_text())
    assert found["floors"]["majority"]["metrics"]["accuracy"] == pytest.approx(8 / 12)
    assert found["ceilings"]["accuracy"]["score"] == 78.0
    assert (tmp_path / "floors/pubmedqa/tfidf.predictions.jsonl.gz").is_file()


def test_an_unknown_dataset_gets_the_nearest_names() -> None:
    for made in (floors("--dataset", "ncbi"), run_verb("data", "check", "ncbi")):
        assert made.returncode == 1 and len(made.stderr) < 200
        assert made.stderr.startswith(
            "pubmill: error: there is no dataset 'ncbi'; the nearest: ncbi-disease, "
        )
