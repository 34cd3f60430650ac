"""Speed and memory of all tables of results of the five papers, from made-up records at full scale.

    .venv/bin/python benchmarks/tables.py [--quick] [--records 20000] [--jobs 2]

The tables are those of `specs/tables`, for a study in which nothing is missing. They have fewer records than
requested (records read by several tables count once), so the seeds of each cell are multiplied until there
are enough. A record is as long as a real one, and its scores are drawn around the published values. Each
table is one process of the job `table`, as its rule starts it, and `--jobs` of them run in parallel; then
follows a report of all tables. `--quick` uses only the papers' seeds. There is
no peer. `memory` is the highest peak of a table over the peak with the papers' seeds: near 1 if memory does
not grow with the number of records.
"""

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# replaces this folder, whose datasets.py would hide the library
ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from benchmarks.baseline import Used, run
from pubmill.metrics.records import Record, write_record
from pubmill.recipes.reading import as_json
from pubmill.report.rendering import to_json
from pubmill.stages.supplied_predictions import OFF_THE_SHELF
from pubmill.storage.result_paths import Paths, RunKey
from pubmill.tables.cells import read_table
from pubmill.tables.published_values import published_of_cells
from tests.full_tables import SPECS, graph, published, recipe
from tests.unit.toy_tables import compared

PACKAGES = dict.fromkeys(
    ("duckdb", "nltk", "numpy", "pyarrow", "safetensors", "seqeval", "tokenizers", "torch", "transformers"),
    "2.13.0",
)
UNPUBLISHED = 80.0
"""Score of a cell without a published value."""


def record(path: str, metrics: dict[str, float], known: dict[str, Any]) -> Record:
    """Make the record of a path; `known`: recipes of cells, so that each is resolved once."""
    _, protocol, model, dataset, setting, _, name = path.split("/")
    cell = f"{protocol}/{model}/{dataset}/{setting}"
    if cell not in known:
        system = {"name": model, "version": "1", "url": None}
        supplied = protocol == OFF_THE_SHELF
        known[cell] = (
            {"system": system} if supplied else graph().runs.recipe(RunKey(protocol, model, dataset, setting))
        )
    encoded = ("beginnings_left_out", "mentions_shortened", "middles_left_out", "texts_shortened")
    return Record(
        model=model, dataset=dataset, protocol=protocol, setting=setting, scale="full",
        seed=int(name.removeprefix("seed-").removesuffix(".json")), split="test", metric=next(iter(metrics)),
        metrics=metrics, counts={"examples": 500, "gold": 900, "predicted": 910, "correct": 800},
        dev_score=0.5, failed=None, recipe=known[cell], max_length=512, dev_split="dev",
        encoded=dict.fromkeys(encoded, 0), versions={"convert": [2, 1], "metrics": [1, 1], "score": 2},
        data_sha256="d" * 64, trained_on_sha256=dict.fromkeys(("train", "dev", "test"), "a" * 64),
        model_sha256="e" * 64, commit="c" * 40, packages=PACKAGES, python="3.11.7",
        hardware={"cpu": "AMD EPYC", "cores": 2, "gpus": ["NVIDIA H200"], "memory": 2**37, "threads": 1},
        seconds=600.0, scored_with={"commit": "c" * 40, "packages": PACKAGES, "python": "3.11.7"},
    )  # fmt: skip


def prepare(folder: Path, seeds: int) -> None:
    """Write every record that the tables read."""
    noise = random.Random(seeds)
    scores: dict[str, dict[str, float]] = {}
    for table in graph(seeds).specs.tables:
        made = recipe(table, seeds)
        rows = {row.key: row for row in made.rows}
        printed = published_of_cells(made.columns, made.rows, published(table))
        for column in made.columns:
            for key, paths in made.records.get(column.key, {}).items():
                value = printed.get((column.key, key))
                centre = value.value if value else UNPUBLISHED
                for path in paths:
                    score = noise.gauss(centre, 0.5) / 100
                    scores.setdefault(path, {}).setdefault(rows[key].metric, score)
    known: dict[str, Any] = {}
    for path, metrics in scores.items():
        write_record(folder / path, record(path, metrics, known))


def stem(folder: Path, name: str) -> str:
    return Paths(folder, graph().study.study).table(name)


def table(folder: Path, name: str, seeds: int) -> Used:
    return run(
        "table", "--recipe", as_json(graph(seeds).tables.recipe(name)), "--published",
        SPECS / f"tables/{name}.published.csv", "--results", folder, "--output", stem(folder, name),
    )  # fmt: skip


def report(folder: Path) -> Used:
    """Make a report of the tables and made-up comparisons, without pretraining and data."""
    known = graph()
    recipe = {
        "study": known.study.study, "title": known.study.title, "scale": "full", "scale_title": "full scale",
        "comparable": True, "tables": known.requests.result_tables(), "fact_tables": [],
        "models": known.scope.models(), "pretraining": {}, "corpora": [], "vocabs": [], "datasets": [],
        "checkpoints": {}, "fits": {}, "sources": [],
    }  # fmt: skip
    for name in known.requests.result_tables():
        made = compared(read_table(Path(f"{stem(folder, name)}.json")))
        Path(f"{stem(folder, name)}.comparisons.json").write_text(to_json(made), encoding="utf-8")
    output = folder / "report.html"
    return run("report", "--recipe", as_json(recipe), "--results", folder, "--output", output)


def build(folder: Path, seeds: int, jobs: int) -> float:
    """Build all tables, then the report, and print their cost; return the highest peak of a table."""
    # In a separate process: a program inherits the memory peak of the process that starts it.
    apart = multiprocessing.get_context("spawn").Process(target=prepare, args=(folder, seeds))
    apart.start()
    apart.join()
    names = sorted(graph().specs.tables, key=lambda name: -len(graph().tables.record_files(name)))
    start = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        tables = list(pool.map(lambda name: table(folder, name, seeds), names))
    wall = time.monotonic() - start
    print_cost(f"{len(names)} tables of {count(seeds)} records", tables, wall)
    print_cost("report", [report(folder)])
    print(f"tables: {count(seeds) / wall:.0f} records/s", flush=True)
    return max(one.peak for one in tables)


def count(seeds: int) -> int:
    """Return the number of records of all tables; those that several tables read count once."""
    known = graph(seeds)
    return len({path for name in known.specs.tables for path in known.tables.record_files(name)})


def print_cost(what: str, used: Sequence[Used], wall: float | None = None) -> None:
    seconds, cpu = wall or used[0].seconds, sum(one.cpu for one in used)
    print(
        f"{what}: {seconds:.1f} s, {cpu:.1f} s of processors, {max(one.peak for one in used):.0f} MB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="All tables of results from made-up records.")
    parser.add_argument("--quick", action="store_true", help="the papers' seeds alone, within a minute")
    parser.add_argument("--records", type=int, default=20_000, help="smallest number of records")
    parser.add_argument("--jobs", type=int, default=2, help="parallel processes")
    arguments = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as Snakemake does for a rule of one thread
    seeds = 1 if arguments.quick else -(-arguments.records // count(1))
    with tempfile.TemporaryDirectory() as name:
        few = build(Path(name) / "few", 1, arguments.jobs)
        if seeds > 1:
            print(f"memory: {build(Path(name) / 'many', seeds, arguments.jobs) / few:.2f}")


if __name__ == "__main__":
    main()
