"""A new metric costs three files: its module, the verifier's own function, and a test (here, in a copy)."""

import shutil
import subprocess
import sys
from pathlib import Path

MODULE = '''

def error_rate(totals: Totals) -> Array:
    """Share of examples whose label is wrong."""
    return 1 - accuracy(totals)


register(
    Metric(
        name="error_rate",
        kinds=("sequence",),
        version=1,
        label="error rate",
        definition="share of examples with a wrong label",
        source="a test",
        function=error_rate,
        chooses=accuracy,
    )
)
'''
TEST = """
from pathlib import Path

from pubmill.metrics import METRICS
from pubmill.metrics.classes import score_labels
from pubmill.metrics.registry import dev_scores
from pubmill.specs import load
from pubmill.specs.study import Study
from pubmill.stages import checked_graph

assert METRICS["error_rate"].label == "error rate"
scored = score_labels(["a", "b", "b", "none"], ["a", "a", "b", "none"], "none")
assert scored.metrics["error_rate"] == 0.25

specs = load(Path("specs"), "full")
assert specs.datasets["pubmedqa"].metric == "error_rate" and "error_rate" in dev_scores("sequence")
study = Study(study="x", title="x", scale="full", tables=("gu2020/table06",))
recipe = checked_graph(study, specs).tables.recipe("gu2020/table06")
assert {row.metric for row in recipe.rows if row.dataset == "pubmedqa"} == {"error_rate"}
"""


def test_specs_scores_versions_and_tables_know_it(root: Path, tmp_path: Path) -> None:
    for folder in ("pubmill", "specs"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "pubmill/metrics/classes.py").open("a") as file:
        file.write(MODULE)
    (tmp_path / "test_error_rate.py").write_text(TEST)
    spec = tmp_path / "specs/datasets/pubmedqa.yaml"
    assert "metric: accuracy" in spec.read_text()
    spec.write_text(spec.read_text().replace("metric: accuracy", "metric: error_rate"))
    command = [sys.executable, "test_error_rate.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
