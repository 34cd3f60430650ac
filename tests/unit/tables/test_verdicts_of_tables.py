"""The verdicts of a table's cells, and where there is none."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.statistics.equivalence import Uncertainty, combined, equivalence_p, uncertainty
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


def said(one: Table, model: str = "ours", key: str = "bc2gm") -> str | None:
    verdict = one.cells[model][key].verdict
    return verdict.verdict if verdict else None


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ("90.0", "reproduced"),
        ("90.7", "within the minimal detectable difference"),
        ("92.5", "not reproduced"),
    ],
)
def test_the_verdict_is_that_of_the_seeds(tmp_path: Path, printed: str, verdict: str) -> None:
    one = made(tmp_path, printed)
    assert said(one) == verdict
    found = one.cells["ours"]["bc2gm"].verdict
    assert found is not None and found.p is not None
    of = uncertainty(0.2, 3, 5, "mean")
    assert found.p == pytest.approx(equivalence_p(90.0 - float(printed), of, 1.0))


def test_much_spread_shows_nothing(tmp_path: Path) -> None:
    assert said(made(tmp_path), "bert") == "within the minimal detectable difference"


def test_a_median_has_a_larger_error_than_a_mean(tmp_path: Path) -> None:
    p = [
        one.p
        for aggregate in ("mean", "median")
        if (one := made(tmp_path, "90.7", aggregate=aggregate).cells["ours"]["bc2gm"].verdict)
    ]
    assert p[0] is not None and p[1] is not None and p[0] < p[1]


def test_what_must_not_be_compared_is_not(tmp_path: Path) -> None:
    assert said(made(tmp_path, comparable=False)) == "not comparable"
    rows = [row("bc2gm", "BC2GM", "ner", "entity_f1", not_comparable="other words"), recipe().rows[1]]
    one = made(tmp_path, rows=rows)
    verdict = one.cells["ours"]["bc2gm"].verdict
    assert verdict is not None and (verdict.verdict, verdict.why) == ("not comparable", "other words")


def test_without_ours_or_a_published_value_there_is_no_verdict(tmp_path: Path) -> None:
    one = made(tmp_path)
    assert said(one, "ours", "gad") is None
    assert one.cells["ours"]["gad"].published is not None
    write(tmp_path, record("ours", "bc2gm", 2, 0.9, metrics=None, counts=None, failed="nan"))
    records = {"ours": {"bc2gm": paths("ours", "bc2gm", 3)}}
    made_recipe = recipe(records=records, composites=[], comparable=True)
    again = table(tmp_path, made_recipe, HEADER + "ours,bc2gm,entity_f1,90,\n")
    assert said(again) is None


def test_one_run_has_no_verdict_of_confidence(tmp_path: Path) -> None:
    one = made(tmp_path, records={"ours": {"bc2gm": paths("ours", "bc2gm", 1)}})
    verdict = one.cells["ours"]["bc2gm"].verdict
    assert verdict is not None
    assert (verdict.verdict, verdict.p) == ("no verdict", None)
    assert "one run has no spread" in verdict.why


def composite(groups: dict[str, list[str]], printed: str, results: Path, **changes: Any) -> Table:
    for seed, score in enumerate((0.78, 0.80, 0.82), 1):
        write(results, record("ours", "gad", seed, score, metric="micro_f1", metrics={"micro_f1": score}))
    records = {"ours": {name: paths("ours", name, 3) for name in ("bc2gm", "gad")}}
    fields = {"composites": [{"name": "blurb", "label": "BLURB", "groups": groups}], "records": records}
    made(results)
    return table(
        results, recipe(**fields, comparable=True, **changes), HEADER + f"ours,blurb,score,{printed},\n"
    )


def test_a_composite_has_the_errors_of_its_parts(tmp_path: Path) -> None:
    """Half of 0.2 and half of 2 points."""
    groups = {"ner": ["bc2gm"], "re": ["gad"]}
    one = composite(groups, "85.0", tmp_path)
    verdict = one.cells["ours"]["blurb"].verdict
    parts = [(0.5, uncertainty(spread, 3, 5, "mean")) for spread in (0.2, 2.0)]
    assert verdict is not None and verdict.p == pytest.approx(equivalence_p(0.0, combined(parts), 1.0))
    assert isinstance(parts[0][1], Uncertainty)
    assert said(composite(groups, "91.0", tmp_path), key="blurb") == "not reproduced"


def test_a_composite_of_something_incomparable_is_not_comparable(tmp_path: Path) -> None:
    rows = [recipe().rows[0], row("gad", "GAD", "re", "micro_f1", not_comparable="other split")]
    one = composite({"ner": ["bc2gm"], "re": ["gad"]}, "85.0", tmp_path, rows=rows)
    assert said(one, key="blurb") == "not comparable"


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


@pytest.mark.parametrize("form", ["md", "html"])
def test_pages_have_verdicts_and_the_rule(tmp_path: Path, form: str) -> None:
    text = TABLE_RENDERERS[form](made(tmp_path))
    shown = {"md": "<br>*reproduced*", "html": ">reproduced</span>"}[form]
    assert shown in text
    assert "fixed before anything was run" in text
    assert "1 for BC2GM, GAD, blurb (made up)" in text


def test_programs_read_verdicts_too(tmp_path: Path) -> None:
    lines = csv.DictReader(io.StringIO(TABLE_RENDERERS["csv"](made(tmp_path))))
    found = next(line for line in lines if (line["column"], line["row"]) == ("ours", "bc2gm"))
    assert (found["verdict"], found["margin"]) == ("reproduced", "1.0")
    assert 0 < float(found["p"]) < 0.05 < float(found["minimal_detectable"])
    assert int(found["seeds_needed"]) > 2
    assert '"verdict": "reproduced"' in TABLE_RENDERERS["json"](made(tmp_path))
