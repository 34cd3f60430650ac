"""A new metric costs three files: its module, the verifier's own function, and a test (here: no file)."""

from pathlib import Path

import pytest

from pubmill.metrics import METRICS
from pubmill.metrics.classes import accuracy, score_labels
from pubmill.metrics.registry import Metric, dev_scores
from pubmill.specs import load
from pubmill.specs.study import Study
from pubmill.stages import checked_graph


def test_specs_scores_versions_and_tables_know_it(specs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Metric(
        name="error_rate", label="error rate", definition="share of examples with a wrong label",
        source="a test", function=lambda totals: 1 - accuracy(totals), chooses=accuracy,
        kinds=("sequence",), version=1,
    )  # fmt: skip
    monkeypatch.setitem(METRICS, made.name, made)
    assert (
        score_labels(["a", "b", "b", "none"], ["a", "a", "b", "none"], "none").metrics["error_rate"] == 0.25
    )
    spec = specs / "datasets/pubmedqa.yaml"
    assert "metric: accuracy" in spec.read_text()
    spec.write_text(spec.read_text().replace("metric: accuracy", "metric: error_rate"))
    loaded = load(specs, "full")
    assert loaded.datasets["pubmedqa"].metric == "error_rate" and "error_rate" in dev_scores("sequence")
    study = Study(study="x", title="x", scale="full", tables=("gu2020/table06",))
    recipe = checked_graph(study, loaded).tables.recipe("gu2020/table06")
    assert {row.metric for row in recipe.rows if row.dataset == "pubmedqa"} == {"error_rate"}
