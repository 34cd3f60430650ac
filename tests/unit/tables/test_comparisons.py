"""The models of a table's rows against the best of them, from the files beside the records."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubmill.errors import PubmillError
from pubmill.metrics.contributions import Contributions, Items, write_items
from pubmill.metrics.registry import measure_of
from pubmill.report.table_rendering import COMPARISON_RENDERERS
from pubmill.tables.cells import Table, parse
from pubmill.tables.comparisons import Comparisons, comparisons, with_columns
from tests.pages import parsed
from tests.unit.toy_tables import column, paths, recipe, record, system_path, system_record, table, write

NAMES = ("gold", "predicted", "correct", "relaxed_correct", "relaxed_found")
MODELS = {"bert": 0.5, "ours": 0.9, "other": 0.52}
"""Which share of entities each model finds, about."""


def contributions(seed: int, share: float, documents: int = 60) -> Contributions:
    noise = np.random.default_rng(seed)
    correct = noise.binomial(4, share, documents).astype(float)
    gold = np.full(documents, 4.0)
    return Contributions(NAMES, np.stack([gold, gold, correct, correct, correct], axis=1))


def hold(results: Path, path: str, found: Contributions | None, data: str = "d") -> float:
    """Write a run's contributions; its score."""
    file = results / path.replace(".json", ".items.npz")
    write_items(file, Items("tokens", "document", data * 64, found))
    return float(measure_of("mentions")(found.totals())["entity_f1"]) if found else 0.0


def made(results: Path, seeds: int = 3, **changes: Any) -> Table:
    """Three models on bc2gm, with the same documents in each run."""
    records = {model: {"bc2gm": paths(model, "bc2gm", seeds)} for model in MODELS}
    for number, (model, share) in enumerate(MODELS.items()):
        for seed, path in enumerate(records[model]["bc2gm"], 1):
            score = hold(results, path, contributions(10 * number + seed, share))
            write(results, record(model, "bc2gm", seed, score))
    columns = [column(model, model.title()) for model in MODELS]
    made_recipe = recipe(**{"columns": columns, "records": records, "composites": []} | changes)
    return table(results, made_recipe, "column,row,metric,value,note\n")


def compared(results: Path, one: Table) -> Comparisons:
    return comparisons(one, results)


def test_the_best_is_compared_with_each_other_model(tmp_path: Path) -> None:
    one = made(tmp_path)
    found = compared(tmp_path, one)
    (row,) = found.rows
    assert "means over seeds" in found.method and "(95 %, percentiles)" in found.method
    assert " 1000 times" in found.method and found == compared(tmp_path, one)
    assert (row.row, row.best, row.unit, row.units) == ("bc2gm", "ours", "document", 60)
    assert [pair.other for pair in row.pairs] == ["bert", "other"]
    for pair in row.pairs:
        cells = one.cells
        expected = cells["ours"]["bc2gm"].value - cells[pair.other]["bc2gm"].value  # type: ignore[operator]
        assert pair.difference == pytest.approx(expected)
        assert pair.interval is not None and 0 < pair.interval[0] < pair.difference < pair.interval[1]
        assert pair.bootstrap_p == pair.randomisation_p == 1 / (1 + found.resamplings)
        assert pair.bootstrap_adjusted == pytest.approx(2 * pair.bootstrap_p)


def test_one_model_alone_is_compared_with_none(tmp_path: Path) -> None:
    one = made(tmp_path, records={"ours": {"bc2gm": paths("ours", "bc2gm", 3)}})
    for without in (one, table(tmp_path, recipe(records={}), "column,row,metric,value,note\n")):
        found = compared(tmp_path, without)
        assert found.rows == ()
        for form in ("md", "html"):
            assert "No row has two models with complete scores." in COMPARISON_RENDERERS[form](found)


def test_a_system_of_one_run_is_compared_too_and_an_incomplete_cell_is_not(tmp_path: Path) -> None:
    made(tmp_path)
    score = hold(tmp_path, system_path("genes"), contributions(99, 0.6))
    write(tmp_path, system_record("genes", metrics={"entity_f1": score}))
    write(tmp_path, record("other", "bc2gm", 2, 0.5, metrics=None, counts=None, failed="nan"))
    hold(tmp_path, paths("other", "bc2gm", 3)[1], None)
    columns = [column("genes", "Genes", supplied=True), column("ours", "Ours"), column("other", "Other")]
    records = {"genes": {"bc2gm": [system_path("genes")]}}
    records |= {model: {"bc2gm": paths(model, "bc2gm", 3)} for model in ("ours", "other")}
    made_recipe = recipe(columns=columns, records=records, composites=[])
    one = table(tmp_path, made_recipe, "column,row,metric,value,note\n")
    (row,) = compared(tmp_path, one).rows
    assert (row.best, [pair.other for pair in row.pairs]) == ("ours", ["genes"])


@pytest.mark.parametrize("what", ["data", "documents", "run", "failed", "absent"])
def test_contributions_of_something_else_are_refused(tmp_path: Path, what: str) -> None:
    one = made(tmp_path)
    path = paths("ours", "bc2gm", 3)[2]
    ours = contributions(13, MODELS["ours"])
    other = {
        "data": (ours, "e"), "documents": (contributions(13, MODELS["ours"], 59), "d"),
        "run": (contributions(14, MODELS["ours"]), "d"), "failed": (None, "d"),
    }  # fmt: skip
    if what == "absent":
        (tmp_path / path.replace(".json", ".items.npz")).unlink()
    else:
        hold(tmp_path, path, *other[what])
    with pytest.raises(PubmillError, match="again"):
        compared(tmp_path, one)


def test_forms_show_every_comparison(tmp_path: Path) -> None:
    found = compared(tmp_path, made(tmp_path))
    page = parsed(COMPARISON_RENDERERS["html"](found))
    lines = [" ".join(line.text_content().split()) for line in page.xpath("//tbody/tr[td]")]
    assert len(lines) == 2
    assert lines[0].startswith(f"Bert +{found.rows[0].pairs[0].difference:.2f}")
    assert "0.001" in lines[0]
    text = COMPARISON_RENDERERS["md"](found)
    assert "| BC2GM<br>entity F1<br>60 documents | Ours | Bert | +" in text
    assert "not comparable with the paper" in COMPARISON_RENDERERS["html"](found)
    assert parse(Comparisons, json.loads(COMPARISON_RENDERERS["json"](found)), "here") == found


def test_some_columns_are_chosen_by_key_or_label(tmp_path: Path) -> None:
    one = made(tmp_path)
    found = with_columns(one, ["Other", "bert"])
    assert [column.key for column in found.columns] == list(found.cells) == ["bert", "other"]
    (row,) = compared(tmp_path, found).rows
    assert (row.best, [pair.other for pair in row.pairs]) == ("other", ["bert"])
    assert with_columns(one, ["oth", "BE"]).columns == found.columns
    with pytest.raises(PubmillError, match="there is no column 'nobody'; the nearest: "):
        with_columns(one, ["bert", "nobody"])
    with pytest.raises(PubmillError, match="bert and be: one column, bert; name at least two"):
        with_columns(one, ["bert", "be"])
