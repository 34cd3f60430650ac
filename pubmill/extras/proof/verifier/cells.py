"""Cells of tables from scores of runs and published values, with their verdicts."""

from __future__ import annotations

import csv
import io
import math
import re
import statistics
from typing import Callable, Iterable, Mapping, Optional

from pubmill.extras.proof.verifier.container import RefusedError
from pubmill.extras.proof.verifier.equivalence import (
    Uncertain,
    of_runs,
    seeds_for_half_a_point,
    summed,
    untested,
    verdict_of,
)
from pubmill.extras.proof.verifier.forms import Json, Stated, same

Cells = dict[str, dict[str, Json]]
"""Column -> row -> cell."""
Scores = Callable[[str, str], tuple[Optional[float], Optional[str], bool]]
"""Record and metric -> score in points, or why there is none; whether its predictions are all the same."""
Place = tuple[str, str, str]
"""Column, row and metric of a published value."""
PRINTED = re.compile("([+-]?[0-9]+([.][0-9]+)?)?")
NO_RECORD = "no record"
AGGREGATES: dict[str, Callable[[Iterable[float]], float]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
}


def dataset_of(record: str) -> str:
    """Return the dataset in the path of a record, .../PROTOCOL/MODEL/DATASET/SETTING/final/seed-N.json."""
    return record.split("/")[-4]


def model_of(record: str) -> str:
    """Return the model in the path of a record."""
    return record.split("/")[-5]


def read_published(content: bytes, left_out: Mapping[str, str], where: str) -> dict[Place, Json]:
    """Return the published values of a table by column, row and metric."""
    lines = csv.DictReader(io.StringIO(content.decode(), newline=""), strict=True)
    if lines.fieldnames != ["column", "row", "metric", "value", "note"]:
        raise RefusedError(f"{where}: its columns are not column, row, metric, value, note")
    found: dict[Place, Json] = {}
    for line in lines:
        place = line["column"], line["row"], line["metric"]
        hidden = line["row"] in left_out or f"{line['row']}/{line['metric']}" in left_out
        if place in found or len(line) != 5 or not (hidden or PRINTED.fullmatch(line["value"])):
            raise RefusedError(f"{where}: a line is repeated or no value: {', '.join(place)}")
        if line["value"] and not hidden:
            found[place] = {
                "value": float(line["value"]),
                "printed": line["value"],
                "note": line["note"],
                "recomputed": None,
            }
    return found


def half_digit(printed: str) -> float:
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


