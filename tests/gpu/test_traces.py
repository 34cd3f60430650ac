"""Steps of every objective, task, head and architecture on a pretended CUDA device; needs a C++ compiler, but
no GPU."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.pretraining.methods import COMPILED, PLAIN
from tests.gpu.finetuning_cases import IN_FLOAT32, TASKS
from tests.gpu.trace_finetuning import CASES as FINETUNING
from tests.gpu.trace_pretraining import RECIPES as PRETRAINING
from tests.unit.finetuning.encoder_families import ARCHITECTURES
from tests.waiting import patience

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
Trace = Callable[..., dict[str, Any]]

DIVIDED = {
    "tokens crf", "tokens bilstm", "sequence bilstm", "tokens dice", "tokens weighted", "span", "relations",
    "sequence mention-max", "sequence mention-average", "mentions",
}  # fmt: skip
"""Cases with a step of two graphs; all others have one."""
USUAL = {"stream": "usual", "recording": False}
"""Stream and random numbers outside of recordings."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Function that runs a program on the device, whose library is built in seconds, and returns what it
    prints."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is missing: it builds the pretended CUDA device")
    if sys.platform != "linux" or torch.version.cuda is not None:
        pytest.skip("the pretended CUDA device needs Linux and a build of PyTorch for processors only")
    library, installed = tmp_path_factory.mktemp("device") / "libpretended.so", Path(torch.__file__).parent
    places = [f"-I{installed / 'include'}", str(HERE / "pretended_device.cpp"), f"-L{installed / 'lib'}"]
    command = ["g++", "-std=c++20", "-shared", "-fPIC", *places, "-lc10", "-ltorch_cpu", "-o", str(library)]
    subprocess.run(command, check=True)
    loaded = {"LD_PRELOAD": str(library), "LD_LIBRARY_PATH": str(installed / "lib"), "OMP_NUM_THREADS": "1"}

    def run(program: str, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, str(HERE / program), *arguments],
            env=os.environ | loaded, capture_output=True, text=True, timeout=patience(300),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    return run


@pytest.fixture(scope="module")
def traced(trace: Trace, request: pytest.FixtureRequest) -> Callable[[str, Collection[str]], dict[str, Any]]:
    """Function that runs a program with those of its cases that tests of this run ask for."""

    def run(program: str, cases: Collection[str]) -> dict[str, Any]:
        names = [item.name for item in request.session.items]
        chosen = [case for case in cases if any(name.endswith(f"[{case}]") for name in names)]
        return trace(program, "--cases", *chosen)

    return run


@pytest.fixture(scope="module")
def pretraining(traced: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return traced("trace_pretraining.py", PRETRAINING)


@pytest.fixture(scope="module")
def finetuning(traced: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return traced("trace_finetuning.py", FINETUNING)


def mostly_weekly(cases: Iterable[str], *others: str) -> list[Any]:
    """Return the cases as parameters of a test, all but `others` as weekly ones."""
    return [pytest.param(case, marks=() if case in others else pytest.mark.weekly) for case in cases]


@pytest.mark.parametrize(
    "objective",
    mostly_weekly(
        PRETRAINING, "whole words, next sentence", "ELECTRA", "adversarial", "distillation", "float16"
    ),
)
def test_a_pretraining_step_waits_for_the_device_once(objective: str, pretraining: dict[str, Any]) -> None:
    """In float16 twice: for the norm of the gradients, and for the scale after the update. Fast methods are
    chosen where activations may be in bfloat16."""
    found = pretraining[objective]
    assert found["outcome"] == "done"
    waits = 2 if objective == "float16" else 1
    assert sum(found["step"]["waits"].values()) == waits and not found["step"]["copies"]
    plain = objective.startswith(("adversarial", "distillation", "float16"))
    assert found["methods"] == asdict(PLAIN if plain else COMPILED)


@pytest.mark.parametrize(
    "case",
    mostly_weekly(
        FINETUNING, "tokens", "tokens crf", "sequence mention-max", "multilabel", "span", "relations"
    ),
)
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


READS_VALUES = {"longformer", "led"}
"""They choose what they compute by values of the mask, which the pretended device does not have."""
UNRECORDED = {"deberta-v2", "deberta-v3", "long-t5"}
"""They copy a number from the host in each step, which a CUDA graph cannot; steps are done without."""


@pytest.mark.weekly
@pytest.mark.parametrize("family", ARCHITECTURES)
def test_each_architecture_goes_through_all_tasks(family: str, trace: Trace) -> None:
    found = trace("trace_finetuning.py", family)[family]
    for task in TASKS:
        outcome = found[task]["outcome"]
        if family in READS_VALUES:
            assert outcome == "DynamicOutputShapeException: aten.nonzero.default", (task, outcome)
        elif family in UNRECORDED:
            assert outcome.startswith("operation not permitted when stream is capturing"), (task, outcome)
            assert found[task]["predict"]
        else:
            assert outcome == "done", (task, outcome)
            assert family not in IN_FLOAT32 or found[task]["graphs"] == 0
