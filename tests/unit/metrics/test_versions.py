"""Versions of metrics: a raised one scores every run again, so each is confirmed."""

import json

from pubmill.metrics import METRICS
from tests import stages


def test_versions_are_those_that_were_confirmed() -> None:
    _, confirmed = json.loads(stages.STORED.read_text())["score"]["version"]
    assert confirmed == {name: metric.version for name, metric in METRICS.items()}
