"""Fine-tunings in forks of one process: each as alone, bit for bit; torch, model and data are loaded once."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.finetuning.shared_process import preload, take
from pubmill.hardware.forked_programs import VARIABLE, ForkServer
from pubmill.recipes.reading import as_json
from tests.unit.finetuning.test_pairs import BASE, datasets, model

__all__ = ["datasets", "model"]
SEEDS = (1, 2, 3, 4, 5)
OBSERVER = """
import os, sys
def note(event, found):
    name = os.path.basename(str(found[0])) if event in ("import", "open", "ctypes.dlopen") else ""
    loads = event == "import" and name in ("torch", "transformers")
    if loads or name.endswith((".jsonl.gz", "model.safetensors")):
        if "predictions" not in name:
            log(name)
    elif event == "ctypes.dlopen" and "libcuda" in name:
        log(name)
def log(name):
    with open(LOG, "a") as lines:
        print(os.getpid(), name, file=lines)
sys.addaudithook(note)
"""
"""What Python imports at its start: it notes which process loads what."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Log of what the process and its forks load."""
    folder = tmp_path_factory.mktemp("observed")
    (folder / "sitecustomize.py").write_text(f"LOG = {str(folder / 'log')!r}{OBSERVER}")
    return folder / "log"


@pytest.fixture(scope="module")
def server(root: Path, log: Path) -> Iterator[ForkServer]:
    before = os.environ.copy()
    os.environ["PYTHONPATH"] = f"{log.parent}:{root}"
    with closing(ForkServer(root / "scripts/finetune.py")) as server:
        os.environ["PYTHONPATH"] = str(root)
        yield server
    server.process.wait(60)
    os.environ.clear()
    os.environ.update(before)


def run(root: Path, model: Path, data: Path, out: Path, seed: int, **settings: str) -> dict[str, Any]:
    """Fine-tune; return all that is written, but for seconds and speed."""
    output = out / f"seed-{seed}.predictions.jsonl.gz"
    recipe = as_json(replace(BASE, dropout=0.2, precision="float32"))
    command = [
        *(sys.executable, str(root / "scripts/finetune.py"), "--recipe", recipe, "--model", str(model)),
        *("--dataset", str(data), "--seed", str(seed), "--split", "test", "--output", output.name),
    ]
    out.mkdir(exist_ok=True)
    done = subprocess.run(command, env=os.environ | settings, cwd=out, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads((out / f"seed-{seed}.training.json").read_text())
    for name in ("seconds", "tokens_per_second", "content_sha256"):
        report.pop(name)
    return {"report": report, "predictions": output.read_bytes(), "log": done.stderr}


@pytest.mark.long
def test_five_seeds_in_forks_give_what_each_gives_alone(
    root: Path, model: Path, datasets: Path, server: ForkServer, log: Path, tmp_path: Path
) -> None:
    data, threads = datasets / "tokens", {"OMP_NUM_THREADS": "2"}
    shared = [run(root, model, data, tmp_path / "shared", seed, **threads) for seed in SEEDS]
    alone = run(root, model, data, tmp_path / "alone", SEEDS[2], **threads, **{VARIABLE: ""})
    assert alone == shared[2] and alone["report"]["hardware"]["threads"] == 2
    assert len({one["predictions"] for one in shared}) > 1
    lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    assert {number for number, _ in lines} == {str(server.process.pid)}, "a fork loaded something again"
    loaded = Counter(name for _, name in lines)
    # Examples are read, and their file is hashed.
    assert loaded == {
        "torch": loaded["torch"], "transformers": loaded["transformers"],
        **dict.fromkeys(("train.jsonl.gz", "dev.jsonl.gz", "test.jsonl.gz"), 2),
        "model.safetensors": loaded["model.safetensors"],
    }  # fmt: skip


def test_a_fault_is_reported_in_the_log_of_its_own_run(
    root: Path, model: Path, datasets: Path, server: ForkServer, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match="no-dataset/train.jsonl.gz does not exist"):
        run(root, model, datasets / "no-dataset", tmp_path, 1)
    assert run(root, model, datasets / "tokens", tmp_path, 1)["report"]["seed"] == 1


def test_what_was_loaded_is_taken_once_and_only_if_its_files_are_unchanged(tmp_path: Path) -> None:
    path, calls = tmp_path / "file", list[str]()

    def read(path: Path, ending: str = "") -> str:
        calls.append(ending)
        return path.read_text(encoding="utf-8") + ending

    path.write_text("first")
    preload([(read, path, ("!",)), (read, path, ("?",))])
    preload([(read, path, ("!",))])
    assert len(calls) == 2
    assert take(read, path, "!") == "first!" and len(calls) == 2
    assert take(read, path, "!") == "first!" and len(calls) == 3
    assert take(read, path, "?") == "first?" and len(calls) == 4
    preload([(read, path, ("!",))])
    path.write_text("second, which is longer")
    assert take(read, path, "!") == "second, which is longer!"
