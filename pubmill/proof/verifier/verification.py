"""Verification of a whole proof, and the command."""

from __future__ import annotations

import argparse
import functools
import hashlib
import multiprocessing
import os
import pathlib
import sys
import time
import zlib
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from pubmill.proof.verifier.cells import (
    NO_RECORD,
    Builder,
    Json,
    check_cells,
    dataset_of,
    read_published,
    same,
)
from pubmill.proof.verifier.container import RefusedError, intact, read_array, read_packed
from pubmill.proof.verifier.items import counts_by_unit
from pubmill.proof.verifier.metrics import METRICS, columns_read
from pubmill.proof.verifier.ranks import (
    RowOfRuns,
    complete_columns,
    rankings,
    rows_by_dataset,
    scored_by_print,
    scored_by_runs,
)
from pubmill.proof.verifier.resampling import RESAMPLINGS, Fold, holm_adjusted, tested

SHARED = ("aggregate", "columns", "comparable", "equivalence", "paper", "rows", "scale", "table")
"""Keys that a shown table shares with its recipe."""


class Proof:
    """The members of a proof: its runs, and their counts by test set."""

    def __init__(self, data: bytes) -> None:
        self.members = intact(data)
        self.study: Json = read_packed(self.members, "study.json.gz")
        runs = read_packed(self.members, "runs.json.gz")
        self.sets: list[Json] = runs["sets"]
        self.runs: dict[str, Json] = runs["runs"]
        for record, run in self.runs.items():
            if (run["failed"] is None) != (run["set"] is not None):
                raise RefusedError(f"{record}: a run has either counts or the reason why it failed")
        self.counts = functools.lru_cache(maxsize=4)(self._counts)

    def _counts(self, number: int) -> Any:
        """Return the counts of a test set [runs, units, names]."""
        found, known = read_array(self.members, self.sets[number]["counts"]), self.sets[number]
        if found.shape[1:] != (known["units"], len(known["names"])):
            raise RefusedError(
                f"{known['counts']}: its shape {found.shape} is not that of its units and names"
            )
        return found

    def score(self, record: str, metric: str) -> tuple[Optional[float], Optional[str], bool]:
        """Return the score of a run in points, or why it has none; and whether it collapsed."""
        run = self.runs.get(record)
        if run is None or run["failed"] is not None:
            return None, NO_RECORD if run is None else run["failed"], False
        if metric not in run["metrics"]:
            raise RefusedError(f"{record} has no {metric}")
        return 100 * run["metrics"][metric], None, run.get("collapsed", False)

    def fold(self, records: Sequence[Sequence[str]], metric: str) -> Fold:
        """Return the counts of the runs of each model on one test set."""
        flat = [self.runs[record] for of_model in records for record in of_model]
        number = flat[0]["set"]
        if any(run["set"] != number for run in flat):
            raise RefusedError(f"{records[0][0]} and others of its row were scored on different examples")
        names = self.sets[number]["names"]
        kept = columns_read(metric, names)
        chosen = self.counts(number)[[run["place"] for run in flat]][:, :, kept]
        is_small = chosen.dtype.kind == "u" and int(chosen.max(initial=0)) * len(chosen[0]) < 1 << 24
        values = np.ascontiguousarray(chosen.transpose(1, 2, 0), np.float32 if is_small else np.float64)
        models = np.repeat(np.arange(len(records)), [len(of_model) for of_model in records])
        return Fold([names[place] for place in kept], values, models)


def check_set(proof: Proof, number: int) -> tuple[int, int]:
    """Check the metrics of all runs on a test set, and for open data their counts by their items; return the
    numbers of runs and of those with items."""
    known = proof.sets[number]
    counts = proof.counts(number)
    runs = {record: run for record, run in proof.runs.items() if run["set"] == number}
    if sorted(run["place"] for run in runs.values()) != list(range(len(counts))):
        raise RefusedError(f"{known['counts']}: its runs are not those of the records")
    totals = counts.sum(axis=1, dtype=np.float64)
    by_name = {name: totals[:, place] for place, name in enumerate(known["names"])}
    stated = sorted({name for run in runs.values() for name in run["metrics"]})
    if unknown := [name for name in stated if name not in METRICS]:
        raise RefusedError(f"{known['counts']}: no metric is called {', '.join(unknown)}")
    scores = {name: METRICS[name](by_name) for name in stated}
    for record, run in runs.items():
        found = {name: float(scores[name][run["place"]]) for name in run["metrics"]}
        same(found, run["metrics"], record)
    return len(runs), check_items(proof, known, runs, counts)


