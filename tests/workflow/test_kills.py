"""After a kill at any time, the same command ends with the same result."""

import hashlib
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.workflow.conftest import TABLE, Project, wait_until_gone

PRETRAINING = "results/demo/pretraining/pubmedbert-base"
TOKENS = "results/demo/pretraining/tokens/pubmed-abstracts/pubmed-uncased"
WEIGHTS = f"{PRETRAINING}/step-40/model.safetensors"
PREDICTIONS = "results/demo/runs/blurb/*/*/standard/final/*.predictions.jsonl.gz"
SAVED = f"{PRETRAINING}/.step-*.partial/*/state.json"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def appears(project: Project, pattern: str) -> Callable[[], bool]:
    return lambda: any(project.folder.glob(pattern))


def half_written(project: Project) -> list[Path]:
    return [*project.folder.glob("results/**/.*.tmp"), *project.folder.glob("results/**/*.part")]


def same_weights(project: Project, finished: Project) -> bool:
    names = [f"{PRETRAINING}/step-{step}/model.safetensors" for step in (20, 40)]
    return all(sha256(project.folder / name) == sha256(finished.folder / name) for name in names)


@pytest.fixture
def packed(copy: Project) -> Project:
    shutil.rmtree(copy.folder / PRETRAINING)
    return copy


@pytest.mark.long
def test_killed_in_pretraining_the_same_command_gives_the_same_weights(
    packed: Project, finished: Project
) -> None:
    packed.kill_when(WEIGHTS, ready=appears(packed, SAVED))
    assert not (packed.folder / WEIGHTS).exists()
    packed.run(WEIGHTS)
    assert same_weights(packed, finished)


@pytest.fixture
def orphans(packed: Project) -> Iterator[int]:
    """The stopped process group of a pretraining job whose Snakemake alone was killed."""
    group = packed.orphan_when(WEIGHTS, ready=appears(packed, SAVED))
    yield group
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


@pytest.mark.long
@pytest.mark.weekly
def test_a_pretraining_that_outlives_snakemake_is_waited_for(
    packed: Project, finished: Project, orphans: int
) -> None:
    """The same command reports that another process is at work; once that has ended, it succeeds."""
    too_early = packed.run(WEIGHTS, check=False)
    assert too_early.returncode != 0
    assert "another process is at work here" in too_early.stdout + too_early.stderr
    os.killpg(orphans, signal.SIGCONT)
    wait_until_gone(orphans)
    packed.run(WEIGHTS)
    assert same_weights(packed, finished)


@pytest.mark.long
@pytest.mark.weekly
@pytest.mark.parametrize(
    "half_done",
    [
        pytest.param("results/demo/sources/*/**/*", id="as the first downloads begin"),
        pytest.param("results/demo/corpora/parsed/*/.pubmed*.tmp", id="parsing"),
        pytest.param(TOKENS.replace("/pubmed-uncased", "/.pubmed-uncased.*.tmp"), id="packing"),
    ],
)
def test_killed_while_preparing_the_same_command_gives_the_same_tokens(
    project: Project, finished: Project, half_done: str
) -> None:
    project.kill_when(f"{TOKENS}/index.json", ready=appears(project, half_done))
    assert not (project.folder / TOKENS / "index.json").exists()
    project.run(f"{TOKENS}/index.json")
    assert half_written(project) == []
    for name in ("ids.bin", "sentences.npy", "documents.npy", "index.json"):
        path = f"{TOKENS}/{name}"
        assert sha256(project.folder / path) == sha256(finished.folder / path)


@pytest.mark.long
def test_killed_in_fine_tuning_the_same_command_gives_the_same_table(
    copy: Project, finished: Project
) -> None:
    (copy.folder / TABLE).unlink()  # otherwise Snakemake would not rebuild the missing inputs
    logs = copy.folder / "results/demo/logs/runs"
    for folder in (logs, copy.folder / "results/demo/runs"):
        for path in folder.rglob("final/*"):
            path.unlink()
    copy.kill_when(
        TABLE, ready=lambda: any("dev entity_f1" in log.read_text() for log in logs.rglob("final/*.log"))
    )
    assert len(list(copy.folder.glob(PREDICTIONS))) < 8
    copy.run(TABLE)
    assert half_written(copy) == []
    found = sorted(path.relative_to(finished.folder) for path in finished.folder.glob(PREDICTIONS))
    assert len(found) == 8
    for path in found:
        assert sha256(copy.folder / path) == sha256(finished.folder / path)
    csv = "results/demo/tables/demo/gu2020-table06.csv"
    assert (copy.folder / csv).read_text() == (finished.folder / csv).read_text()
