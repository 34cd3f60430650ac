"""Runs of both training programs that only a GPU can show: killed and resumed, and two processes on one GPU.

    python benchmarks/gpu_runs.py resume|processes|seeds

`resume`: a pretraining is killed after its first save and run again; a fine-tuning is killed and run again,
and runs in a fork of a process that serves several seeds. The lines say whether weights and predictions are
those of an undisturbed run, bit for bit, with the usual kernels and with PUBMILL_DETERMINISTIC=1, where an
operation that is refused is named. On a GPU all run at the same time; each line is printed as soon as it is
known.
`processes`: the same pretraining with one process and with two on one device, by NCCL, or by gloo if NCCL
refuses two processes on one GPU. The line has the largest difference between their losses, and with dropout,
whose draws depend on the number of processes, whether two processes repeat their own weights.
`seeds`: four fine-tunings in one process, and in two and four processes at once, as a job could do on a GPU
that one of them leaves idle. The lines have the seconds with the start of the programs, and whether the
predictions are the same.
Pretrainings run in float32 without dropout, and in bfloat16 with dropout, which a GPU computes by the fast
methods; a line names the methods, and fails if the planned ones did not work.
All run on made-up texts and tiny models (`seeds` on a GPU: BERT-base), on a processor if torch finds no GPU.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(ROOT)

import torch

from benchmarks.finetuning_texts import relations, write_model
from pubmill.examples.kinds import write_examples
from pubmill.hardware.torch_setup import STRICT
from tests.unit.pretraining.toy_pretraining import changed, losses, make_data, state, weights

STEPS = 60 if torch.cuda.is_available() else 12
"""Steps of a pretraining; on a processor it is only shown that the programs work."""
EXACT, FAST = "float32 without dropout", "bfloat16 with dropout"
PRETRAININGS = {
    EXACT: changed(steps=STEPS, architecture={"dropout": 0.0}, precision="float32"),
    FAST: changed(steps=STEPS, architecture={"dropout": 0.1}, precision="bfloat16"),
}
ENVIRONMENTS = {"deterministic": {STRICT: "1"}}
if torch.cuda.is_available():  # A processor's usual kernels are deterministic.
    ENVIRONMENTS["usual kernels"] = {STRICT: "0"}
SECONDS = 120
"""Timeout of one program."""
SHOWN = 2000
"""Characters of a failed program's messages."""
TWO = f"""
import os, sys, torch, torch.distributed as dist
sys.path.insert(0, {str(ROOT)!r})
os.environ["LOCAL_RANK"] = "0"  # both processes use the first GPU
join = dist.init_process_group
if os.environ["BACKEND"] == "gloo":
    dist.init_process_group = lambda *given, **named: join("gloo")
import runpy
runpy.run_path({str(ROOT / "scripts/pretrain.py")!r}, run_name="__main__")
"""
"""scripts/pretrain.py in two processes that share a GPU."""
STARTED: list[subprocess.Popen[str]] = []


def pretraining(data: Path, output: Path, recipe: str) -> list[str]:
    """Return the arguments of scripts/pretrain.py; it saves itself after each step."""
    places = {"--tokens": data / "tokens", "--vocab": data, "--output": output, "--to": STEPS}
    fixed = ["--recipe", json.dumps(asdict(PRETRAININGS[recipe])), "--save-minutes", "0"]
    return [*fixed, *(str(part) for pair in places.items() for part in pair)]


def finetuning(folder: Path, output: Path, seeds: Iterable[int] = (1,)) -> list[str]:
    """Return the arguments of scripts/finetune.py."""
    recipe = replace(relations(None).recipe, epochs=2, keep="best", max_length=64)
    places = {"--model": folder / "model", "--dataset": folder, "--output": output}
    fixed = ["--recipe", json.dumps(asdict(recipe)), "--split", "test", "--dev", "test"]
    return [*fixed, "--seeds", *map(str, seeds), *(str(part) for pair in places.items() for part in pair)]


