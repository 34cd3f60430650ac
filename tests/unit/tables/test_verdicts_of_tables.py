"""The verdicts of a table's cells, and where there is none."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.tables.cells import Table
from tests.unit.toy_tables import HEADER, paths, recipe, record, row, table, write

SCORES = {"bert": (0.79, 0.80, 0.81), "ours": (0.898, 0.900, 0.902)}
PRINTED = HEADER + "bert,bc2gm,entity_f1,80.0,\nours,bc2gm,entity_f1,{},\nours,gad,micro_f1,90.0,\n"


def made(results: Path, printed: str = "90.0", **changes: Any) -> Table:
    """Three runs of each of two models on bc2gm, at a scale that is comparable."""
    for model, scores in SCORES.items():
        for seed, score in enumerate(scores, 1):
            write(results, record(model, "bc2gm", seed, score))
    records = {model: {"bc2gm": paths(model, "bc2gm", 3)} for model in SCORES}
    fields: dict[str, Any] = {"comparable": True, "records": records, "composites": []} | changes
    return table(results, recipe(**fields), PRINTED.format(printed))


def test_a_row_may_be_not_comparable_and_one_run_has_no_spread(tmp_path: Path) -> None:
    rows = [row("bc2gm", "BC2GM", "ner", "entity_f1", not_comparable="other words"), recipe().rows[1]]
    one = {"ours": {"bc2gm": paths("ours", "bc2gm", 1)}}
    for changes, verdict, why in (
        ({"rows": rows}, "not comparable", "other words"),
        ({"records": one}, "no verdict", "one run has no spread"),
    ):
        found = made(tmp_path, **changes).cells["ours"]["bc2gm"].verdict
        assert found is not None and (found.verdict, found.p) == (verdict, None) and why in found.why


def test_seeds_are_reported_where_three_ran(tmp_path: Path) -> None:
    one = made(tmp_path)
    need = one.seeds_needed["bc2gm"]
    # (0.2 squared + 1 squared) / 2
    assert need.spread == pytest.approx(0.52**0.5)
    assert need.freedom == 4
    assert one.seeds_needed.keys() == {"bc2gm"}
    for form in ("md", "html"):
        assert f"BC2GM {need.seeds} (" in TABLE_RENDERERS[form](one)
    few = {model: {"bc2gm": paths(model, "bc2gm", 2)} for model in SCORES}
    assert made(tmp_path, records=few).seeds_needed == {}


def test_seeds_are_reported_for_each_fold_separately(tmp_path: Path) -> None:
    """Folds that differ by ten points, whose seeds differ by little."""
    folds = ("bc2gm@1", "bc2gm@2")
    rows = [row("bc2gm", "BC2GM", "ner", "entity_f1", folds=folds), recipe().rows[1]]
    for number, fold in enumerate(folds):
        for seed in (1, 2, 3):
            write(tmp_path, record("ours", fold, seed, 0.7 + 0.1 * number + 0.001 * seed))
    records = {"ours": {"bc2gm": [path for fold in folds for path in paths("ours", fold, 3)]}}
    one = made(tmp_path, rows=rows, records=records)
    assert one.seeds_needed["bc2gm"].spread == pytest.approx(0.1)


def test_every_form_has_verdicts_and_pages_the_rule(tmp_path: Path) -> None:
    table = made(tmp_path)
    for form, shown in (("md", "<br>*reproduced*"), ("html", ">reproduced</span>")):
        text = TABLE_RENDERERS[form](table)
        assert shown in text and "fixed before anything was run" in text
        assert "1 for BC2GM, GAD, blurb (made up)" in text
    lines = csv.DictReader(io.StringIO(TABLE_RENDERERS["csv"](table)))
    found = next(line for line in lines if (line["column"], line["row"]) == ("ours", "bc2gm"))
    assert (found["verdict"], found["margin"]) == ("reproduced", "1.0")
    assert 0 < float(found["p"]) < 0.05 < float(found["minimal_detectable"])
    assert int(found["seeds_needed"]) > 2
    assert '"verdict": "reproduced"' in TABLE_RENDERERS["json"](table)
