"""Verification of a whole proof."""

from __future__ import annotations

import functools
import multiprocessing
import pathlib
import zlib
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from pubmill.extras.proof.verifier.cells import NO_RECORD, Builder, check_cells, dataset_of, read_published
from pubmill.extras.proof.verifier.container import RefusedError, intact, read_array, read_packed
from pubmill.extras.proof.verifier.forms import Json, Stated, check_form, same
from pubmill.extras.proof.verifier.items import check_items, counts_by_unit, implausible_counts, is_constant
from pubmill.extras.proof.verifier.metrics import METRICS, columns_read, metrics_of_kind
from pubmill.extras.proof.verifier.ranks import (
    RowOfRuns,
    complete_columns,
    rankings,
    rows_by_dataset,
    scored_by_print,
    scored_by_runs,
)
from pubmill.extras.proof.verifier.resampling import CONFIDENCE, RESAMPLINGS, Fold, holm_adjusted, tested
from pubmill.extras.proof.verifier.structure import (
    BASIS,
    FLOORS,
    HEADING,
    MADE_WITH,
    RUNS,
    STUDY,
    TITLES,
    check_members,
    check_recipe,
    check_runs,
    expected_members,
    provenance_of,
    rows_of_composites,
)


class Proof:
    """The members of a proof: its runs, their counts by test set, and what its tables are computed from."""

    def __init__(self, data: bytes) -> None:
        self.members = intact(data)
        self.study: Json = read_packed(self.members, "study.json.gz")
        check_form(self.study, STUDY, "study.json.gz")
        content = read_packed(self.members, "runs.json.gz")
        check_form(content, RUNS, "runs.json.gz")
        self.sets: list[Json] = content["sets"]
        self.runs: dict[str, Json] = content["runs"]
        self.scored = [record for record, run in self.runs.items() if run["failed"] is None]
        if not self.study["tables"] or not self.scored:
            raise RefusedError("there is nothing to verify: no table, or no run with a score")
        check_runs(self.sets, self.runs, content["recipes"])
        self.counts = functools.lru_cache(maxsize=2)(self._counts)

    def check_structure(self) -> None:
        """Refuse members, tables and runs that belong to nothing, or that are missing."""
        bases = {name: self.basis(name) for name in self.study["tables"]}
        check_members({*self.members}, expected_members(self.study, self.sets, self.runs, bases))
        parts = [part for basis in bases.values() for part in (basis, *basis["others"].values())]
        cells = [rows for part in parts for rows in part["recipe"]["records"].values()]
        named = {path for rows in cells for paths in rows.values() for path in paths}
        if odd := sorted(self.runs.keys() - named):
            raise RefusedError(f"{odd[0]} is a run of no table ({len(odd)} such runs)")

    def basis(self, table: str) -> Json:
        """Return what a table is recomputed from."""
        name = f"tables/{table}.basis.json.gz"
        found: Json = read_packed(self.members, name)
        check_form(found, BASIS, name)
        check_recipe(found["recipe"], table, self.study)
        for other, part in found["others"].items():
            check_recipe(part["recipe"], other, self.study)
        return found

    def _counts(self, number: int) -> Any:
        """Return the counts of a test set [runs, units, names]."""
        known = self.sets[number]
        runs = sum(run["set"] == number for run in self.runs.values())
        return read_array(self.members, known["counts"], (runs, known["units"], len(known["names"])))

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


def check_set(proof: Proof, number: int) -> dict[str, int]:
    """Check the metrics of all runs on a test set, and for open data their counts by their items; return the
    numbers of runs and of those with items."""
    known, counts = proof.sets[number], proof.counts(number)
    if odd := implausible_counts(known["kind"], known["names"], counts):
        raise RefusedError(f"{known['counts']}: {odd}")
    runs = {record: run for record, run in proof.runs.items() if run["set"] == number}
    totals = counts.sum(axis=1, dtype=np.float64)
    by_name = {name: totals[:, place] for place, name in enumerate(known["names"])}
    scores = {name: METRICS[name](by_name) for name in metrics_of_kind(known["kind"])}
    for record, run in runs.items():
        found = {name: float(values[run["place"]]) for name, values in scores.items()}
        same({name: value for name, value in found.items() if value == value}, run["metrics"], record)
    return {
        "test sets": 1,
        "runs": len(runs),
        "runs by their items": check_by_items(proof, known, runs, counts),
    }


def check_by_items(proof: Proof, known: Json, runs: Mapping[str, Json], counts: Any) -> int:
    """Check the counts of a test set by its items, if the proof has any."""
    if known["gold"] is None:
        return 0
    gold = read_packed(proof.members, known["gold"])
    with_items = {record: run for record, run in runs.items() if run["items"] is not None}
    for record, run in with_items.items():
        predicted = read_packed(proof.members, run["items"])
        check_items(known["kind"], gold, predicted, record)
        if run["collapsed"] and known["kind"] != "regression" and not is_constant(known["kind"], predicted):
            raise RefusedError(f"{record}: it is marked as collapsed, and its predictions differ")
        found = counts_by_unit(known["kind"], gold, predicted, known["negative"], known["names"])
        if found.shape != counts.shape[1:] or not np.allclose(
            found, counts[run["place"]], rtol=1e-9, atol=1e-9
        ):
            raise RefusedError(f"{record}: its counts are not those of its items")
    return len(with_items)