def check_items(proof: Proof, known: Json, runs: Mapping[str, Json], counts: Any) -> int:
    """Check the counts of a test set by its items, if the proof has any."""
    if known["gold"] is None:
        return 0
    gold = read_packed(proof.members, known["gold"])
    with_items = {record: run for record, run in runs.items() if run["items"] is not None}
    for record, run in with_items.items():
        predicted = read_packed(proof.members, run["items"])
        found = counts_by_unit(known["kind"], gold, predicted, known["negative"], known["names"])
        if found.shape != counts.shape[1:] or not np.allclose(
            found, counts[run["place"]], rtol=1e-9, atol=1e-9
        ):
            raise RefusedError(f"{record}: its counts are not those of its items")
    return len(with_items)


class ShownTable:
    """A table of a proof: as it is shown, and what it is recomputed from."""

    def __init__(self, proof: Proof, name: str) -> None:
        self.proof, self.name = proof, name
        files: dict[str, str] = proof.study["tables"][name]
        self.shown: Json = read_packed(proof.members, files["shown"])
        self.basis: Json = read_packed(proof.members, files["basis"])
        self.compared: Json = read_packed(proof.members, files["comparisons"])
        others = {other: self._builder(other, one) for other, one in self.basis["others"].items()}
        whole = {"recipe": self.basis["recipe"], "cells": self.shown["cells"]}
        self.others, self.builder = others, self._builder(name, whole, others)

    def _builder(self, name: str, part: Json, others: Optional[Mapping[str, Builder]] = None) -> Builder:
        recipe = part["recipe"]
        published = read_published(self.proof.members[f"published/{name}.csv"], recipe["left_out"])
        return Builder(recipe, published, self.proof.score, part["cells"], others or {})

    def check(self) -> dict[str, int]:
        """Check everything that is shown, and return how much it is."""
        recipe = self.basis["recipe"]
        same({key: recipe[key] for key in SHARED}, self.shown, self.name)
        cells = check_cells(self.builder, self.shown["cells"], self.name)
        for name, other in self.others.items():
            cells += check_cells(other, self.basis["others"][name]["cells"], f"{name} for {self.name}")
        needed = self.builder.seeds_needed()
        same(needed, self.shown["seeds_needed"], f"{self.name}, seeds needed")
        if needed.keys() != self.shown["seeds_needed"].keys():
            raise RefusedError(f"{self.name}: the rows with seeds needed are not those with enough runs")
        every = (cell for rows in self.builder.cells.values() for cell in rows.values())
        verdicts = sum(cell["verdict"] is not None for cell in every)
        return {"cells": cells, "verdicts": verdicts, "tests": self._tests(), "rankings": self._rankings()}

    def _runs(self, row: Json) -> dict[str, list[Json]]:
        """Return the runs of the complete cells of a row on its own dataset, by column."""
        own = row["folds"] or [row["dataset"]]
        found = {}
        for column in self.builder.columns:
            cell = self.builder.cells[column][row["key"]]
            runs = [seed for seed in cell["seeds"] if dataset_of(seed["record"]) in own]
            if runs and cell["value"] is not None:
                found[column] = runs
        return found

    def _folds(self, row: Json, runs: Mapping[str, list[Json]]) -> list[Fold]:
        records = [[seed["record"] for seed in of_column] for of_column in runs.values()]
        datasets = dict.fromkeys(dataset_of(record) for of_column in records for record in of_column)
        return [
            self.proof.fold([[r for r in of if dataset_of(r) == dataset] for of in records], row["metric"])
            for dataset in datasets
        ]

    def _tests(self) -> int:
        """Check the comparisons of models in each row, and return the number of pairs."""
        aggregate, found = self.builder.recipe["aggregate"], []
        for row in self.builder.recipe["rows"]:
            runs = self._runs(row) if row["shown"] else {}
            if len(runs) < 2:
                continue
            folds, columns = self._folds(row, runs), list(runs)
            scores, tests = tested(
                folds, row["metric"], aggregate, zlib.crc32(f"{self.name}/{row['key']}".encode())
            )
            for column, score in zip(columns, scores):
                cell = self.builder.cells[column][row["key"]]
                same(100 * float(score), cell["value"], f"{self.name}, {column}, {row['key']}")
            by_bootstrap = holm_adjusted([one.bootstrap_p for one in tests])
            by_randomisation = holm_adjusted([one.randomisation_p for one in tests])
            pairs = [
                {
                    "other": columns[one.other],
                    "difference": 100 * one.difference,
                    "bootstrap_p": one.bootstrap_p,
                    "bootstrap_adjusted": by_bootstrap[place],
                    "randomisation_p": one.randomisation_p,
                    "randomisation_adjusted": by_randomisation[place],
                    "interval": one.interval and [100 * end for end in one.interval],
                }
                for place, one in enumerate(tests)
            ]
            best = columns[int(np.argmax(scores))]
            units = sum(len(fold.values) for fold in folds)
            unit = self._unit(runs)
            found.append({"row": row["key"], "unit": unit, "units": units, "best": best, "pairs": pairs})
        same({"rows": found, "resamplings": RESAMPLINGS}, self.compared, f"{self.name}, comparisons")
        return sum(len(row["pairs"]) for row in found)

    def _unit(self, runs: Mapping[str, list[Json]]) -> str:
        first: Json = self.proof.runs[next(iter(runs.values()))[0]["record"]]
        unit: str = self.proof.sets[first["set"]]["unit"]
        return unit

    def _rankings(self) -> int:
        """Check the ranks of models by published values and by runs, and return the number of rankings."""
        table = {**self.basis["audited"], "name": self.name}
        content = self.proof.members[f"published/{self.name}.csv"]
        printed = read_published(content, table["left_out"])
        values = {}
        for column in table["columns"]:
            for row in table["rows"]:
                metric = "delta" if column.get("by") == "drop" else row["printed"]
                for name in reversed(column["published"]):
                    if (name, row["published"], metric) in printed:
                        values[column["key"], row["key"]] = printed[name, row["published"], metric]["value"]
        rows, scored = scored_by_print(table, values)
        by_print = rankings(table, scored, rows, False) if scored else []
        same(by_print, self.basis["ranks"]["published"], f"{self.name}, ranks by published values")
        by_runs = self._rankings_of_runs(table)
        same(by_runs, self.basis["ranks"]["runs"], f"{self.name}, ranks by runs")
        return len(by_print) + len(by_runs)

    def _rankings_of_runs(self, table: Json) -> list[Json]:
        whole = {
            (column, row)
            for column, rows in self.builder.cells.items()
            for row, cell in rows.items()
            if cell["seeds"] and cell["value"] is not None
        }
        rows = rows_by_dataset(table["rows"], {row for _, row in whole})
        columns = complete_columns(list(self.builder.columns.values()), rows, whole)
        if len(columns) < 2:
            return []
        keys = [one["key"] for one in columns]
        of_datasets = [[self._row_of_runs(row, keys) for row in of_dataset] for of_dataset in rows.values()]
        labels = [one["label"] for one in columns]
        scored = scored_by_runs(self.name, self.builder.recipe["aggregate"], labels, of_datasets)
        return rankings(table, scored, rows, True)

    def _row_of_runs(self, name: str, columns: Sequence[str]) -> RowOfRuns:
        row = self.builder.rows[name]
        found = self._runs(row)
        runs = {column: found.get(column, []) for column in columns}
        cells = {column: self.builder.cells[column][name] for column in columns}
        scores = {column: [seed["value"] for seed in cell["seeds"]] for column, cell in cells.items()}
        return RowOfRuns(self._folds(row, runs), self._unit(runs), scores, row["dataset"], row["metric"])


