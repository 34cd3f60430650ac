"""Checks of downloads."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.graph import Graph, checked_graph
from pubmill.specs.study import check_study


def targets(root: Path, **config: object) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    return checked_graph(
        *check_study({**base, "models": ["pubmedbert-base", "no-pretraining"], **config}, root / "specs")
    )


def test_an_unknown_download_is_refused(root: Path) -> None:
    with pytest.raises(PubmillError, match="no spec names https://example.org/x"):
        targets(root).sources.checks("https://example.org/x")
