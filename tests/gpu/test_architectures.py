"""Architectures and kinds of tasks on a pretended CUDA device; needs a C++ compiler, but no GPU."""

from typing import Any

import pytest

from tests.gpu.conftest import Trace
from tests.gpu.finetuning_cases import IN_FLOAT32, MAKERS
from tests.unit.finetuning.encoder_families import ARCHITECTURES

READS_VALUES = {"longformer", "led"}
"""They choose what they compute by values of the mask, which the pretended device does not have."""
UNRECORDED = {"deberta-v2", "deberta-v3", "long-t5"}
"""They copy a number from the host in each step, which a CUDA graph cannot; steps are done without."""


def check(family: str, found: dict[str, Any]) -> None:
    for task in MAKERS:
        outcome = found[task]["outcome"]
        if family in READS_VALUES:
            assert outcome == "DynamicOutputShapeException: aten.nonzero.default", (task, outcome)
        elif family in UNRECORDED:
            assert outcome.startswith("operation not permitted when stream is capturing"), (task, outcome)
            assert found[task]["predict"]
        else:
            assert outcome == "done", (task, outcome)
            assert family not in IN_FLOAT32 or found[task]["graphs"] == 0


@pytest.mark.long
@pytest.mark.weekly
@pytest.mark.parametrize("family", ARCHITECTURES)
def test_each_architecture_goes_through_all_tasks(family: str, trace: Trace) -> None:
    check(family, trace("trace_architectures.py", family)[family])
