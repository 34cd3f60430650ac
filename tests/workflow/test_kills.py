"""Killed at any time, the same command again ends with the same result."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workflow.conftest import TABLE, Project

PRETRAINING = "results/demo/pretraining/pubmedbert-base"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def appears(project: Project, pattern: str) -> Callable[[], bool]:
    return lambda: any(project.folder.glob(pattern))


def test_killed_in_pretraining_the_same_command_gives_the_same_weights(
    project: Project, finished: Project
) -> None:
    weights = f"{PRETRAINING}/step-40/model.safetensors"
    project.kill_when(weights, ready=appears(project, f"{PRETRAINING}/.step-*.partial/*"))
    assert not (project.folder / weights).exists()
    project.run(weights)
    for step in (20, 40):
        name = f"{PRETRAINING}/step-{step}/model.safetensors"
        assert sha256(project.folder / name) == sha256(finished.folder / name)


@pytest.mark.parametrize(
    "stage",
    ["results/demo/sources/**/*.xml.gz", "results/demo/corpora/parsed/*/*.parquet", f"{PRETRAINING}/tokens"],
)
def test_killed_while_preparing_the_same_command_gives_the_same_tokens(
    project: Project, finished: Project, stage: str
) -> None:
    tokens = f"{PRETRAINING}/tokens/index.json"
    project.kill_when(tokens, ready=appears(project, stage))
    project.run(tokens)
    for name in ("ids.bin", "sentences.npy", "documents.npy", "index.json"):
        path = f"{PRETRAINING}/tokens/{name}"
        assert sha256(project.folder / path) == sha256(finished.folder / path)


def test_killed_in_fine_tuning_the_same_command_gives_the_same_table(
    copy: Project, finished: Project
) -> None:
    for path in (copy.folder / "results/demo/runs").rglob("final/*"):
        path.unlink()
    predictions = "results/demo/runs/blurb/*/*/standard/final/*.predictions.jsonl.gz"
    copy.kill_when(TABLE, ready=appears(copy, predictions))
    copy.run(TABLE)
    found = sorted(path.relative_to(finished.folder) for path in finished.folder.glob(predictions))
    assert len(found) == 8
    for path in found:
        assert sha256(copy.folder / path) == sha256(finished.folder / path)
    csv = "results/demo/tables/gu2020/table06.csv"
    assert (copy.folder / csv).read_text() == (finished.folder / csv).read_text()
