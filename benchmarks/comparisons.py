"""Speed and memory of tables and of the comparisons of their models, over made-up records.

    .venv/bin/python benchmarks/comparisons.py [--quick] [--records 20000]

Each table has 20 datasets, eight models and five seeds; a test set has 20 to 5,000 documents, as in the
papers. For each table, the pipeline's own programs run as its rules start them: the job `table` on the
records, then `compare` on the contributions of documents. There is no peer. Last lines:
`name: records/s`, by the wall clock.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.baseline import Used, run
from pubmill.metrics.contributions import Contributions, Items, write_items
from pubmill.metrics.records import Record, write_record
from pubmill.metrics.registry import measure_of

MODELS, SEEDS = 8, 5
SIZES = (
    20,
    60,
    100,
    140,
    190,
    200,
    300,
    315,
    400,
    500,
    500,
    700,
    800,
    940,
    1_000,
    1_400,
    2_000,
    3_000,
    4_000,
    5_000,
)
"""Number of documents, questions or examples in each dataset."""
NAMES = ("gold", "predicted", "correct", "examples", "relaxed_correct", "relaxed_found")


def record(model: str, dataset: str, seed: int, metrics: dict[str, float]) -> Record:
    return Record(
        model=model, dataset=dataset, protocol="p", setting="standard", scale="full", seed=seed, split="test",
        metric="entity_f1", metrics=metrics, counts={}, dev_score=0.5, failed=None, recipe={}, max_length=512,
        dev_split="dev", encoded={}, versions={"score": 1}, data_sha256="d" * 64, trained_on_sha256={},
        model_sha256=None, commit=None, packages={"torch": "2.8.0"}, python="3.11", hardware={"cpu": "c"},
        seconds=1.0, scored_with={},
    )  # fmt: skip


def prepare(folder: Path, table: int) -> None:
    """Write the records of one table, the contributions of their documents, and the table's recipe."""
    noise = np.random.default_rng(table)
    records: dict[str, dict[str, list[str]]] = {f"m{m}": {} for m in range(MODELS)}
    for number, units in enumerate(SIZES):
        gold = 1.0 + noise.poisson(4, units)
        for model, of_model in records.items():
            dataset = f"t{table}d{number}"
            of_model[dataset] = [
                f"runs/p/{model}/{dataset}/standard/final/seed-{s}.json" for s in range(1, SEEDS + 1)
            ]
            for seed, path in enumerate(of_model[dataset], 1):
                correct = noise.binomial(gold.astype(int), 0.85).astype(float)
                values = np.stack([gold, gold, correct, np.ones(units), correct, correct], axis=1)
                found = Contributions(NAMES, values)
                write_items(
                    (folder / path).with_suffix(".items.npz"), Items("tokens", "document", "d" * 64, found)
                )
                metrics = {n: float(v) for n, v in measure_of("mentions")(found.totals()).items() if v == v}
                write_record(folder / path, record(model, dataset, seed, metrics))
    (folder / f"t{table}.recipe.json").write_text(json.dumps(recipe(records, table)), encoding="utf-8")
    (folder / f"t{table}.published.csv").write_text("row,column,metric,value,note\n", encoding="utf-8")


def recipe(records: dict[str, dict[str, list[str]]], table: int) -> dict[str, Any]:
    rows = list(records["m0"])
    metric = {"published": "", "printed": "entity_f1", "metric": "entity_f1"}
    return {
        "paper": "made-up", "table": f"t{table}", "title": "t", "caption": "c", "scale": "full",
        "scale_title": "full scale", "comparable": True, "protocol": "p", "setting": "standard",
        "aggregate": "mean",
        "records": {
            column: {row: tuple(paths) for row, paths in of_column.items()}
            for column, of_column in records.items()
        },
        "columns": [{"key": name, "model": name, "label": name, "published": [name]} for name in records],
        "rows": [{"key": row, "dataset": row, "label": row, **metric, "published": row} for row in rows],
        "equivalence": {
            "alpha": 0.05, "power": 0.8, "runs": dict.fromkeys(rows, 5),
            "margins": {row: {"points": 1, "why": "made up"} for row in rows},
        },
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables and comparisons of their models.")
    parser.add_argument("--quick", action="store_true", help="one table, within a minute")
    parser.add_argument("--records", type=int, default=20_000, help="number, rounded to whole tables")
    arguments = parser.parse_args()
    size = len(SIZES) * MODELS * SEEDS
    tables = 1 if arguments.quick else max(1, arguments.records // size)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as Snakemake does for a rule of one thread
    used: dict[str, list[Used]] = {"tables": [], "comparisons": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table in range(tables):
            # In a separate process: a program inherits the memory peak of the process that starts it.
            apart = multiprocessing.get_context("spawn").Process(target=prepare, args=(folder, table))
            apart.start()
            apart.join()
            used["tables"].append(
                run(
                    "table", "--recipe", (folder / f"t{table}.recipe.json").read_text(encoding="utf-8"),
                    "--published", folder / f"t{table}.published.csv",
                    "--results", folder, "--output", folder / f"t{table}",
                )
            )  # fmt: skip
            used["comparisons"].append(
                run(
                    "compare", "--table", folder / f"t{table}.json", "--results", folder,
                    "--output", folder / f"t{table}.comparisons",
                )
            )  # fmt: skip
    for what, jobs in used.items():
        seconds, cpu = sum(job.seconds for job in jobs), sum(job.cpu for job in jobs)
        print(f"{what} of {tables * size} records: {seconds:.1f} s, {cpu:.1f} s of processors, "
              f"{max(job.peak for job in jobs):.0f} MB")  # fmt: skip
    for what, jobs in used.items():
        print(f"{what}: {tables * size / sum(job.seconds for job in jobs):.0f} records/s")


if __name__ == "__main__":
    main()
