"""Scoring a run: the whole record, failed runs, and everything that must not be scored."""

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples import TokensExample, write_examples
from pubmill.files import read_json, sha256, write_json, write_jsonl_gz
from pubmill.metrics.entities import score_entities
from pubmill.provenance import commit, provenance
from pubmill.records import Record, ScoringRecipe, read_record, score_run, write_record

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [
    TokensExample(id="test-000001", document=None, words=["No", "pain"], labels=["O", "B"]),
    TokensExample(id="test-000002", document=None, words=["Mild", "ache", "today"], labels=["B", "I", "O"]),
]
PREDICTIONS = [
    {"id": "test-000002", "labels": ["B", "I", "O"]},
    {"id": "test-000001", "labels": ["B", "O"]},
]
RECIPE = ScoringRecipe(
    model="tiny",
    dataset="toy",
    protocol="blurb",
    setting="standard",
    scale="demo",
    seed=3,
    split="test",
    metric="entity_f1",
    versions={"convert": [1, 1], "finetune": 1, "metric": 2},
)


class Run:
    """The files of one finished run; `training` may be changed before `score`."""

    def __init__(self, folder: Path) -> None:
        self.predictions = folder / "seed-3.predictions.jsonl.gz"
        self.examples = folder / "test.jsonl.gz"
        self.training_file = folder / "seed-3.training.json"
        write_examples(self.examples, EXAMPLES)
        write_jsonl_gz(self.predictions, PREDICTIONS)
        self.training: dict[str, Any] = {
            "recipe": {"learning_rate": 1e-5},
            "seed": 3,
            "model": "tiny",
            "model_sha256": "ab" * 32,
            "data_sha256": {"train": "cd" * 32, "test": sha256(self.examples)},
            "dev": {"metric": "entity_f1", "by_epoch": [0.25, 0.5], "best_epoch": 2, "best": 0.5},
            "seconds": 12,
            "hardware": {"cpu": "some", "cores": 2},
            "packages": {"torch": "2.8.0"},
            "python": "3.12.1",
            "commit": "0123456789",
            "failed": None,
            "steps": 7,
        }

    def score(self, recipe: ScoringRecipe = RECIPE) -> Record:
        write_json(self.training_file, self.training)
        return score_run(recipe, score_entities, self.predictions, self.examples, self.training_file)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_a_record_carries_the_whole_run(run: Run) -> None:
    record = run.score()
    assert record.metrics == {"entity_f1": 0.5, "entity_precision": 0.5, "entity_recall": 0.5}
    assert record.counts == {"gold": 2, "predicted": 2, "correct": 1, "examples": 2}
    assert {name: getattr(record, name) for name in asdict(RECIPE)} == asdict(RECIPE)
    assert (record.dev_score, record.failed, record.seconds) == (0.5, None, 12)
    assert record.data_sha256 == sha256(run.examples)
    for name in ("recipe", "model_sha256", "hardware", "packages", "python", "commit"):
        assert getattr(record, name) == run.training[name]
    assert record.trained_on_sha256 == run.training["data_sha256"]
    assert record.scored_with.keys() == {"commit", "packages", "python"}


def test_records_survive_writing_and_reading(run: Run, tmp_path: Path) -> None:
    record = run.score()
    write_record(tmp_path / "seed-3.json", record)
    assert read_record(tmp_path / "seed-3.json") == record


@pytest.mark.parametrize("cause", ["nan", "constant predictions"])
def test_a_failed_run_is_recorded_without_a_score(run: Run, cause: str) -> None:
    write_jsonl_gz(run.predictions, [{**row, "labels": None} for row in PREDICTIONS])
    run.training.update(failed=cause, dev={**run.training["dev"], "best": None})
    record = run.score()
    assert (record.failed, record.metrics, record.counts, record.dev_score) == (cause, None, None, None)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (PREDICTIONS[:1], "1 of 2 examples have no prediction, the first of them test-000001"),
        ([*PREDICTIONS, {"id": "dev-000001", "labels": ["O"]}], ":3: the id 'dev-000001' isn't one"),
        ([PREDICTIONS[0], PREDICTIONS[0]], ":2: test-000002 is predicted for the second time"),
        ([{"id": "test-000001", "labels": ["O"]}], ":1: test-000001: expected 2 labels.*found 1"),
        ([{"id": "test-000001", "labels": None}], ":1: test-000001: expected a list of BIO labels"),
        ([{"id": "test-000001", "labels": ["O", "X"]}], ":1: test-000001: expected a list of BIO labels"),
        ([{"id": "test-000001"}], ":1: expected an object with exactly the keys id and labels"),
    ],
)
def test_incomplete_predictions_are_never_scored(run: Run, rows: list[dict[str, Any]], told: str) -> None:
    write_jsonl_gz(run.predictions, rows)
    with pytest.raises(PubmillError, match=told):
        run.score()


def test_files_of_another_run_are_refused(run: Run) -> None:
    with pytest.raises(PubmillError, match="seed 3, not 4"):
        run.score(replace(RECIPE, seed=4))
    with pytest.raises(PubmillError, match="model 'tiny', not 'other'"):
        run.score(replace(RECIPE, model="other"))
    run.training["data_sha256"] = {"test": "00"}
    with pytest.raises(PubmillError, match="sha256 of test examples '00', not"):
        run.score()
    del run.training["dev"]
    with pytest.raises(PubmillError, match=r"expected at least the keys .*'dev'"):
        run.score()


@pytest.mark.parametrize(
    "change", [{"extra": 1}, {"seed": "3"}, {"versions": {"metric": 1.5}}, {"metrics": 3}]
)
def test_records_are_read_strictly(run: Run, tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "seed-3.json"
    write_json(path, run.score().model_dump() | change)
    with pytest.raises(PubmillError, match=rf"seed-3\.json: not a complete record: {next(iter(change))}"):
        read_record(path)


def test_the_program_writes_the_record(run: Run, tmp_path: Path) -> None:
    run.score()
    command = [sys.executable, str(ROOT / "scripts/score.py"), "--recipe", json.dumps(asdict(RECIPE))]
    command += ["--predictions", run.predictions, "--examples", run.examples, "--training", run.training_file]
    done = subprocess.run(
        [*map(str, command), "--output", str(tmp_path / "seed-3.json")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "tiny on toy test, seed 3: entity_f1 0.5000\n"
    assert read_json(tmp_path / "seed-3.json")["metrics"]["entity_f1"] == 0.5


def test_provenance_says_with_what_and_a_plain_folder_has_no_commit(tmp_path: Path) -> None:
    used = provenance()
    assert used.keys() == {"commit", "packages", "python", "hardware"}
    assert used["hardware"].keys() == {"platform", "cpu", "cores", "memory", "gpus"}
    assert "seqeval" in used["packages"]
    assert commit(tmp_path) is None


def test_a_changed_checkout_is_marked(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "a.txt").write_text("one")
    for command in (["init", "-q"], ["add", "a.txt"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    clean = commit(tmp_path)
    assert clean is not None and len(clean) == 40
    (tmp_path / "a.txt").write_text("two")
    assert commit(tmp_path) == f"{clean}-dirty"
