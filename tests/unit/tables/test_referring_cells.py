"""Cells that refer to other tables, or must not be compared, in every form of a table."""

import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from pubmill.recipes.reading import as_values
from pubmill.recipes.tables import TableRecipe
from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.tables.aggregation import finished_table
from pubmill.tables.cells import Table, parse
from pubmill.tables.comparisons import comparisons
from pubmill.tables.table_frames import cell_frame, run_frame
from tests.pages import parsed
from tests.unit.toy_tables import HEADER, column, paths, recipe, record, row, write

PRINTED = HEADER + "bert,bc2gm,entity_f1,80.0,\nours,bc2gm,entity_f1,89.0,\nours,bc2gm,delta,+9.5,\n"
OLDER = HEADER + "base,bc2gm,entity_f1,80.5,\nunrelated,gad,micro_f1,1.0,\n"
SCORES = {"bert": (0.79, 0.80, 0.81), "ours": (0.898, 0.900, 0.902), "base": (0.804, 0.805, 0.806)}
PLAIN: dict[str, Any] = {"comparable": True, "composites": []}


def other(**changes: Any) -> TableRecipe:
    """The part of another table that is referred to: one cell of three runs."""
    fields: dict[str, Any] = {
        "paper": "older", "table": "table01", "rows": [row("bc2gm", "BC2GM", "ner", "entity_f1")],
        "columns": [column("base", "Base <b>")], "records": {"base": {"bc2gm": paths("base", "bc2gm", 3)}},
        "missing": {},
    }  # fmt: skip
    return recipe(**PLAIN, **fields | changes)


REFERENCE = {"table": "older/table01", "column": "base", "row": "bc2gm"}


def referring(part: TableRecipe | None = None, linked: bool = True, **changes: Any) -> TableRecipe:
    """`bert` was copied from the other table; a row has the difference of `ours` to it."""
    cell = REFERENCE | {"linked": linked}
    margins = {key: {"points": 1, "why": "made up"} for key in ("bc2gm", "gad", "delta")}
    fields: dict[str, Any] = {
        "records": {"ours": {"bc2gm": paths("ours", "bc2gm", 3)}}, "missing": {"bert/bc2gm": "copied"},
        "copied": {"bert/bc2gm": cell},
        "differences": [{"name": "delta", "label": "Difference", "of": "bc2gm", "minus": {"ours": cell},
          "published": "bc2gm", "printed": "delta"}],
        "others": {"older/table01": as_values(part or other())},
        "equivalence": {"alpha": 0.05, "power": 0.8, "margins": margins, "runs": {"bc2gm": 5, "gad": 5}},
    }  # fmt: skip
    return recipe(**PLAIN, **fields | changes)


def made(folder: Path, of: TableRecipe, printed: str = PRINTED) -> Table:
    """The table from three runs of each model."""
    for model, scores in SCORES.items():
        for seed, score in enumerate(scores, 1):
            write(folder, record(model, "bc2gm", seed, score))
    for name, text in (("gu2020/table06", printed), ("older/table01", OLDER)):
        path = folder / f"specs/{name}.published.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return finished_table(of, folder / "specs/gu2020/table06.published.csv", folder)


def test_a_copied_cell_has_value_and_verdict_of_its_origin_and_none_of_its_own(tmp_path: Path) -> None:
    cell = made(tmp_path, referring()).cells["bert"]["bc2gm"]
    assert (cell.value, cell.verdict, cell.missing) == (None, None, "copied")
    assert cell.published and cell.published.printed == "80.0"
    origin = cell.copied_from
    assert origin and (origin.title, origin.column, origin.linked) == ("older Table 1", "Base <b>", True)
    assert origin.cell.value == pytest.approx(80.5) and origin.cell.verdict
    assert origin.cell.verdict.verdict == "reproduced" and cell.other is origin


def test_a_difference_is_tested_with_the_spreads_of_both_cells(tmp_path: Path) -> None:
    cell = made(tmp_path, referring()).cells["ours"]["delta"]
    assert cell.value == pytest.approx(9.5) and cell.difference == pytest.approx(0)
    assert (cell.n, cell.expected, cell.seeds, cell.missing) == (2, 2, (), None)
    assert cell.verdict and cell.verdict.verdict == "reproduced" and cell.verdict.margin == 1
    # standard deviations of 0.2 and 0.1 over three runs of ours and five of each paper
    variances = [0.2**2 * (1 / 3 + 1 / 5), 0.1**2 * (1 / 3 + 1 / 5)]
    freedom = sum(variances) ** 2 / sum(variance**2 / 2 for variance in variances)
    assert cell.verdict.p == pytest.approx(float(stats.t.sf(1 / sum(variances) ** 0.5, freedom)))
    # 89.0 - 80.5 is printed, so +9.5 does not follow
    assert cell.published and cell.published.recomputed == pytest.approx(8.5)
    cell = made(tmp_path, referring(), PRINTED.replace("+9.5", "+8.4")).cells["ours"]["delta"]
    assert cell.published and cell.published.recomputed is None
    assert cell.verdict and cell.verdict.verdict == "not reproduced"


def test_a_difference_without_one_of_its_cells_names_it(tmp_path: Path) -> None:
    part = other(records={}, missing={"base": "older Table 1 is not a table of this study"})
    table = made(tmp_path, referring(part))
    cell = table.cells["ours"]["delta"]
    assert (cell.value, cell.verdict, cell.n) == (None, None, 1)
    assert cell.missing == (
        "no difference: no score of Base <b> in older Table 1 (older Table 1 is not a table of this study)"
    )
    assert table.cells["bert"]["delta"].missing == "no difference: the paper prints none"
    neither = made(tmp_path, referring(part, records={}, missing={"ours": "not run"}))
    assert "no score of BC2GM and Base <b> in" in str(neither.cells["ours"]["delta"].missing)