class Builder:
    """Cells of one table. `others`: the builders of the tables that its cells refer to; `lost`: the published
    values that are in no cell."""

    def __init__(
        self,
        recipe: Json,
        published: Mapping[Place, Json],
        scores: Scores,
        shown: Cells,
        others: Mapping[str, Builder],
    ) -> None:
        self.recipe, self.others = recipe, others
        self._published, self._scores, self._shown = published, scores, shown
        self.columns: dict[str, Json] = {one["key"]: one for one in recipe["columns"]}
        self.rows: dict[str, Json] = {one["key"]: one for one in recipe["rows"]}
        self.composites: dict[str, Json] = {one["name"]: one for one in recipe["composites"]}
        self.differences: dict[str, Json] = {one["name"]: one for one in recipe.get("differences", [])}
        self._used: set[Place] = set()
        self.cells = self._build()
        self.lost = [place for place in published if place not in self._used]

    def _build(self) -> Cells:
        cells: Cells = {key: {} for key in self.columns}
        for key, column in sorted(self.columns.items(), key=lambda item: bool(sources_of(item[1]))):
            for row in self.rows:
                make = self._of_columns if sources_of(column) else self._of_runs
                cells[key][row] = make(cells, key, row)
            for name in self.composites:
                cells[key][name] = self._composite(cells[key], key, name)
            for name, cell in cells[key].items():
                cell["verdict"] = self._verdict(cells[key], key, name)
        for key in self.columns:
            for name, cell in cells[key].items():
                cell["other"] = self.recipe.get("copied", {}).get(f"{key}/{name}")
            for name in self.differences:
                cells[key][name] = self._difference(cells[key], key, name)
        return cells

    def _printed(self, column: str, row: str, metric: str) -> Optional[Json]:
        metric = "delta" if self.columns[column]["drop"] else metric
        places = [(name, row, metric) for name in self.columns[column]["published"]]
        self._used.update(places)
        return next((dict(self._published[one]) for one in places if one in self._published), None)

    def _cell(self, published: Optional[Json], value: Optional[float], n: int, expected: int) -> Json:
        known = value is not None and published is not None
        return {
            "value": value,
            "spread": None,
            "without_collapsed": None,
            "n": n,
            "expected": expected,
            "seeds": [],
            "published": published,
            "difference": value - published["value"] if known else None,  # type: ignore[index]
            "verdict": None,
            "missing": Stated(str) if value is None else None,
            "other": None,
        }

    def as_shown(self, cell: Json) -> Json:
        """Return a cell as it must be shown, with the cell of another table that it refers to."""
        found, reference = {**cell}, cell["other"]
        del found["other"]
        if reference is not None:
            other = self.others[reference["table"]]
            labels = {**other.rows, **other.composites, **other.differences}
            found["minus" if cell.get("subtracts") else "copied_from"] = {
                "table": reference["table"],
                "linked": reference["linked"],
                "column": other.columns[reference["column"]]["label"],
                "row": labels[reference["row"]]["label"],
                "cell": other.as_shown(other.at(reference)),
            }
        for name in ("subtracts", *(["without_collapsed"] if cell["without_collapsed"] is None else [])):
            found.pop(name, None)
        return found

    def _of_runs(self, cells: Cells, column: str, row: str) -> Json:
        seeds = self._seeds(column, row)
        scores = [seed["value"] for seed in seeds if seed["value"] is not None]
        whole = bool(seeds) and len(scores) == len(seeds)
        value = AGGREGATES[self.recipe["aggregate"]](scores) if whole else None
        spec = self.rows[row]
        cell = self._cell(
            self._printed(column, spec["published"], spec["printed"]), value, len(scores), len(seeds)
        )
        cell["seeds"] = seeds
        cell["spread"] = statistics.stdev(scores) if whole and len(scores) > 1 else None
        kept = [seed["value"] for seed in seeds if "collapsed" not in seed]
        if whole and 0 < len(kept) < len(seeds):
            cell["without_collapsed"] = AGGREGATES[self.recipe["aggregate"]](kept)
        return cell

    def _seeds(self, column: str, row: str) -> list[Json]:
        """Return the runs of a cell. Runs found on disk that are unlike the others of their row are left
        out."""
        paths = self.recipe["records"].get(column, {}).get(row, [])
        name = f"{column}/{row}"
        self._check_paths(paths, column, row)
        if name in self.recipe["found"] and not self._shown[column][row]["seeds"]:
            return []
        folds = self.rows[row]["folds"] and name not in self.recipe.get("datasets", {})
        seeds = []
        for path in paths:
            score, failed, collapsed = self._scores(path, self.rows[row]["metric"])
            number = int(path.rpartition("-")[2][: -len(".json")])
            fold = dataset_of(path) if folds else ""
            mark = {"collapsed": True} if collapsed else {}  # shown only where it holds
            seeds.append({
                **mark, "seed": number, "value": score, "failed": failed, "fold": fold, "record": path,
                "seconds": Stated((float, None)),
            })  # fmt: skip
        return seeds

    def _check_paths(self, paths: list[str], column: str, row: str) -> None:
        """Refuse a run that a cell counts twice, or that is of another model or dataset."""
        spec, name = self.rows[row], f"{column}/{row}"
        own = [self.recipe.get("datasets", {}).get(name)] if name in self.recipe.get("datasets", {}) else None
        datasets = own or spec["folds"] or [spec["dataset"]]
        for path in paths:
            if model_of(path) != self.columns[column]["model"] or dataset_of(path) not in datasets:
                raise RefusedError(f"{name}: {path} is a run of another model or dataset")
        if len(set(paths)) < len(paths):
            raise RefusedError(f"{name}: a run counts twice")

    def _of_columns(self, cells: Cells, column: str, row: str) -> Json:
        spec = self.columns[column]
        values = [cells[one][row]["value"] for one in sources_of(spec)]
        known = [value for value in values if value is not None]
        value = None
        if len(known) == len(values):
            value = min(known[1:]) - known[0] if spec["drop"] else max(known)
        printed = self._printed(column, self.rows[row]["published"], self.rows[row]["printed"])
        return self._cell(printed, value, len(known), len(values))

    def _composite(self, cells: Mapping[str, Json], column: str, name: str) -> Json:
        groups = list(self.composites[name]["groups"].values())
        members = dict.fromkeys(row for group in groups for row in group)
        values = {row: cells[row]["value"] for row in members if cells[row]["value"] is not None}
        whole = len(values) == len(members)
        printed = self._printed(column, name, "score")
        parts = {row: cells[row]["published"] for row in members if cells[row]["published"]}
        if printed and len(parts) == len(members):
            mean = mean_of_groups(groups, {row: part["value"] for row, part in parts.items()})
            slack = max(half_digit(part["printed"]) for part in parts.values())
            follow(printed, mean, slack + half_digit(printed["printed"]))
        value = mean_of_groups(groups, values) if whole else None
        return self._cell(printed, value, len(values), len(members))

    def _difference(self, cells: Mapping[str, Json], column: str, name: str) -> Json:
        spec = self.differences[name]
        printed = self._printed(column, spec["published"], spec["printed"])
        reference = spec["minus"].get(column)
        if reference is None:
            return self._cell(printed, None, 0, 0)
        own, other = cells[spec["of"]], self.others[reference["table"]].at(reference)
        if printed and own["published"] and other["published"]:
            all_three = (printed, own["published"], other["published"])
            gap = own["published"]["value"] - other["published"]["value"]
            follow(printed, gap, sum(half_digit(one["printed"]) for one in all_three))
        known = [one["value"] for one in (own, other) if one["value"] is not None]
        cell = self._cell(printed, known[0] - known[1] if len(known) == 2 else None, len(known), 2)
        cell |= {"other": reference, "subtracts": True}
        if cell["difference"] is not None:
            cell["verdict"] = self._verdict_on_difference(cells, column, spec, reference, cell["difference"])
        return cell

    def _verdict_on_difference(
        self, cells: Mapping[str, Json], column: str, spec: Json, reference: Json, difference: float
    ) -> Json:
        other = self.others[reference["table"]]
        if self.incomparable(column, spec["of"]) or other.incomparable(reference["column"], reference["row"]):
            return untested("not comparable")
        own = self.uncertainty(cells, spec["of"])
        parent = other.uncertainty(other.cells[reference["column"]], reference["row"])
        of = summed([(1.0, own), (1.0, parent)]) if own and parent else None
        rule = self.recipe["equivalence"]
        return verdict_of(difference, of, rule["margins"][spec["name"]]["points"], rule)

    def at(self, reference: Json) -> Json:
        return self.cells[reference["column"]][reference["row"]]

    def _verdict(self, cells: Mapping[str, Json], column: str, row: str) -> Optional[Json]:
        difference = cells[row]["difference"]
        if difference is None:
            return None
        if self.incomparable(column, row):
            return untested("not comparable")
        if sources_of(self.columns[column]):
            return untested("no verdict")
        rule = self.recipe["equivalence"]
        return verdict_of(difference, self.uncertainty(cells, row), rule["margins"][row]["points"], rule)

    def incomparable(self, column: str, row: str) -> bool:
        reasons = self.recipe.get("not_comparable", {})
        members = [row]
        if row in self.composites:
            members = [one for group in self.composites[row]["groups"].values() for one in group]
        return not self.recipe["comparable"] or any(
            reasons.get(f"{column}/{one}") or self.rows[one]["not_comparable"] for one in members
        )

    def uncertainty(self, cells: Mapping[str, Json], row: str) -> Optional[Uncertain]:
        if row not in self.composites:
            cell = cells[row]
            if cell["spread"] is None:
                return None
            runs = self.recipe["equivalence"]["runs"][row]
            return of_runs(cell["spread"], cell["n"], runs, self.recipe["aggregate"])
        groups = self.composites[row]["groups"].values()
        weights = {name: 1 / len(groups) / len(group) for group in groups for name in group}
        parts = [(weight, self.uncertainty(cells, name)) for name, weight in weights.items()]
        known = [(weight, of) for weight, of in parts if of is not None]
        return summed(known) if len(known) == len(parts) else None

    def seeds_needed(self) -> Json:
        """Return, by row, the pooled spread over seeds and the seeds that resolve half a point."""
        rule, found = self.recipe["equivalence"], {}
        for row in self.rows:
            groups: dict[tuple[str, str], list[float]] = {}
            for key, column in self.columns.items():
                for seed in () if column["pipeline"] else self.cells[key][row]["seeds"]:
                    if seed["value"] is not None:
                        groups.setdefault((key, seed["fold"]), []).append(seed["value"])
            used = [scores for scores in groups.values() if len(scores) >= 3]
            freedom = sum(len(scores) - 1 for scores in used)
            if freedom:
                squares = sum((len(scores) - 1) * statistics.variance(scores) for scores in used)
                spread = math.sqrt(squares / freedom)
                seeds = seeds_for_half_a_point(spread, rule["alpha"], rule["power"])
                found[row] = {"spread": spread, "freedom": freedom, "seeds": seeds}
        return found


def sources_of(column: Json) -> list[str]:
    """Return the columns that a column is computed from."""
    drop = column["drop"]
    return list(column["best_of"]) or ([drop["start"], *drop["of"]] if drop else [])


def mean_of_groups(groups: Iterable[Iterable[str]], values: Mapping[str, float]) -> float:
    return statistics.fmean(statistics.fmean(values[row] for row in group) for group in groups)


def follow(printed: Json, value: float, slack: float) -> None:
    """Note the value that a printed one does not follow from within rounding."""
    if abs(value - printed["value"]) > slack + 1e-9:
        printed["recomputed"] = value


def check_cells(builder: Builder, shown: Cells, where: str) -> int:
    """Check every cell of a table, and return their number."""
    if {key: set(rows) for key, rows in shown.items()} != {
        key: set(rows) for key, rows in builder.cells.items()
    }:
        raise RefusedError(f"{where}: its cells are not those of its recipe")
    for column, rows in builder.cells.items():
        for row, cell in rows.items():
            same(builder.as_shown(cell), shown[column][row], f"{where}, {column}, {row}")
    return sum(map(len, builder.cells.values()))