class ShownTable:
    """A table of a proof: as it is shown, and what it is recomputed from."""

    def __init__(self, proof: Proof, name: str) -> None:
        self.proof, self.name, self.basis = proof, name, proof.basis(name)
        self.shown: Json = read_packed(proof.members, f"tables/{name}.json.gz")
        self.compared: Json = read_packed(proof.members, f"tables/{name}.comparisons.json.gz")
        others = {other: self._builder(other, one) for other, one in self.basis["others"].items()}
        whole = {"recipe": self.basis["recipe"], "cells": self.shown["cells"]}
        self.others, self.builder = others, self._builder(name, whole, others)

    def _builder(self, name: str, part: Json, others: Optional[Mapping[str, Builder]] = None) -> Builder:
        recipe, file = part["recipe"], f"published/{name}.csv"
        published = read_published(self.proof.members[file], recipe["left_out"], file)
        return Builder(recipe, published, self.proof.score, part["cells"], others or {})

    def check(self) -> dict[str, int]:
        """Check everything that is shown, and return how much it is."""
        recipe, cells = self.basis["recipe"], self.builder.cells
        number = check_cells(self.builder, self.shown["cells"], self.name)
        for place in self.builder.lost:
            raise RefusedError(f"{self.name}: no cell has the published value of {', '.join(place)}")
        made_with = provenance_of(recipe, cells, self.proof.runs)
        same(
            {
                **{key: recipe[key] for key in HEADING},
                "cells": Stated(object),
                "composites": rows_of_composites(recipe),
                "reasons": recipe.get("reasons", []),
                "floors": Stated(FLOORS),
                "provenance": {**made_with, **{key: Stated(form) for key, form in MADE_WITH.items()}},
                "seeds_needed": self.builder.seeds_needed(),
                "silences": Stated([str]),
            },
            self.shown,
            self.name,
        )
        for name, other in self.others.items():
            number += check_cells(other, self.basis["others"][name]["cells"], f"{name} for {self.name}")
        self._check_mixtures()
        every = [cell for rows in cells.values() for cell in rows.values()]
        return {
            "tables": 1,
            "cells": number,
            "verdicts": sum(cell["verdict"] is not None for cell in every),
            "tests": self._tests(),
            "rankings": self._rankings(),
        }

    def _check_mixtures(self) -> None:
        """Refuse cells whose runs are of several recipes or initial weights, and rows with several splits or
        data of one dataset."""
        kinds: dict[tuple[str, ...], Any] = {}
        for column, rows in self.builder.cells.items():
            for row, cell in rows.items():
                for record in (seed["record"] for seed in cell["seeds"] if seed["record"] in self.proof.runs):
                    run = self.proof.runs[record]
                    made, scored = ("recipe", "model_sha256"), ("split", "data_sha256")
                    for key, names in (((column, row), made), ((row, dataset_of(record)), scored)):
                        values = {name: run[name] for name in names}
                        same(kinds.setdefault((names[0], *key), values), values, f"{self.name}, {record}")

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
        recipe, found = self.builder.recipe, []
        for row in recipe["rows"]:
            runs = self._runs(row) if row["shown"] else {}
            if len(runs) < 2:
                continue
            folds, columns = self._folds(row, runs), list(runs)
            scores, tests = tested(
                folds, row["metric"], recipe["aggregate"], zlib.crc32(f"{self.name}/{row['key']}".encode())
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
        rows = [row for row in recipe["rows"] if row["shown"]]
        whole = {
            **{key: recipe[key] for key in (*TITLES, "aggregate")},
            "resamplings": RESAMPLINGS,
            "confidence": CONFIDENCE,
            "row_labels": {row["key"]: row["label"] for row in rows},
            "metrics": {row["key"]: row["metric"] for row in rows},
            "column_labels": {one["key"]: one["label"] for one in recipe["columns"]},
            "rows": found,
        }
        same(whole, self.compared, f"{self.name}, comparisons")
        return sum(len(row["pairs"]) for row in found)

    def _unit(self, runs: Mapping[str, list[Json]]) -> str:
        first: Json = self.proof.runs[next(iter(runs.values()))[0]["record"]]
        unit: str = self.proof.sets[first["set"]]["unit"]
        return unit

    def _rankings(self) -> int:
        """Check the ranks of models by published values and by runs, and return the number of rankings."""
        recipe = self.basis["recipe"]
        values = {
            (column, row): cell["published"]["value"]
            for column, rows in self.builder.cells.items()
            for row, cell in rows.items()
            if cell["published"]
        }
        rows, scored = scored_by_print(recipe, values)
        by_print = rankings(recipe, scored, rows, False) if scored else []
        same(by_print, self.basis["ranks"]["published"], f"{self.name}, ranks by published values")
        by_runs = self._rankings_of_runs(recipe)
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
    proof = proof_at(path)
    return check_set(proof, part) if isinstance(part, int) else ShownTable(proof, part).check()


def check_proof(path: str, jobs: int) -> dict[str, int]:
    """Check a whole proof with several processes, and return how much was checked."""
    proof = proof_at(path)
    proof.check_structure()
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
    whole = {"tables": len(proof.study["tables"]), "test sets": len(proof.sets), "runs": len(proof.scored)}
    same(whole, {name: total.get(name) for name in whole}, "visited")
    return total
