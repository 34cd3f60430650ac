"""Two processes give what one gives, whatever the family, and a run may change their number."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from pubmill.recipes import PretrainingRecipe
from tests.unit.pretraining.toy_pretraining import changed, log, pretrain, state, weights
from tests.waiting import patience

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
# without dropout, whose random numbers belong to a process
PLAIN = changed(architecture={"dropout": 0.0}, precision="float32", steps=10)
ALBERT = changed(
    PLAIN, architecture={"family": "albert", "embedding_size": 12},
    objective={"pairs": "sentence-order", "masking": "n-gram"}, optimisation={"optimiser": "lamb"},
    recompute_activations=True,
)  # fmt: skip
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def program(data: Path, output: Path, to: int, recipe: PretrainingRecipe, *more: str) -> list[str]:
    places = ["--tokens", data / "tokens", "--vocab", data, "--output", output, "--to", to]
    given = ["--recipe", json.dumps(asdict(recipe)), *map(str, places), *more]
    return [str(ROOT / "scripts/pretrain.py"), *given]


def side_by_side(line: list[str]) -> str:
    """Run a command in two processes that find each other as those of torchrun do; return their messages."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    world = ENVIRONMENT | {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    places = [world | {"RANK": rank, "LOCAL_RANK": rank} for rank in ("0", "1")]
    runs = [subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=env, cwd=ROOT) for env in places]
    messages = [run.communicate(timeout=patience(300))[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], messages
    return "".join(messages)


def disturbed(python: str, how: str, data: Path, output: Path, recipe: PretrainingRecipe) -> list[str]:
    """The command of `disturbed.py` that ends at the step that `output` names."""
    steps = output.name.removeprefix("step-")
    script = Path(__file__).parent / "disturbed.py"
    return [python, str(script), how, str(data), str(output), steps, json.dumps(asdict(recipe))]


def alike(one: Path, other: Path) -> None:
    for name in ("model.safetensors", "auxiliary.safetensors", "optimizer.safetensors"):
        left, right = load_file(one / name), load_file(other / name)
        assert left.keys() == right.keys()
        for key, tensor in left.items():
            torch.testing.assert_close(tensor, right[key], atol=2e-4, rtol=2e-3, msg=key)
    for left, right in zip(log(one), log(other), strict=True):
        assert left["tokens"] == right["tokens"]
        assert left["padding"] == pytest.approx(right["padding"], abs=0.2)
        for name in left.keys() & {"loss", "mlm_loss", "nsp_loss", "sop_loss", "mlm_accuracy"}:
            assert left[name] == pytest.approx(right[name], abs=1e-4), name


def test_two_processes_are_one(data: Path, tmp_path: Path, python: str) -> None:
    two, one = tmp_path / "two/step-10", tmp_path / "one/step-10"
    side_by_side([python, *program(data, two, 10, ALBERT)])
    alike(pretrain(data, one, 10, recipe=ALBERT), two)
    assert state(two)["hardware"]["processes"] == 2
    judged, ours = state(two)["held_out"], state(one)["held_out"]
    assert judged.keys() == ours.keys()
    for masking, found in judged.items():
        assert found["mlm_loss"] == pytest.approx(ours[masking]["mlm_loss"], abs=1e-4)


def test_the_number_of_processes_may_change_and_the_state_be_spread(
    data: Path, tmp_path: Path, python: str
) -> None:
    """One process, then two with each its half of the optimiser, then one again."""
    spread, second = changed(PLAIN, shard_optimiser=True), tmp_path / "a/step-7"
    first = pretrain(data, tmp_path / "a/step-3", 3, recipe=PLAIN)
    side_by_side([python, *program(data, second, 7, spread, "--previous", str(first))])
    last = pretrain(data, tmp_path / "a/step-10", 10, second, PLAIN)
    alike(pretrain(data, tmp_path / "b/step-10", 10, recipe=PLAIN), last)


def test_too_little_memory_in_one_process_halves_the_micro_batches_of_all(
    data: Path, tmp_path: Path, python: str
) -> None:
    """Each waits for the others' gradients, whether the last micro-batch fails or another one."""
    recipe, output = changed(PLAIN, batch_size=16), tmp_path / "two/step-10"
    found = side_by_side(disturbed(python, "short", data, output, recipe))
    alike(pretrain(data, tmp_path / "one/step-10", 10, recipe=recipe), output)
    halved = [line for line in found.splitlines() if "too little memory" in line]
    assert [line.partition("continuing with ")[2] for line in halved] == ["2 at once", "1 at once"]


def test_sums_during_the_backward_pass_change_no_bit(data: Path, tmp_path: Path, python: str) -> None:
    """Of copies in bfloat16, with three micro-batches in one process and two in the other. ALBERT's layers
    share weights, whose gradients come in another way than those of its embeddings and heads."""
    outputs = [tmp_path / how / "step-3" for how in ("after", "overlapping")]
    for output in outputs:
        recipe = changed(ALBERT, batch_size=9)
        reported = side_by_side(disturbed(python, output.parent.name, data, output, recipe))
    assert weights(outputs[0]) == weights(outputs[1])
    begun = {line for line in reported.splitlines() if line.startswith("begun")}
    assert len(begun) == 1 and "begun: 0 of" not in reported


def test_an_overflow_in_one_process_skips_the_update_in_all(data: Path, tmp_path: Path, python: str) -> None:
    """In float16, with each its half of the optimiser, like one process that overflows in the same steps."""
    recipe = changed(PLAIN, precision="float16", shard_optimiser=True)
    one, two = tmp_path / "one/step-10", tmp_path / "two/step-10"
    side_by_side(disturbed(python, "overflowing", data, two, recipe))
    alone = disturbed(python, "overflowing", data, one, recipe)
    subprocess.run(alone, env=ENVIRONMENT, cwd=ROOT, check=True, capture_output=True)
    assert state(one)["loss_scaling"] == state(two)["loss_scaling"]
    assert state(two)["loss_scaling"] == {"skipped": 2, "scale": 2.0**14, "updates_at_scale": 7}
    counted = load_file(two / "optimizer.safetensors")["model.cls.predictions.bias.step"]
    assert counted.item() == 8
    for left, right in zip(log(one), log(two), strict=True):
        assert left["learning_rate"] == right["learning_rate"]
        assert left["loss"] == pytest.approx(right["loss"], rel=5e-3)


def test_asked_to_stop_all_processes_of_torchrun_stop_with_a_save(data: Path, tmp_path: Path) -> None:
    recipe = changed(PLAIN, steps=4000, batch_size=341)  # 85 at once: three micro-batches here, two there
    output, folder = tmp_path / "step-4000", tmp_path / ".step-4000.partial"
    line = [*TORCHRUN, *program(data, output, 4000, recipe, "--save-minutes", "0")]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as run:
        while not list(folder.glob("step-*/state.json")) and run.poll() is None:
            time.sleep(0.05)
        run.send_signal(signal.SIGTERM)
        _, reported = run.communicate(timeout=patience(60))
    assert run.returncode and "asked to stop; saved" in reported
    saves = list(folder.glob("step-*"))
    assert 1 <= len(saves) <= 2
    for save in saves:
        found = json.loads((save / "state.json").read_text())
        assert found["step"] == int(save.name.removeprefix("step-"))
        assert found["hardware"]["processes"] == 2
    assert not list(folder.glob(".*"))
