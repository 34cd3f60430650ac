"""Steps of every objective, task and head on a pretended CUDA device; needs a C++ compiler, but no GPU."""

from dataclasses import asdict
from typing import Any

import pytest

from pubmill.pretraining.methods import COMPILED, PLAIN
from tests.gpu.conftest import Trace
from tests.gpu.finetuning_cases import RECIPES as FINETUNING
from tests.gpu.trace_pretraining import RECIPES as PRETRAINING

pytestmark = pytest.mark.long

DIVIDED = {
    "tokens crf", "tokens bilstm", "sequence bilstm", "tokens dice", "tokens weighted", "span", "relations",
    "tokens, separate subwords", "sequence mention-max", "sequence mention-average", "mentions",
}  # fmt: skip
"""Cases with a step of two graphs; all others have one."""
USUAL = {"stream": "usual", "recording": False}
"""Stream and random numbers outside of recordings."""


@pytest.fixture(scope="module")
def pretraining(trace: Trace) -> dict[str, Any]:
    return trace("trace_pretraining.py")


@pytest.fixture(scope="module")
def finetuning(trace: Trace) -> dict[str, Any]:
    return trace("trace_finetuning.py")


@pytest.mark.parametrize("objective", PRETRAINING)
def test_a_pretraining_step_waits_for_the_device_once(objective: str, pretraining: dict[str, Any]) -> None:
    """In float16 twice: for the norm of the gradients, and for the scale after the update. Fast methods are
    chosen where activations may be in bfloat16."""
    found = pretraining[objective]
    assert found["outcome"] == "done"
    waits = 2 if objective.startswith("float16") else 1
    assert sum(found["step"]["waits"].values()) == waits and not found["step"]["copies"]
    plain = objective.startswith(("adversarial", "distillation", "float16"))
    assert found["methods"] == asdict(PLAIN if plain else COMPILED)


@pytest.mark.parametrize("case", FINETUNING)
def test_a_finetuning_step_is_replayed_and_never_waits(case: str, finetuning: dict[str, Any]) -> None:
    """Nor does one of a new shape; a prediction waits once."""
    found = finetuning[case]
    assert found["outcome"] == "done" and found["after"] == USUAL
    assert found["usual"] == found["step"] == {"waits": {}, "copies": {}}
    assert found["replays"] == (2 if case in DIVIDED else 1)
    assert sum(found["predict"]["waits"].values()) == 1 and not found["predict"]["copies"]


def test_a_finetuning_step_in_float16_waits_for_the_scale_alone(finetuning: dict[str, Any]) -> None:
    found = finetuning["float16"]
    assert found["graphs"] == 0 and sum(found["predict"]["waits"].values()) == 1
    assert sum(found["step"]["waits"].values()) == 1 and not found["step"]["copies"]


def test_planted_faults_of_finetuning_are_found(finetuning: dict[str, Any]) -> None:
    assert finetuning["planted tensor"]["outcome"].startswith("FakeTensorDeviceMismatchError")
    for planted in ("planted wait", "planted mask"):
        assert sum(finetuning[planted]["usual"]["waits"].values()) == 1
    assert sum(finetuning["planted copy"]["step"]["copies"].values()) == 1
    for planted in ("planted wait in a recording", "planted wait in a loss"):
        refused = finetuning[planted]
        assert refused["outcome"].startswith("operation not permitted") and refused["replays"] == 0
        assert refused["after"] == USUAL
