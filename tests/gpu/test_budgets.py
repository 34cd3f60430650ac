"""Kernels, memory, waits, copies and predicted speed of a step of full-size recipes on the pretended device.

A change that exceeds a budget makes pretraining slower: see benchmarks/roofline.py.
"""

import json
from dataclasses import asdict
from typing import Any, NamedTuple

import pytest

from benchmarks.pretraining_methods import ROOFLINE
from benchmarks.roofline import classes
from pubmill.pretraining.methods import COMPILED
from tests.gpu.conftest import Trace
from tests.gpu.rooflines import H100


class Budget(NamedTuple):
    """Most kernels and bytes of a step, and the least predicted share of a measured product's speed."""

    kernels: int
    peak: float
    mfu: float


BUDGETS = {
    "BERT-base 128": Budget(2_300, 24e9, 0.53),
    "BERT-base 512": Budget(2_300, 26e9, 0.46),
    "BERT-large 512": Budget(4_300, 36e9, 0.51),
    "ALBERT-xxlarge 128": Budget(1_480, 26e9, 0.69),
    "ELECTRA-base 128": Budget(4_600, 32e9, 0.45),
}


@pytest.mark.long
@pytest.mark.weekly
@pytest.mark.parametrize("case", BUDGETS)
def test_a_step_keeps_its_budget(case: str, trace: Trace) -> None:
    found: dict[str, Any] = trace("trace_recipes.py", case)[case]
    budget = BUDGETS[case]
    assert found["methods"] == asdict(COMPILED)
    assert sum(found["waits"].values()) == 1 and not found["copies"]
    assert found["kernels"] <= budget.kernels
    assert found["peak"] <= budget.peak < H100.memory
    assert found["flops"] / found["seconds"] / H100.product >= budget.mfu
    if case in (stored := json.loads(ROOFLINE.read_text())):
        assert classes(found) == {
            side: pytest.approx(seconds, rel=0.02) for side, seconds in stored[case].items()
        }, "run benchmarks/roofline.py --quick --output benchmarks/roofline.json"