def write_dataset(folder: Path, small: bool = True) -> None:
    """Write a dataset of made-up relations, and a random BERT that knows its words."""
    work = relations(None)
    write_model(folder / "model", work.train.texts, learn=False, small=small)
    write_examples(folder / "train.jsonl.gz", work.train.of[: 256 if small else None])
    write_examples(folder / "test.jsonl.gz", work.train.of[256:320])


def start(script: str, arguments: list[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    return run([str(ROOT / "scripts" / script), *arguments], environment)


def run(arguments: list[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start Python as the leader of a group of processes, so that none of them outlives its timeout, or this
    program."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=os.environ | environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    STARTED.append(process)
    return process


def end_started() -> None:
    """Kill the programs that still run, with their children."""
    for process in STARTED:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)


def finish(process: subprocess.Popen[str], seconds: float = SECONDS) -> str | None:
    """Wait for a program; return None, or the end of its messages if it failed or did not end."""
    try:
        _, messages = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        _, messages = process.communicate()
        return f"no end after {seconds} s: {messages[-SHOWN:]}"
    return messages[-SHOWN:] if process.returncode else None


def killed(process: subprocess.Popen[str], begun: Callable[[], bool]) -> bool:
    """Kill a program once it has begun its work; return whether it was still running then.

    `begun` may wait for a line of its messages, but no longer than the program runs.
    """
    timer = threading.Timer(SECONDS, process.kill)
    timer.start()
    while not begun() and process.poll() is None:
        time.sleep(0.01)
    timer.cancel()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def resumed_pretraining(folder: Path, environment: Mapping[str, str], recipe: str) -> str:
    data = make_data(folder / "data")
    first = pretraining(data, folder / "undisturbed" / "step", recipe)
    if error := finish(start("pretrain.py", first, environment)):
        return f"failed: {error}"
    again = pretraining(data, folder / "again" / "step", recipe)
    process = start("pretrain.py", again, environment)
    if not killed(process, lambda: any((folder / "again").glob(".step.partial/step-*/state.json"))):
        return "failed: it ended before it was killed"
    if error := finish(start("pretrain.py", again, environment)):
        return f"failed: {error}"
    return compared(folder / "again" / "step", folder / "undisturbed" / "step")


def compared(one: Path, other: Path) -> str:
    """Return whether two checkpoints have the same weights, how far their losses differ, and the methods."""
    same = weights(one) == weights(other)
    return f"same weights: {same}; largest difference of a loss: {difference(one, other):.1e}{methods(one)}"


def difference(one: Path, other: Path) -> float:
    return max(abs(a - b) for a, b in zip(losses(one), losses(other), strict=True))


def methods(checkpoint: Path) -> str:
    """Return the end of a line: how a GPU computed the steps."""
    hardware = state(checkpoint)["hardware"]
    if hardware.get("methods_refused"):
        return f"; failed: {hardware['methods_refused']}"
    names = [hardware[name] for name in ("sequences", "weights", "layers") if name in hardware]
    return f" ({', '.join(names)})" if names else ""


def repeated_finetuning(folder: Path, environment: Mapping[str, str]) -> str:
    """Fine-tune undisturbed, and killed and run again."""
    write_dataset(folder)
    outputs = [folder / name / "runs.json" for name in ("undisturbed", "again")]
    if error := finish(start("finetune.py", finetuning(folder, outputs[0]), environment)):
        return f"failed: {error}"
    process = start("finetune.py", finetuning(folder, outputs[1]), environment)
    # One of its two epochs has been scored.
    if not killed(process, lambda: process.stderr is None or ": dev " in process.stderr.readline()):
        return "failed: it ended before it was killed"
    if error := finish(start("finetune.py", finetuning(folder, outputs[1]), environment)):
        return f"failed: {error}"
    predicted = [output.with_name("seed-1.predictions.jsonl.gz").read_bytes() for output in outputs]
    return f"same predictions: {predicted[0] == predicted[1]}"


def resume(folder: Path) -> Iterator[str]:
    with ThreadPoolExecutor(8 if torch.cuda.is_available() else 1) as pool:
        begun = {pool.submit(work): name for name, work in resumptions(folder)}
        for done in as_completed(begun):
            yield f"{begun[done]}: {done.result()}"


def resumptions(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the name of each line of `resume` and what finds its result."""
    for name, environment in ENVIRONMENTS.items():
        place = folder / name.replace(" ", "-")
        for recipe in PRETRAININGS:
            begun = place / recipe.partition(" ")[0]
            begun.mkdir(parents=True)
            work = partial(resumed_pretraining, begun, environment, recipe)
            yield f"pretraining killed and resumed, {recipe}, {name}", work
        dataset = place / "dataset"
        dataset.mkdir()
        work = partial(repeated_finetuning, dataset, environment)
        yield f"fine-tuning killed and run again, {name}", work


def on_two(data: Path, output: Path, recipe: str, backend: str, environment: Mapping[str, str]) -> str | None:
    """Pretrain with two processes; return None, or the messages of the failure."""
    output.parent.mkdir(parents=True, exist_ok=True)
    program = output.parent / "two.py"
    program.write_text(TWO, encoding="utf-8")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    arguments = [*torchrun, str(program), *pretraining(data, output, recipe)]
    return finish(run(arguments, {**environment, "BACKEND": backend, "OMP_NUM_THREADS": "1"}))


def processes(folder: Path) -> Iterator[str]:
    data = make_data(folder / "data")
    backends = ["nccl", "gloo"] if torch.cuda.is_available() else ["gloo"]
    for recipe in PRETRAININGS:
        one = folder / "one" / recipe.partition(" ")[0]
        if error := finish(start("pretrain.py", pretraining(data, one, recipe), {})):
            yield f"one process failed, {recipe}: {error}"
            continue
        while backends and (error := on_two(data, folder / backends[0] / one.name, recipe, backends[0], {})):
            print(f"{backends.pop(0)} refused: {error}", flush=True)
        if not backends:
            yield "two processes failed"
            return
        two = folder / backends[0] / one.name
        most = f"largest difference of a loss from one process: {difference(one, two):.1e}{methods(two)}"
        yield f"two processes by {backends[0]}, {recipe}: {most}"
    for name, environment in ENVIRONMENTS.items():
        yield f"two processes by {backends[0]} twice, {FAST}, {name}: " + repeated(
            data, folder / name, backends[0], environment
        )


def repeated(data: Path, folder: Path, backend: str, environment: Mapping[str, str]) -> str:
    """Return whether two processes in bfloat16 with dropout give the same weights twice."""
    outputs = [folder / time / "step" for time in ("first", "second")]
    for output in outputs:
        if error := on_two(data, output, FAST, backend, environment):
            return f"failed: {error}"
    return compared(*outputs)


def seeds(folder: Path) -> Iterator[str]:
    write_dataset(folder, small=not torch.cuda.is_available())
    expected: list[bytes] = []
    for at_once in (1, 2, 4):
        output, started = folder / f"at-once-{at_once}" / "runs.json", time.monotonic()
        shares = [range(first, 5, at_once) for first in range(1, at_once + 1)]
        outputs = [output.with_name(f"runs-{share[0]}.json") for share in shares]
        programs = [
            start("finetune.py", finetuning(folder, output, share), {"OMP_NUM_THREADS": "1"})
            for output, share in zip(outputs, shares, strict=True)
        ]
        if errors := [error for program in programs if (error := finish(program))]:
            yield f"four seeds, {at_once} at once failed: {errors[0]}"
            continue
        seconds = time.monotonic() - started
        made = [output.with_name(f"seed-{seed}.predictions.jsonl.gz").read_bytes() for seed in range(1, 5)]
        expected = expected or made
        yield f"four seeds, {at_once} at once: {seconds:.1f} s; same predictions: {made == expected}"


def main() -> None:
    parts = {"resume": resume, "processes": processes, "seeds": seeds}
    if sys.argv[1:] not in [[name] for name in parts]:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *given: sys.exit(1))
    failed = False
    with TemporaryDirectory() as folder:
        try:
            for line in parts[sys.argv[1]](Path(folder)):
                print(line, flush=True)
                failed |= "failed" in line
        finally:
            end_started()
    sys.exit(failed)


if __name__ == "__main__":
    main()
