"""The demo as `make demo` runs it: everything, at its own scale, and what its report must show."""

import json
import random
from pathlib import Path

import pytest

from pubmill.examples import TokensExample, read_examples
from pubmill.metrics.entities import score_entities
from tests.workflow.conftest import Project, copy_code

DATASETS = ("bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba")


@pytest.fixture(scope="module")
def demo(root: Path, world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the demo, unabridged."""
    project = Project(copy_code(root, tmp_path_factory.mktemp("demo")))
    project.run("--config", f"mirror={world}")
    assert project.planned("--config", f"mirror={world}") == {}
    return project.folder / "results/demo"


def score(results: Path, model: str, dataset: str) -> float:
    """The mean test F1 that the table shows."""
    table = json.loads((results / "tables/gu2020/table06.json").read_text())
    return float(table["cells"][model][dataset]["value"]) / 100


def chance(results: Path, dataset: str) -> float:
    """F1 of labels drawn at random, as often as they are in train."""
    draw = random.Random(1)
    train, test = (
        list(read_examples(results / f"datasets/{dataset}/{s}.jsonl.gz", TokensExample))
        for s in ("train", "test")
    )
    labels = [label for example in train for label in example.labels]
    guesses = [draw.choices(labels, k=len(example.labels)) for example in test]
    return score_entities([example.labels for example in test], guesses)[0]["entity_f1"]


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("model", ["pubmedbert-base", "no-pretraining"])
def test_every_model_beats_chance(demo: Path, model: str, dataset: str) -> None:
    assert score(demo, model, dataset) > chance(demo, dataset) + 0.05


def test_pretraining_beats_no_pretraining(demo: Path) -> None:
    means = [
        sum(score(demo, model, d) for d in DATASETS) / 5 for model in ("pubmedbert-base", "no-pretraining")
    ]
    assert means[0] > means[1]


def test_the_report_is_one_file_that_needs_nothing_else(demo: Path) -> None:
    report = (demo / "reports/demo.html").read_text()
    assert "made-up data" in report and "PubMedBERT" in report and "<svg" in report
    assert 'src="http' not in report and "<link" not in report and "<script" not in report
