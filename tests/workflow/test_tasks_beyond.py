"""Relations of documents, nested mentions and list questions through the Snakefile, to scored cells."""

import json
import re
from typing import Any

import pytest

from tests.workflow.conftest import Project, copy_of

pytestmark = pytest.mark.long

DATASETS = {
    "bc5cdr-cid@documents": ("relation_f1", {"relation_precision", "relation_recall"}),
    "biored-relations@documents": ("relation_f1", {"relation_novelty_f1", "relation_pair_f1"}),
    "nlm-gene@nested": ("entity_f1", {"entity_precision", "entity_recall"}),
    "bioasq-list@7b": ("list_f1", {"list_precision", "list_recall"}),
}
"""Dataset -> the metric of its cell, and others that its record has."""
TABLE = "results/demo/tables/demo/beyond-table02.json"


@pytest.fixture(scope="module")
def made(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = copy_of(finished, tmp_path_factory.mktemp("beyond") / "project")
    path = project.folder / "config.yaml"
    text = path.read_text()
    for key, value in (
        ("tables", "beyond/table02"),
        ("models", "no-pretraining"),
        ("datasets", ", ".join(DATASETS)),
    ):
        text, count = re.subn(rf"(?m)^{key}: .*$", f"{key}: [{value}]", text)
        assert count == 1
    path.write_text(text)
    project.edit("specs/scales/demo.yaml", "batch_size: 8, epochs: 1,", "batch_size: 8, epochs: 60,")
    project.run("--", TABLE)
    return project


def record(project: Project, dataset: str) -> Any:
    path = f"results/demo/runs/beyond/no-pretraining/{dataset}/standard/final/seed-1.json"
    return json.loads((project.folder / path).read_text())


@pytest.mark.parametrize("dataset", DATASETS)
def test_each_has_a_scored_cell(made: Project, dataset: str) -> None:
    """The models see enough of the miniature data to learn something."""
    metric, others = DATASETS[dataset]
    table = json.loads((made.folder / TABLE).read_text())
    cell = table["cells"]["no-pretraining"][dataset]
    scores = record(made, dataset)["metrics"]
    assert cell["missing"] is None and cell["value"] == pytest.approx(100 * scores[metric])
    assert scores[metric] > 0.1 and others <= scores.keys()
