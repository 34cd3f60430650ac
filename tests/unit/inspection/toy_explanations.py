"""Explainers of made-up records, and explanations as text."""

from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from pubmill.inspection.explain.cell_explanations import Explainer, Explanation
from pubmill.inspection.explain.explanation_printing import print_explanation
from pubmill.specs.study import Study
from pubmill.stages import Graph
from tests.conftest import ROOT
from tests.unit import toy_tables as made_up
from tests.unit.toy_studies import loaded

TABLE, MODEL, OTHER = "gu2020/table06", "pubmedbert-base", "no-pretraining"
TEST = "d" * 64
"""Hash of the examples on which made-up records were scored."""


def explainer(tmp_path: Path, **config: Any) -> Explainer:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": [TABLE], "models": [MODEL]}
    study = Study.model_validate(base | {"results": str(tmp_path)} | config)
    targets = Graph(study, loaded(ROOT / "specs", study.scale))
    return Explainer(targets, ROOT / "specs", ("studies/x.yaml",), ("results=here",))


def put_records(results: Path, *scores: float, **changes: Any) -> None:
    """Write records of seeds 1, 2 ... on BC2GM."""
    for seed, score in enumerate(scores, 1):
        made_up.write(results, made_up.record(MODEL, "bc2gm", seed, score, scale="demo", **changes))


def printed(explanation: Explanation, whole: bool = True, width: int = 400) -> str:
    text = StringIO()
    print_explanation(Console(file=text, width=width), explanation, whole)
    return text.getvalue()
