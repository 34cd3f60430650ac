"""Tables of facts: what is equal, what differs and why, what is empty and why; their written forms."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.recipes.fact_tables import FactSource, FactTableColumn, FactTableRecipe, FactTableRow
from pubmill.recipes.reading import as_json, read
from pubmill.report.table_rendering import FACT_TABLE_RENDERERS
from pubmill.tables.cells import read_as
from pubmill.tables.fact_cells import (
    UNEXPLAINED,
    build,
    found,
    is_equal,
    is_of_kind,
    read_artefacts,
    read_facts,
)
from pubmill.tables.fact_table_models import FactTable
from tests.pages import parsed
from tests.unit.report import toy_cards as made_up

HOSTILE = '<script>alert(1)</script> | "x" & {y} \\input{/etc/passwd} $% [z](http://q) `w`\n\n# T'
HEADER = "column,row,metric,value,note\n"
PUBLISHED = (
    HEADER
    + "t/task,drugs,text,ner,\nt/train,drugs,count,2,\nt/test,drugs,count,4244,counted elsewhere\n"
    + "t/blurb,drugs,boolean,1,\nt/bias,drugs,ratio,0.2,\n"
    + "t/task,notes,text,Relation,\nt/train,notes,count,99,\nt/blurb,notes,boolean,0,\n"
)
COLUMNS = [
    {"key": "t/task", "label": "Task", "value": "task", "kind": "text", "published": "t/task"},
    {"key": "t/train", "label": "Train", "value": "count.train", "kind": "count", "published": "t/train"},
    {"key": "t/dev", "label": "Dev", "value": "count.dev", "kind": "count", "published": "t/dev"},
    {"key": "t/test", "label": "Test", "value": "count.test", "kind": "count", "published": "t/test"},
    {"key": "t/blurb", "label": "BLURB", "value": "suites=blurb", "kind": "boolean", "published": "t/blurb"},
    {"key": "t/bias", "label": "Bias", "value": "label_bias.train", "kind": "ratio", "published": "t/bias"},
]
COUNTED = ("t/train", "t/dev", "t/test", "t/bias")
NO_LOSS = "the pretraining of m measured none on held-out documents"


def row(
    dataset: str, *, lacking: str | None = None, scaled: str | None = None, task: str = "ner",
    blurb: bool = True, **changes: Any,
) -> dict[str, Any]:  # fmt: skip
    """A dataset; with `lacking` it is not converted."""
    card = {
        "files": [] if lacking else [f"datasets/{dataset}/card.json"], "lacking": lacking, "scaled": scaled,
    }  # fmt: skip
    values = {
        "subject": dataset, "label": dataset, "measure": "mentions", "published": dataset.partition("@")[0],
        "why": {},
        "sources": {"t/task": {"value": task}, "t/blurb": {"value": blurb}, **dict.fromkeys(COUNTED, card)},
    }  # fmt: skip
    return values | changes


def recipe(*rows: dict[str, Any], **changes: Any) -> FactTableRecipe:
    """A converted dataset and one whose files are licensed and absent."""
    apply = "needs files that you apply for at https://example.org"
    licensed = row("notes", lacking=apply, task="Relation", blurb=False)
    values = {
        "paper": "gu2020", "table": "table03", "title": "Table 3", "caption": "Datasets.", "scale": "full",
        "scale_title": "demo scale, made-up data", "comparable": True, "subjects": "datasets",
        "columns": COLUMNS, "rows": list(rows) or [row("drugs"), licensed], "versions": {},
    }  # fmt: skip
    return read(FactTableRecipe, as_json(values | changes))


def table(tmp_path: Path, made: FactTableRecipe, published: str = PUBLISHED) -> FactTable:
    for dataset in {one.subject for one in made.rows if one.sources["t/train"].files}:
        made_up.write(tmp_path, made_up.card(dataset, "tokens"))
    path = tmp_path / "table03.published.csv"
    path.write_text(published)
    return build(made, read_facts(path, made), read_artefacts(made, tmp_path))


def test_equal_and_differing_values_stand_beside_the_published_ones(tmp_path: Path) -> None:
    conflicts = ("Table 3 prints 4244.", "Something else is 42440.")
    cells = table(tmp_path, recipe(row("drugs", conflicts=conflicts), row("notes", lacking="not here"))).cells
    found = {key: (cell.value, cell.published, cell.equal) for key, cell in cells["drugs"].items()}
    assert found == {
        "t/task": ("ner", "ner", True), "t/train": (2, "2", True), "t/dev": (None, None, None),
        "t/test": (2, "4244", False), "t/blurb": (True, "1", True), "t/bias": (0.2, "0.2", True),
    }  # fmt: skip
    assert cells["drugs"]["t/test"].reason == "Table 3 prints 4244."
    assert cells["drugs"]["t/dev"].reason == "drugs has no dev split"
    assert cells["drugs"]["t/test"].note == "counted elsewhere"
    notes = table(tmp_path, recipe()).cells["notes"]
    assert [(notes[key].value, notes[key].equal) for key in ("t/task", "t/blurb")] == [
        ("Relation", True), (False, True),
    ]  # fmt: skip
    assert (notes["t/train"].value, notes["t/train"].published) == (None, "99")
    assert notes["t/train"].reason == "needs files that you apply for at https://example.org"


def test_the_tables_own_reason_goes_first_and_a_missing_one_is_reported(tmp_path: Path) -> None:
    said = row("drugs", why={"t/test": "counted otherwise"}, conflicts=("4244",))
    silent = row("notes")
    published = HEADER + "t/test,drugs,count,4244,\nt/test,notes,count,4244,\nt/task,notes,text,x,\n"
    cells = table(tmp_path, recipe(said, silent), published).cells
    assert cells["drugs"]["t/test"].reason == "counted otherwise"
    assert cells["notes"]["t/test"].reason == UNEXPLAINED
    assert cells["notes"]["t/task"].reason == UNEXPLAINED


def test_numbers_of_made_up_data_differ_for_that_reason(tmp_path: Path) -> None:
    made = recipe(
        row("drugs", scaled="not the files", why={"t/test": "4244"}), row("notes"), comparable=False
    )
    found = table(tmp_path, made)
    cell = found.cells["drugs"]["t/test"]
    assert (cell.value, cell.equal, cell.spelt_out, cell.reason) == (2, None, None, "not the files")
    assert found.cells["drugs"]["t/train"].equal is True, "equal by chance is still equal"
    assert "1 is not compared and 0 have nothing" in found.summary
    [cells] = parsed(FACT_TABLE_RENDERERS["html"](found)).xpath("//tbody/tr[1]")
    for text in (cells.text_content(), FACT_TABLE_RENDERERS["md"](found), FACT_TABLE_RENDERERS["tex"](found)):
        assert "4244" not in re.sub(r"\W|_", "", text)
    assert found.heading == "Table 3 (demo scale, made-up data)"


def test_a_group_that_lists_its_members_is_silent_on_the_others(tmp_path: Path) -> None:
    silent = HEADER + "t/task,drugs,text,ner,\n"
    assert table(tmp_path, recipe(row("drugs")), silent).cells["drugs"]["t/blurb"].published is None
    found = table(tmp_path, recipe(row("drugs"), lists_members=True), silent)
    assert (found.cells["drugs"]["t/blurb"].published, found.cells["drugs"]["t/blurb"].equal) == ("0", False)


@pytest.mark.parametrize(("published", "message"), [
    (HEADER + "t/task,drgs,text,ner,\n", "without a cell of their kind: drgs / t/task / text"),
    (HEADER + "t/tsk,drugs,text,ner,\n", "drugs / t/tsk"),
    (HEADER + "t/task,drugs,count,5,\n", "drugs / t/task"),
    (HEADER + "t/train,drugs,count,5.5,\n", "csv:2: '5.5' is not a valid 'count'"),
    (HEADER + "t/blurb,drugs,boolean,yes,\n", "'yes' is not a valid 'boolean'"),
    (HEADER + "t/train,drugs,number,5,\n", "'5' is not a valid 'number'"),
    (HEADER + "t/train,drugs,minutes,3:61,\n", "'3:61' is not a valid 'minutes'"),
    (HEADER + "t/bias,drugs,ratio,1K,\n", "'1K' is not a valid 'ratio'"),
    (HEADER + "t/task,drugs,text,,\n", "'' is not a valid 'text'"),
])  # fmt: skip
def test_wrong_published_values_are_reported(tmp_path: Path, published: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        table(tmp_path, recipe(row("drugs")), published)


def test_a_measure_that_is_not_counted_is_reported_and_one_that_nothing_marks_is_empty(
    tmp_path: Path,
) -> None:
    with pytest.raises(PubmillError, match="'exampels'; the measures counted in train are sentences"):
        table(tmp_path, recipe(row("drugs", measure="exampels")), HEADER)
    cell = table(tmp_path, recipe(row("drugs", measure="documents")), HEADER).cells["drugs"]["t/train"]
    assert (cell.value, cell.reason) == (None, "documents are not marked in train of drugs")
    made_up.write(tmp_path, {"dataset": "drugs", "kind": "tokens"})
    with pytest.raises(PubmillError, match=r"drugs/card\.json is not a Card"):
        read_artefacts(recipe(row("drugs")), tmp_path)


def test_json_gives_the_same_table_back(tmp_path: Path) -> None:
    made = table(tmp_path, recipe())
    (tmp_path / "t.json").write_text(FACT_TABLE_RENDERERS["json"](made))
    again = read_as(FactTable, tmp_path / "t.json")
    assert again == made
    kinds = [type(again.cells["drugs"][key].value) for key in ("t/task", "t/train", "t/blurb", "t/bias")]
    assert kinds == [str, int, bool, float]


def test_html_tells_equal_differing_and_empty_cells_apart(tmp_path: Path) -> None:
    page = parsed(FACT_TABLE_RENDERERS["html"](table(tmp_path, recipe())))
    first, second = (" ".join(tr.text_content().split()) for tr in page.xpath("//tbody/tr"))
    assert "ours 2, as published ✓" in first
    assert "ours 2 , differs from the published ≠ 4 244*, difference (−4 242), reason b" in first
    assert "ours: none, reason c , published 99" in second
    reasons = page.xpath("//dl[@class='legend marks']/dd/text()")
    assert reasons[1:] == [UNEXPLAINED, "needs files that you apply for at https://example.org"]
    assert not page.xpath("//script | //link | //img | //@src")
    assert "Of 8 published values, 6 are found here, 1 differs and 1 has nothing" in page.text_content()


@pytest.mark.parametrize("form", FACT_TABLE_RENDERERS)
def test_every_form_escapes_and_warns_of_made_up_data(tmp_path: Path, form: str) -> None:
    texts: dict[str, Any] = {"title": HOSTILE, "notes": [HOSTILE], "comparable": False}
    texts |= {"columns": [{**column, "label": HOSTILE} for column in COLUMNS]}
    rows = row("drugs", label=HOSTILE, task=HOSTILE, why={"t/test": HOSTILE}), row("notes", lacking=HOSTILE)
    note = HOSTILE.replace('"', '""')
    published = f't/task,drugs,text,"{note.partition(chr(10))[0]}","{note}"\nt/test,drugs,count,4244,\n'
    published += f't/dev,drugs,count,,"{note}"\n'
    made = FACT_TABLE_RENDERERS[form](table(tmp_path, recipe(*rows, **texts), HEADER + published))
    assert form == "csv" or "made-up data" in made
    if form == "html":
        assert not parsed(made).xpath("//script") and parsed(made).xpath("//sup[@title=$text]", text=HOSTILE)
    if form == "md":
        lines = [line for line in made.splitlines() if line.startswith("|")]
        assert "<script>" not in made and "[z](" not in made and len(lines) == 2 + 2
        assert {line.replace("\\|", "").count("|") for line in lines} == {len(COLUMNS) + 2}
    if form == "tex":
        assert "\\input" not in made and "<script>" not in made and "4\\,244" in made
        assert made.count("\\begin{") == made.count("\\end{")
    if form == "csv":
        cells = list(csv.DictReader(io.StringIO(made)))
        assert len(cells) == 2 * len(COLUMNS)
        assert cells[1] | {"value": "2", "equal": "", "measure": "mentions"} == cells[1]
        formula = table(tmp_path, recipe(row("drugs"), row("notes", lacking="=HYPERLINK(1)")))
        assert "'=HYPERLINK(1)" in FACT_TABLE_RENDERERS[form](formula)


def test_an_empty_published_cell_stands_there_with_its_note(tmp_path: Path) -> None:
    made = recipe(row("drugs"))
    notes = 't/train,drugs,count,,not reported\nt/bias,drugs,ratio,,"no word (none; at all); sorry"\n'
    found = table(tmp_path, made, HEADER + notes)
    cell = found.cells["drugs"]["t/train"]
    assert (cell.published, cell.silent, cell.note, cell.equal) == (None, True, "not reported", None)
    assert found.all_notes[-3:] == ("drugs: not reported", "drugs: no word (none; at all)", "drugs: sorry")
    assert "nothing to compare" in found.summary
    for form in ("html", "md", "tex"):
        assert FACT_TABLE_RENDERERS[form](found).count("not reported") >= 2, form


def test_facts_run_down_the_page_where_the_table_says_so(tmp_path: Path) -> None:
    suites = (
        "t/blurb,drugs,boolean,1,a suite\nt/blurb,notes,boolean,0,a suite\nt/task,notes,text,x,as DRUGS\n"
    )
    published = HEADER + suites + "t/train,drugs,count,2,as DRUGS; by hand\n"
    found = table(tmp_path, recipe(row("drugs"), row("notes"), down="Fact"), published)
    assert [note for note in found.all_notes if "DRUGS" in note] == ["Task, Train: as DRUGS"]
    page = parsed(FACT_TABLE_RENDERERS["html"](found))
    assert [th.text for th in page.xpath("//thead//th")] == ["Fact", "drugs", "notes"]
    assert found.across == [("drugs", False), ("notes", False)]
    lines = [" ".join(tr.xpath("./th")[0].text_content().split()) for tr in page.xpath("//tbody/tr")]
    assert lines == ["Task", "Train", "Dev", "Test", "BLURB a suite", "Bias"]
    assert not [note for note in found.all_notes if "a suite" in note]
    assert FACT_TABLE_RENDERERS["md"](found).count("| Bias |") == 1


@pytest.mark.parametrize(("value", "printed", "kind", "equal"), [
    (62_500, "64K", "count", False), (63_500, "64K", "count", True), (1_700_000, "1.7M", "count", True),
    (1_760_000, "1.7M", "count", False), (8192, "8192", "count", True), (8191, "8192", "count", False),
    (4_540_000_000, "4.5 billion", "words", True), (4_551_000_000, "4.5B", "words", False),
    (22_490_000, "22 million", "count", True), (3_320_000, "3.4 million", "count", False),
    (20_600_000_000, "21GB", "bytes", True), (0.5, "0.50x", "ratio", True), (0.512, "0.50x", "ratio", False),
    (2.247, "2.2474", "ratio", False), (0.1667, "0.2", "ratio", True), (0.1667, "0.21", "ratio", False),
    (0.1667, "0", "ratio", True), (181.4, "03:01", "minutes", True), (182.0, "03:01", "minutes", False),
    (2e-4, "2e-4", "learning_rate", True), (2.6e-4, "2e-4", "learning_rate", False),
    (True, "1", "boolean", True), ("PubMed", "pubmed", "text", True),
])  # fmt: skip
def test_numbers_are_compared_as_far_as_they_are_printed(
    value: Any, printed: str, kind: Any, equal: bool
) -> None:
    assert is_of_kind(printed, kind)
    assert is_equal(value, printed, kind) is equal


@pytest.mark.parametrize(("held_out", "expected"), [
    ({"n-gram": {"mlm_loss": 1.24}, "subword": {"mlm_loss": 0.9}}, (1.24, None)),
    ({"n-gram": {"clm_loss": 3.1}}, (None, NO_LOSS)), (None, (None, NO_LOSS)),
])  # fmt: skip
def test_a_masked_loss_is_that_of_the_recipes_own_masking(held_out: Any, expected: object) -> None:
    file = "pretraining/m/step-9/state.json"
    sources = {"loss": FactSource(files=(file,))}
    of = FactTableRow(subject="m", label="M", measure="", published="m", why={}, sources=sources)
    column = FactTableColumn(key="loss", label="L", value="masked_loss", kind="ratio", published="loss")
    state = {"recipe": {"objective": {"masking": "n-gram"}}, "held_out": held_out}
    assert found(of, column, {file: state}) == expected


@given(st.integers(1, 10**6), st.sampled_from(["", "k", "M", " billion"]))
def test_every_number_equals_itself_as_printed(number: int, size: str) -> None:
    factor = {"": 1, "k": 10**3, "M": 10**6, " billion": 10**9}[size]
    assert is_equal(number * factor, f"{number}{size}", "count")
    assert not is_equal(number * factor + factor, f"{number}{size}", "count")