def test_one_cell_of_a_row_may_be_not_comparable(tmp_path: Path) -> None:
    records = {model: {"bc2gm": paths(model, "bc2gm", 3)} for model in ("bert", "ours")}
    part = recipe(**PLAIN, records=records, not_comparable={"ours/bc2gm": "other split"})
    printed = HEADER + "bert,bc2gm,entity_f1,80.0,\nours,bc2gm,entity_f1,80.0,\n"
    table = made(tmp_path, part, printed)
    own, usual = (table.cells[model]["bc2gm"].verdict for model in ("ours", "bert"))
    assert own and usual and (own.verdict, own.why) == ("not comparable", "other split")
    assert usual.verdict == "within the minimal detectable difference"
    page = parsed(TABLE_RENDERERS["html"](table))
    assert "Other split." in page.xpath("string(//article[b='Ours'])")


def test_a_difference_of_what_is_not_comparable_or_has_no_spread_has_no_verdict(tmp_path: Path) -> None:
    own: dict[str, Any] = {"not_comparable": {"ours/bc2gm": "other split"}}
    for part, changes, said in (
        (None, own, ("not comparable", "other split")),
        (other(not_comparable={"base/bc2gm": "other split"}), {}, ("not comparable", "other split")),
        (other(records={"base": {"bc2gm": paths("base", "bc2gm", 1)}}), {}, ("no verdict", None)),
    ):
        verdict = made(tmp_path, referring(part, **changes)).cells["ours"]["delta"].verdict
        assert verdict and verdict.verdict == said[0] and said[1] in (None, verdict.why)


def test_every_form_shows_what_a_cell_refers_to(tmp_path: Path) -> None:
    table = made(tmp_path, referring())
    page = parsed(TABLE_RENDERERS["html"](table))
    copied, minus = (
        page.xpath(f"//td//span[@class='detail'][starts-with(., '{text}')]")[0]
        for text in ("copied from", "minus")
    )
    assert copied.text_content() == "copied from older Table 1: 80.50, reproduced"
    assert minus.text_content() == "minus older Table 1: 80.50, reproduced"
    [link] = copied.xpath(".//a")
    assert (link.get("href"), link.get("title")) == ("older-table01.html", "Base <b>, BC2GM")
    assert "copied from older Table 1: 80.50, reproduced |" in TABLE_RENDERERS["md"](table)
    assert "<br>minus older Table 1: 80.50, reproduced |" in TABLE_RENDERERS["md"](table)
    assert "Base <b>" not in TABLE_RENDERERS["html"](table)


def test_a_table_that_is_not_made_has_no_link_and_a_reason(tmp_path: Path) -> None:
    why = "older Table 1 is not a table of this study"
    table = made(tmp_path, referring(other(records={}, missing={"base": why}), linked=False))
    page = parsed(TABLE_RENDERERS["html"](table))
    assert not page.xpath("//td//a[contains(@href, 'table01')]")
    [copied] = page.xpath("//td//span[@class='detail'][starts-with(., 'copied from')]")
    [mark] = copied.xpath(".//sup")
    assert copied.text_content() == f"copied from older Table 1: —{mark.text}"
    assert f"- <sup>{mark.text}</sup> {why}" in TABLE_RENDERERS["md"](table)


def test_json_and_csv_have_the_other_cell_and_other_tables_have_no_such_fields(tmp_path: Path) -> None:
    table = made(tmp_path, referring())
    again = parse(Table, json.loads(TABLE_RENDERERS["json"](table)), "here")
    assert again.cells["bert"]["bc2gm"].copied_from == table.cells["bert"]["bc2gm"].copied_from
    frame = cell_frame(table).set_index(["column", "row"])
    copied, minus, none = (
        frame.loc[key] for key in (("bert", "bc2gm"), ("ours", "delta"), ("ours", "bc2gm"))
    )
    assert (copied["reference"], minus["reference"], none["reference"]) == ("copied from", "minus", None)
    assert (copied["other_table"], copied["other_value"]) == ("older/table01", 80.5)
    assert (copied["other_verdict"], none["other_table"]) == ("reproduced", None)
    usual = made(tmp_path, recipe(**PLAIN, records={"ours": {"bc2gm": paths("ours", "bc2gm", 3)}}), HEADER)
    assert "other_table" not in cell_frame(usual).columns
    cells = json.loads(TABLE_RENDERERS["json"](usual))["cells"]["ours"]["bc2gm"]
    assert not {"copied_from", "minus"} & cells.keys()


def test_a_cell_may_be_of_another_model_and_dataset(tmp_path: Path) -> None:
    """Whose predictions are of different documents, so that nothing is left to compare."""
    write(tmp_path, *(record("theirs", "jnlpba", seed, 0.7) for seed in (1, 2)))
    records = {"bert": {"bc2gm": paths("bert", "bc2gm", 3)}, "ours": {"bc2gm": paths("theirs", "jnlpba")}}
    table = made(tmp_path, recipe(**PLAIN, records=records, datasets={"ours/bc2gm": "jnlpba"}), HEADER)
    cell = table.cells["ours"]["bc2gm"]
    assert cell.value == pytest.approx(70) and [seed.fold for seed in cell.seeds] == ["", ""]
    line = cell_frame(table).set_index(["column", "row"]).loc[("ours", "bc2gm")]
    assert (line["model"], line["dataset"]) == ("theirs", "jnlpba")
    assert set(run_frame(table)["dataset"]) == {"bc2gm", "jnlpba"}
    assert comparisons(table, tmp_path).rows == ()
