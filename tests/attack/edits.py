"""Attacks on runs and finished results by edits that leave no trace in times: code under a run, artefacts."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pubmill.inspection.damaged_results import examine
from pubmill.messages.run_sources import NO_SOURCES, VARIABLE, run_sources
from pubmill.metrics.contributions import read_items
from pubmill.storage.checksums import FOLDER_SUMS, SUMS, write_folder_sums, write_formats, write_predictions
from pubmill.storage.files import read_json, read_jsonl_gz, sealed, sha256, write_json, write_jsonl_gz
from pubmill.storage.parquet import parquet_fault
from tests.attack import attack, flipped, template
from tests.attack.flips import KINDS
from tests.imports import reached
from tests.unit.inspection.test_damaged_results import write_results
from tests.world.dice import Dice

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("select_trial", "score", "convert", "pack", "finetune", "pretrain", "report")
LOADED = (
    "import runpy, sys; runpy.run_path('{}'); "
    "print(*(getattr(module, '__file__', 0) for module in sys.modules.values()))"
)
KEYS = ("counts", "examples_sha256", "files", "sha256", "documents", "words", "model", "metrics")
"""What readers look for in the JSON files of `results`; an unknown key beside them is not read."""
IMPORTING = "from pubmill.errors import run; import importlib; run(lambda: importlib.import_module('{}'))"


@contextmanager
def edited(path: Path, content: bytes) -> Iterator[None]:
    """Give a file another content with its old time while the block runs."""
    before, stat = path.read_bytes(), path.stat()

    def give(now: bytes) -> None:
        path.write_bytes(now)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    give(content)
    try:
        yield
    finally:
        give(before)


@cache
def checkout() -> Path:
    """A copy of the code under which a run has begun."""
    folder = template()
    for name in ("pubmill", "scripts", "rules"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "run.json").write_text(json.dumps(run_sources(folder, [])))
    return folder


def started(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, *words]
    place = os.environ | {VARIABLE: str(checkout() / "run.json"), "PYTHONPATH": str(checkout())}
    return subprocess.run(line, env=place, cwd=checkout(), capture_output=True, text=True, check=False)


def path_of(program: str) -> str:
    own = f"scripts/{program}.py"
    return own if (ROOT / own).is_file() else f"pubmill/jobs/{program}.py"


@cache
def sources(program: str) -> tuple[list[Path], list[Path], list[Path]]:
    """Return the sources that a program imports at its start, those that it imports later, and those that it
    never does."""
    path = checkout() / program
    files = {Path(file) for file in started("-c", LOADED.format(program)).stdout.split() if file != "0"}
    reachable = reached(checkout(), [path], NO_SOURCES)
    first = sorted({path, *(files & reachable)})
    every = (file for part in ("scripts", "pubmill") for file in (checkout() / part).rglob("*.py"))
    others = [file for file in sorted(every) if file not in reachable and file not in files]
    return first, sorted(reachable - set(first)), others


@attack("changed-code", cases=200, quick=2)
def change_code(dice: Dice, folder: Path) -> str:
    """A source of a program changes under a run and keeps its time, before a start or an import: the job is
    refused in one message that names it; sources of other stages stop nothing."""
    program = dice.pick(PROGRAMS)
    first, later, others = sources(path_of(program))
    which = dice.pick([kind for kind in (first, later, others) if kind])
    path = dice.pick(which)
    words = ["-m", "pubmill.job", program, "--help"]
    if not path_of(program).startswith("pubmill/"):
        words = [path_of(program), "--help"]
    if which is later:
        module = ".".join(path.relative_to(checkout()).with_suffix("").parts).removesuffix(".__init__")
        words = ["-c", IMPORTING.format(module)]
    with edited(path, path.read_bytes() + b"\nCHANGED = 1\n"):
        done = started(*words)
    name = path.relative_to(checkout()).as_posix()
    if which is others:
        return f"{program} was stopped by {name}: {done.stderr[-300:]}" if done.returncode else ""
    said = f"since this run began: {name}." in done.stderr and done.stderr.count("\n") == 1
    return "" if done.returncode == 1 and said else f"{program} ran with another {name}: {done.stderr[-300:]}"


@cache
def results() -> Path:
    """Finished results of every kind that stages write, all with a digest."""
    folder = template()
    for kind, (make, _) in KINDS.items():
        (folder / kind).mkdir()
        make(folder / kind)
    write_results(folder)
    write_json(folder / "source.xml.source.json", sealed({"sha256": sha256(folder / "source.xml")}))
    rows = [{"id": f"{n}", "label": f"{n * n % 3}"} for n in range(200)]
    write_predictions(folder / "seed-2.predictions.jsonl.gz", rows, {"seed": 2})
    write_json(folder / "stats.json", sealed({"documents": 9, "words": 812}))
    for name in ("models/own", "vocabs/own", "crates/demo"):
        (folder / name).mkdir(parents=True)
        for file in ("model.safetensors", "tokenizer.json", "README.md"):
            (folder / name / file).write_text(json.dumps({file: name * 20}))
        write_folder_sums(folder / name)
    write_formats(
        folder / "table06", {"bert": [81.25, 80.5]}, dict.fromkeys(("csv", "md", "tex"), json.dumps)
    )
    shutil.rmtree(folder / "predictions")  # without the report of their run
    return folder


@attack("edited-artefacts", cases=1_000, quick=10)
def edit_artefact(dice: Dice, folder: Path) -> str:
    """A flipped bit or other rows in a finished file of any stage, which keeps its time: `pubmill doctor
    fsck` names it, or what is read is unchanged."""
    listed = [one.path for one in examine(results()) if one.fault is None]
    path = dice.pick([one for one in listed if one.name != FOLDER_SUMS and one.suffix != SUMS])
    before, value = path.read_bytes(), _read(path)
    if path.suffix == ".gz" and dice.below(2):
        rows = list(read_jsonl_gz(path))
        rows[dice.below(len(rows))]["label"] = "another"
        write_jsonl_gz(folder / path.name, rows)
        content = (folder / path.name).read_bytes()
    else:
        content = flipped(before, dice)
    with edited(path, content):
        parquet_fault.cache_clear()  # each fsck is a process of its own
        found = {one.path for one in examine(results()) if one.fault}
        noticed = path in found or _read(path) == value
    return "" if noticed else f"{path.relative_to(results())} was edited without a trace"


def _read(path: Path) -> Any:
    """Return what readers find in a file; its bytes where they read all of them."""
    try:
        if path.suffix == ".json":
            found = read_json(path)
            return {key: found.get(key) for key in KEYS if key in found}
        if path.suffix == ".npz":
            items = read_items(path)
            return items[:3], items.contributions and items.contributions.values.tolist()
        if path.suffix == ".parquet":
            return pq.read_table(path).to_pylist()
    except Exception as error:
        return repr(error)
    return path.read_bytes()
