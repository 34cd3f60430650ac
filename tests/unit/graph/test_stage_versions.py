"""Versions of stages: a raised one reruns every job of its stage, so each is confirmed."""

import json

from pubmill.graph.stage_versions import VERSIONS
from tests import stages


def test_versions_are_those_that_were_confirmed() -> None:
    stored = {stage: found["version"] for stage, found in json.loads(stages.STORED.read_text()).items()}
    confirmed = {stage: found[0] if isinstance(found, list) else found for stage, found in stored.items()}
    assert confirmed == VERSIONS, "confirm a raised version: python -m tests.stages --confirm"
