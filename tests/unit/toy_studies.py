"""A study of two models at the scale of the demo."""

from pathlib import Path

from pubmill.specs.study import check_study
from pubmill.stages import Graph, checked_graph


def targets(root: Path, **config: object) -> Graph:
    """Return its checked graph; `config`: other settings than these."""
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    models = {"models": ["pubmedbert-base", "no-pretraining"]}
    return checked_graph(*check_study(base | models | config, root / "specs"))
