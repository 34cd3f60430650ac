"""The demo as `make demo` runs it, with shorter trainings: the whole study, and what its report must show."""

import json
import random
import re
from pathlib import Path

import pytest

from pubmill.examples.kinds import KINDS, TokensExample, read_examples
from pubmill.metrics.entities import score_entities
from tests.workflow.conftest import Project, copy_code

pytestmark = pytest.mark.long
DATASETS = ("bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba")


@pytest.fixture(scope="module")
def demo(root: Path, world: Path, tmp_path_factory: pytest.TempPathFactory, python: str) -> Path:
    project = Project(copy_code(root, tmp_path_factory.mktemp("demo")), python=python)
    scale = "specs/scales/demo.yaml"
    project.edit(scale, "steps: 1000\n", "steps: 500\n")
    project.edit(scale, "checkpoints: [500, 1000]", "checkpoints: [250, 500]")
    project.edit(scale, "hoc@blurb], grid: {epochs: [40]}}", "hoc@blurb], grid: {epochs: [16]}}")
    project.edit(scale, "{bc5-chem: 2, bc2gm: 2, jnlpba: 2,", "{bc5-chem: 2,")
    project.run("--config", f"mirror={world}")
    assert project.planned("--config", f"mirror={world}") == {}
    return project.folder / "results/demo"


def score(results: Path, model: str, dataset: str) -> float:
    table = json.loads((results / "tables/demo/gu2020-table06.json").read_text())
    return float(table["cells"][model][dataset]["value"]) / 100


def chance(results: Path, dataset: str) -> float:
    """Return the F1 of labels drawn at random with their frequencies in train."""
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


def test_every_cell_of_the_demos_models_has_a_value(demo: Path) -> None:
    cells = json.loads((demo / "tables/demo/gu2020-table06.json").read_text())["cells"]
    for model in ("pubmedbert-base", "no-pretraining"):
        assert len(cells[model]) == 14  # 13 datasets and the BLURB score
        assert {
            column: cell["missing"] for column, cell in cells[model].items() if cell["value"] is None
        } == {}


OF_NO_PAPER = {"relations", "mentions"}
"""Kinds of datasets that no table of the demo shows."""


def test_every_kind_of_dataset_is_converted_and_has_a_page_in_the_report(demo: Path) -> None:
    cards = [json.loads(path.read_text()) for path in (demo / "datasets").glob("*/card.json")]
    assert {card["kind"] for card in cards} == set(KINDS) - OF_NO_PAPER
    assert {card["access"] for card in cards} == {"public", "registration", "credentialed"}
    report = (demo / "reports/demo.html").read_text(encoding="utf-8")
    pages = set(re.findall(r'<details class="page" id="page-([^"]+)">', report))
    assert pages == {card["dataset"] for card in cards}


def test_the_tables_of_datasets_show_what_was_counted(demo: Path) -> None:
    card = json.loads((demo / "datasets/chemprot@blurb/card.json").read_text())
    table = (demo / "tables/demo/gu2020-table03.md").read_text()
    row = next(line for line in table.splitlines() if "ChemProt" in line)
    assert str(card["counts"]["train"]["examples"]) in row
    assert "18035" not in "".join(row.split()), "made-up data stand beside no published count"


def test_the_report_is_one_file_that_needs_nothing_else(demo: Path) -> None:
    report = (demo / "reports/demo.html").read_text()
    assert "made-up data" in report and "PubMedBERT" in report and "<svg" in report
    assert 'src="http' not in report and "<link" not in report and "<script src" not in report
