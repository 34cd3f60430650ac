"""Time of a proof: `verify.py` on all tables of results, with made-up counts of documents at full scale.

    .venv/bin/python benchmarks/proof.py [--quick] [--records 20000] [--jobs 2]

The tables are those of `specs/tables`, for a study in which nothing is missing; the seeds of each cell are
multiplied until there are enough records (those that several tables read count once). A test set has 20 to
5,000 documents, as in the papers; counts are drawn around the published values, so that all verdicts occur.
Tables, comparisons, bases and the archive are made by the functions of the rules. The datasets count as
licensed ones: the proof has counts and hashes only. Then the archive's own verify.py runs with `--python` (a
Python with nothing but numpy), in a process of its own. `--quick` uses only the papers' seeds and six tables.
There is no peer.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

# replaces this folder, whose datasets.py would hide the library
ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from benchmarks.comparisons import SIZES
from benchmarks.tables import UNPUBLISHED, count, record
from pubmill.extras.proof.archive import VERIFY, write_proof
from pubmill.extras.proof.basis import table_basis
from pubmill.extras.proof.proof_stages import Proof
from pubmill.extras.proof.proofs import ProofRecipe
from pubmill.extras.proof.verifier.container import unpack
from pubmill.metrics.contributions import Contributions, Items, write_items
from pubmill.metrics.records import write_record
from pubmill.metrics.registry import measure_of
from pubmill.report.rendering import to_json
from pubmill.storage.files import write_json
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import BELOW
from pubmill.tables.aggregation import finished_table
from pubmill.tables.comparisons import comparisons
from pubmill.tables.published_values import published_of_cells
from tests.full_tables import SPECS, graph, published, recipe, specs

Counts = dict[str, np.ndarray[Any, Any]]
QUICK = 6


def centres(names: Iterable[str], seeds: int) -> dict[str, float]:
    """Return, for each record of these tables, the share of correct items: the first published value."""
    found: dict[str, float] = {}
    for name in names:
        made = recipe(name, seeds)
        printed = published_of_cells(made.columns, made.rows, published(name))
        for one in (made, *made.others.values()):
            for column, rows in one.records.items():
                for row, paths in rows.items():
                    value = printed.get((column, row))
                    share = min(max(value.value if value else UNPUBLISHED, 1.0), 99.0) / 100
                    for path in paths:
                        found.setdefault(path, share)
    return found


def counts_of(
    kind: str, units: int, share: float, labels: np.random.Generator, noise: np.random.Generator
) -> Counts:
    """Draw the counts of each unit, with about this share of correct items; `labels` draws the gold ones."""
    one, gold = np.ones(units), 1.0 + labels.poisson(3, units)
    right = noise.binomial(gold.astype(int), share).astype(float)
    if kind == "tokens":
        names = ("gold", "predicted", "correct", "relaxed_correct", "relaxed_found")
        values = dict(zip(names, (gold, gold, right, right, right), strict=True))
        prefixes = ("subtoken_{}", "word:{}:PAR", "layer:{}:PAR")
        parts = zip(("gold", "predicted", "correct"), (gold, gold, right), strict=True)
        more = {prefix.format(name): found for name, found in parts for prefix in prefixes}
        return {**values, **more, "examples": one, "subtoken_sentences": one}
    if kind in ("sequence", "multilabel"):
        return {
            "examples": gold,
            "without_gold": 0 * one,
            "precision": right,
            "recall": right,
            **{
                f"class:{name}:A": found
                for name, found in (("gold", gold), ("predicted", gold), ("correct", right))
            },
            **{f"negative:{name}:N": one for name in ("gold", "predicted", "correct")},
        }
    if kind == "regression":
        x = labels.standard_normal(units)
        y = share * x + np.sqrt(1 - share * share) * noise.standard_normal(units)
        return {"examples": one, "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    hit = noise.binomial(1, share, units).astype(float)
    scored = ("exact_match", "f1", "best_f1", "strict_accuracy", "lenient_accuracy", "mrr")
    return {"examples": one, "questions": one, "without_gold": 0 * one, **dict.fromkeys(scored, hit)}


def write_runs(folder: Path, chosen: Sequence[tuple[str, float]]) -> None:
    """Write records with their contributions."""
    known: dict[str, Any] = {}
    for path, share in chosen:
        dataset, seed = run_of(path).dataset, zlib.crc32(path.encode())
        kind = specs().datasets[dataset].kind
        units = SIZES[sum(dataset.encode()) % len(SIZES)]
        labels = np.random.default_rng(zlib.crc32(dataset.encode()))
        counts = counts_of(kind, units, share, labels, np.random.default_rng(seed))
        found = Contributions(tuple(counts), np.stack(list(counts.values()), axis=1))
        unit = "question" if kind == "span" else "document"
        write_items(folder / BELOW.contributions(path), Items(kind, unit, "d" * 64, found))
        metrics = {name: float(value) for name, value in measure_of(kind)(found.totals()).items()}
        defined = {name: value for name, value in metrics.items() if value == value}
        write_record(folder / path, record(path, defined, known))


def write_table(folder: Path, name: str, seeds: int) -> None:
    made = recipe(name, seeds)
    table = finished_table(made, SPECS / f"tables/{name}.published.csv", folder)
    (folder / BELOW.table(name, "json")).parent.mkdir(parents=True, exist_ok=True)
    (folder / BELOW.table(name, "json")).write_text(to_json(table), encoding="utf-8")
    (folder / BELOW.comparisons(name, "json")).write_text(
        to_json(comparisons(table, folder)), encoding="utf-8"
    )
    basis = table_basis(graph(seeds).stage(Proof).basis_recipe(name), SPECS, folder)
    write_json(folder / BELOW.table_basis(name), basis)


def make(folder: Path, names: Sequence[str], seeds: int, jobs: int) -> Path:
    """Make a proof of these tables from made-up runs."""
    runs = list(centres(names, seeds).items())
    with Pool(jobs) as pool:
        pool.starmap(write_runs, [(folder, runs[start::jobs]) for start in range(jobs)])
        pool.starmap(write_table, [(folder, name, seeds) for name in names], chunksize=1)
    proof = folder / BELOW.proof("all")
    own = ProofRecipe(
        study="all", title="All tables", scale="full", scale_title="full scale", comparable=True,
        tables=tuple(names), open_datasets=(), versions={"proof": 1},
    )  # fmt: skip
    write_proof(own, SPECS, folder, proof)
    print(
        f"proof of {len(names)} tables and {len(runs)} records: {proof.stat().st_size / 1e6:.1f} MB",
        flush=True,
    )
    return proof


def verify(proof: Path, python: str, jobs: int) -> None:
    """Run the archive's verify.py, and print its answer and cost."""
    program = proof.with_name(VERIFY)
    program.write_bytes(unpack(proof.read_bytes())[VERIFY])
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [python, "-I", program, proof, "--jobs", str(jobs)], capture_output=True, text=True, check=False
    )
    wall, used = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stdout + done.stderr, end="")
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(f"verify.py --jobs {jobs}: {wall:.1f} s, {cpu:.1f} s of processors", flush=True)
    done.check_returncode()


def main() -> None:
    parser = argparse.ArgumentParser(description="Verification of a proof of all tables of results.")
    parser.add_argument("--quick", action="store_true", help="six tables with the papers' seeds")
    parser.add_argument("--records", type=int, default=20_000, help="smallest number of records")
    parser.add_argument("--jobs", type=int, default=2, help="parallel processes")
    parser.add_argument("--python", default=sys.executable, help="a Python with numpy, which verifies")
    parser.add_argument("--keep", type=Path, help="folder for the files, which are else removed")
    arguments = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    names = sorted(graph().specs.tables)[: QUICK if arguments.quick else None]
    seeds = 1 if arguments.quick else -(-arguments.records // count(1))
    with tempfile.TemporaryDirectory() as temporary:
        proof = make(arguments.keep or Path(temporary), names, seeds, arguments.jobs)
        verify(proof, arguments.python, arguments.jobs)


if __name__ == "__main__":
    main()
