"""The members, fields and types that a proof may have, and how they must agree."""

from __future__ import annotations

from typing import Iterable, Mapping, Sequence

from pubmill.extras.proof.verifier.cells import dataset_of
from pubmill.extras.proof.verifier.container import SUMS, RefusedError
from pubmill.extras.proof.verifier.forms import HASH, RECORD, TABLE, TEXT_OR_NONE, Json, check_form, same
from pubmill.extras.proof.verifier.metrics import OF_KIND

WITHOUT_NUMBERS = ("verify.py", "README.md", SUMS)
"""Members that no number is computed from."""
ANY_TEXTS = {"*": str}
STUDY = {
    "format": int, "study": str, "title": str, "scale": str, "scale_title": str, "comparable": bool,
    "tables": {"*": {"shown": str, "comparisons": str, "basis": str}}, "open_datasets": [str],
    "pubmill": str, "commit": TEXT_OR_NONE, "numpy": str, "notices?": {"*": {"*": [str]}},
}  # fmt: skip
SET = {
    "dataset": str, "data_sha256": HASH, "kind": str, "unit": str, "units": int, "counts": str,
    "names": [str], "gold": TEXT_OR_NONE, "negative": TEXT_OR_NONE,
}  # fmt: skip
RUN = {
    "metrics": ({"*": float}, None), "failed": TEXT_OR_NONE, "split": str, "versions": {"*": (int, [int])},
    "data_sha256": HASH, "trained_on_sha256": {"*": HASH}, "model_sha256": (HASH, None),
    "commit": TEXT_OR_NONE, "made_by": str, "collapsed": bool, "record_sha256": HASH,
    "contributions_sha256": HASH, "recipe": int, "set": (int, None), "place?": int, "items?": TEXT_OR_NONE,
}  # fmt: skip
RUNS = {"sets": [SET], "runs": {"*": RUN}, "recipes": [{"*": object}]}
PUBLISHED_ROW = {
    "key": str, "dataset": TEXT_OR_NONE, "label": str, "metric": str, "published": str, "printed": str,
    "group": str, "shown": bool, "not_comparable": TEXT_OR_NONE, "conflicts": [str], "folds": [str],
}  # fmt: skip
COLUMN = {
    "key": str, "label": str, "model": TEXT_OR_NONE, "published": [str], "pipeline": bool, "best_of": [str],
    "drop": ({"start": str, "of": [str]}, None),
}  # fmt: skip
RULE = {
    "alpha": float, "power": float, "margins": {"*": {"points": float, "why": str}}, "runs": {"*": int},
}  # fmt: skip
TITLES = {
    "paper": str, "table": str, "title": str, "caption": str, "citation": str, "notes": [str], "scale": str,
    "scale_title": str, "comparable": bool,
}  # fmt: skip
HEADING = {
    **TITLES, "protocol": str, "setting": str, "aggregate": str, "equivalence": RULE, "columns": [COLUMN],
    "rows": [PUBLISHED_ROW],
}  # fmt: skip
OTHER = {"table": TABLE, "column": str, "row": str, "linked": bool}
RECIPE = {
    **HEADING, "composites": [{"name": str, "label": str, "groups": {"*": [str]}}], "left_out": ANY_TEXTS,
    "records": {"*": {"*": [RECORD]}}, "found": [str], "missing": ANY_TEXTS, "versions": {"*": object},
    "reasons?": [{"text": str, "cells": [str]}], "differences?": [
        {"name": str, "label": str, "of": str, "minus": {"*": OTHER}, "published": str, "printed": str}
    ],
    "datasets?": ANY_TEXTS, "not_comparable?": ANY_TEXTS, "copied?": {"*": OTHER}, "floors?": {"*": [str]},
}  # fmt: skip
BASIS = {
    "recipe": RECIPE, "others": {"*": {"recipe": RECIPE, "cells": object}},
    "ranks": {"published": list, "runs": list},
}  # fmt: skip
MADE_WITH = {
    "seconds": float, "packages": {"*": [str]}, "hardware": [str], "pipelines": {"*": [str]},
}  # fmt: skip
FLOORS = {"*": {"floors": {"*": float}, "definitions": ANY_TEXTS, "ceiling": {"score": float, "source": str}}}


def check_runs(sets: Sequence[Json], runs: Mapping[str, Json], recipes: Sequence[Json]) -> None:
    """Refuse runs and test sets that do not name each other: each run with a score has its own place in the
    counts of one set, of its dataset and data, and each set and recipe has runs."""
    places: list[list[int]] = [[] for _ in sets]
    for record, run in runs.items():
        check_form(record, RECORD, "runs.json.gz")
        whole = {"metrics": run["metrics"], "set": run["set"], "place": run.get("place")}
        if any((value is None) == (run["failed"] is None) for value in whole.values()):
            raise RefusedError(f"{record}: a run has either counts or the reason why it failed")
        if run["recipe"] not in range(len(recipes)):
            raise RefusedError(f"{record}: there is no recipe {run['recipe']}")
        if run["failed"] is not None:
            continue
        if run["set"] not in range(len(sets)):
            raise RefusedError(f"{record}: there is no test set {run['set']}, only {len(sets)}")
        known = sets[run["set"]]
        same(dataset_of(record), known["dataset"], f"{record}, dataset of its set")
        same(run["data_sha256"], known["data_sha256"], f"{record}, data of its set")
        if known["kind"] not in OF_KIND or (
            known["negative"] and not (known["gold"] and known["kind"] == "sequence")
        ):
            raise RefusedError(f"{known['counts']}: of an unknown kind, or a label without use")
        negative = recipes[run["recipe"]].get("negative")
        if known["gold"] and negative is not None:
            same(negative, known["negative"], f"{record}, label that does not count")
        places[run["set"]].append(run["place"])
    for known, found in zip(sets, places):
        if not found or sorted(found) != list(range(len(found))):
            raise RefusedError(f"{known['counts']}: its runs are not those of the records")
    keys = [tuple(str(one[name]) for name in ("dataset", "data_sha256", "kind", "unit")) for one in sets]
    if len(set(keys)) < len(keys) or len({run["recipe"] for run in runs.values()}) < len(recipes):
        raise RefusedError("runs.json.gz: a test set occurs twice, or a recipe has no run")