@functools.lru_cache(maxsize=1)
def proof_at(path: str) -> Proof:
    return Proof(pathlib.Path(path).read_bytes())


def check_part(path: str, part: Any) -> dict[str, int]:
    """Check a test set (by number) or a table (by name)."""
    if isinstance(part, int):
        runs, items = check_set(proof_at(path), part)
        return {"runs": runs, "runs by their items": items}
    return ShownTable(proof_at(path), part).check()


def check_proof(path: str, jobs: int) -> dict[str, int]:
    """Check a whole proof with several processes, and return how much was checked."""
    proof = proof_at(path)
    parts = [(path, part) for part in (*range(len(proof.sets)), *proof.study["tables"])]
    if jobs > 1:
        with multiprocessing.Pool(jobs) as pool:
            found = pool.starmap(check_part, parts, chunksize=1)
    else:
        found = [check_part(*part) for part in parts]
    total: dict[str, int] = {}
    for one in found:
        for name, number in one.items():
            total[name] = total.get(name, 0) + number
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description="Recompute every number of a proof and compare.")
    parser.add_argument("proof", help="the archive, STUDY.proof.zip")
    parser.add_argument("--sha256", help="digest that the archive must have")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    arguments = parser.parse_args()
    start = time.monotonic()
    try:
        data = pathlib.Path(arguments.proof).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if arguments.sha256 and digest != arguments.sha256.lower():
            raise RefusedError(f"its SHA-256 is {digest}, not {arguments.sha256}")
        study, own = proof_at(arguments.proof).study, pathlib.Path(__file__).read_bytes()
        total = check_proof(arguments.proof, arguments.jobs)
    except (RefusedError, OSError) as error:
        print(f"REFUSED: {arguments.proof}: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        kind = type(error).__name__
        print(f"REFUSED: {arguments.proof}: malformed content ({kind}: {error})", file=sys.stderr)
        return 1
    print(f"{study['title']} (study {study['study']}, {study['scale_title']})")
    print(", ".join(f"{number} {name}" for name, number in total.items()))
    if proof_at(arguments.proof).members.get("verify.py") != own:
        print("note: this verify.py is another one than that of the archive")
    print(f"VERIFIED in {time.monotonic() - start:.1f} s; SHA-256 {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