def expected_members(
    study: Json, sets: Sequence[Json], runs: Mapping[str, Json], bases: Mapping[str, Json]
) -> set[str]:
    """Return the names of all members; refuse a record that names a member otherwise than its place does."""
    found = {*WITHOUT_NUMBERS, "study.json.gz", "runs.json.gz"}
    same(2, study["format"], "study.json.gz, format")
    for name, files in study["tables"].items():
        check_form(name, TABLE, "study.json.gz")
        below = {"shown": "", "comparisons": ".comparisons", "basis": ".basis"}
        own = {what: f"tables/{name}{part}.json.gz" for what, part in below.items()}
        same(own, files, f"study.json.gz, {name}")
        found |= {*own.values(), *(f"published/{one}.csv" for one in (name, *bases[name]["others"]))}
    for number, known in enumerate(sets):
        same(f"counts/{number:04d}.npy.gz", known["counts"], f"test set {number}")
        if known["gold"] is not None:
            same(f"items/{number:04d}.gold.json.gz", known["gold"], f"test set {number}")
            same(True, known["dataset"] in study["open_datasets"], f"{known['dataset']} is open")
        found |= {known["counts"], known["gold"]} - {None}
    for record, run in runs.items():
        if run.get("items") is not None:
            same(f"items/{record[: -len('.json')]}.json.gz", run["items"], record)
            if sets[run["set"]]["gold"] is None:
                raise RefusedError(f"{record}: it has predicted items, and its test set has none")
            found.add(run["items"])
    return found


def check_members(members: Iterable[str], expected: set[str]) -> None:
    """Refuse members that nothing names, and names without a member."""
    if odd := sorted({*members} ^ expected):
        what = "is missing" if odd[0] in expected else "belongs to no run and no table"
        raise RefusedError(f"{odd[0]} {what} ({len(odd)} such members)")


def check_recipe(recipe: Json, name: str, study: Json) -> None:
    """Refuse the recipe of a table of another name or scale, with a key that occurs twice, or with a rule by
    which nothing can be tested."""
    same(name, f"{recipe['paper']}/{recipe['table']}", f"{name}, paper and table")
    for field in ("scale", "comparable"):
        same(study[field], recipe[field], f"{name}, {field}")
    rule = recipe["equivalence"]
    margins = all(0 < one["points"] < 100 for one in rule["margins"].values())
    if not (margins and min([1, *rule["runs"].values()]) == 1):
        raise RefusedError(f"{name}: a margin or a number of runs cannot be")
    if not 0.001 <= rule["alpha"] < 0.5 < rule["power"] <= 0.999:
        raise RefusedError(f"{name}: alpha or power cannot be")
    named = [*recipe["composites"], *recipe.get("differences", [])]
    rows = [*(one["key"] for one in recipe["rows"]), *(one["name"] for one in named)]
    for keys, what in ((rows, "row"), ([one["key"] for one in recipe["columns"]], "column")):
        if len({*keys}) < len(keys):
            raise RefusedError(f"{name}: a {what} occurs twice")


def rows_of_composites(recipe: Json) -> list[Json]:
    """Return the rows of composites and differences, as a table shows them."""
    found = []
    for one in (*recipe["composites"], *recipe.get("differences", [])):
        metric, names = "difference", one
        if "groups" in one:
            metric = "score" if len(one["groups"]) > 1 else "mean"
            names = {"published": one["name"], "printed": "score"}
        found.append({
            "key": one["name"], "label": one["label"], "metric": metric, "published": names["published"],
            "printed": names["printed"], "dataset": None, "group": "", "shown": True,
            "not_comparable": None, "conflicts": [], "folds": [],
        })  # fmt: skip
    return found


def provenance_of(recipe: Json, cells: Mapping[str, Mapping[str, Json]], runs: Mapping[str, Json]) -> Json:
    """Return how many runs a table shows, how many failed, and their commits."""
    pipelines = {one["key"] for one in recipe["columns"] if one["pipeline"]}
    known = [
        (column in pipelines, runs[seed["record"]])
        for column, rows in cells.items()
        for cell in rows.values()
        for seed in cell["seeds"]
        if seed["record"] in runs
    ]
    trained = [run for is_pipeline, run in known if not is_pipeline]
    return {
        "runs": len(trained),
        "failed": sum(run["failed"] is not None for run in trained),
        "commits": sorted({run["commit"] for _, run in known if run["commit"] is not None}),
    }
