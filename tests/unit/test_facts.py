"""Tables of datasets: what is equal, what differs and why, what is empty and why; their written forms."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from pubmill.convert.counting import count
from pubmill.errors import PubmillError
from pubmill.examples import Answer, SpanExample
from pubmill.study import check_study
from pubmill.tables.cards import Card, label_bias
from pubmill.tables.dataset_rendering import FORMS
from pubmill.tables.dataset_tables import (
    UNEXPLAINED,
    DatasetTable,
    DatasetTableRecipe,
    build,
    read_cards,
    read_dataset_table,
    read_facts,
)
from pubmill.targets import Targets
from tests.unit import cards_made_up as made_up

HOSTILE = '<script>alert(1)</script> | "x" & {y} \\input{/etc/passwd} $% [z](http://q) `w`\n\n# T'
HEADER = "row,column,metric,value,note\n"
PUBLISHED = (
    HEADER
    + "t/task,drugs,text,ner,\nt/train,drugs,count,2,\nt/test,drugs,count,4244,counted elsewhere\n"
    + "t/blurb,drugs,boolean,1,\nt/bias,drugs,ratio,0.2,\n"
    + "t/task,notes,text,Relation,\nt/train,notes,count,99,\nt/blurb,notes,boolean,0,\n"
)
FACTS = {"kind": "tokens", "task": "ner", "domain": "biomedical", "metric": "entity_f1", "suites": ["blurb"]}
COLUMNS = [
    {"key": "t/task", "label": "Task", "value": "task"},
    {"key": "t/train", "label": "Train", "value": "count.train"},
    {"key": "t/dev", "label": "Dev", "value": "count.dev"},
    {"key": "t/test", "label": "Test", "value": "count.test"},
    {"key": "t/blurb", "label": "BLURB", "value": "suites=blurb"},
    {"key": "t/bias", "label": "Bias", "value": "label_bias.train"},
]


def row(dataset: str, **changes: Any) -> dict[str, Any]:
    values = {
        "dataset": dataset,
        "label": dataset,
        "measure": "mentions",
        "published": dataset.partition("@")[0],
        "words": {},
        "why": {},
        "facts": FACTS,
        "card": f"datasets/{dataset}/card.json",
        "missing": None,
    }
    return values | changes


def recipe(*rows: dict[str, Any], **changes: Any) -> DatasetTableRecipe:
    """A converted dataset and one whose files are licensed and absent."""
    licensed = row(
        "notes",
        card=None,
        missing="needs files that you apply for at https://example.org",
        facts={**FACTS, "task": "relation", "suites": ["blue"]},
        words={"relation": "Relation"},
    )
    values = {
        "paper": "gu2020",
        "table": "table03",
        "title": "Table 3",
        "caption": "Datasets.",
        "scale": "full",
        "scale_title": "demo scale, made-up data",
        "comparable": True,
        "columns": COLUMNS,
        "rows": list(rows) or [row("drugs"), licensed],
        "versions": {},
    }
    return DatasetTableRecipe.model_validate(values | changes)


def table(tmp_path: Path, made: DatasetTableRecipe, published: str = PUBLISHED) -> DatasetTable:
    for dataset in {one.dataset for one in made.rows if one.card}:
        made_up.write(tmp_path, made_up.card(dataset, "tokens"))
    path = tmp_path / "table03.published.csv"
    path.write_text(published)
    return build(made, read_facts(path), read_cards(made, tmp_path))


def test_equal_and_differing_values_stand_beside_the_published_ones(tmp_path: Path) -> None:
    conflicts = ("Table 3 prints 4244.", "Something else is 42440.")
    cells = table(
        tmp_path, recipe(row("drugs", conflicts=conflicts), row("notes", facts=None, card=None))
    ).cells
    found = {key: (cell.value, cell.published, cell.equal) for key, cell in cells["drugs"].items()}
    assert found == {
        "t/task": ("ner", "ner", True),
        "t/train": (2, "2", True),
        "t/dev": (None, None, None),
        "t/test": (2, "4244", False),
        "t/blurb": (True, "1", True),
        "t/bias": (0.2, "0.2", True),
    }
    assert cells["drugs"]["t/test"].reason == "Table 3 prints 4244."
    assert cells["drugs"]["t/dev"].reason == "drugs has no dev split"
    assert cells["drugs"]["t/test"].note == "counted elsewhere"


def test_what_a_licensed_dataset_lacks_is_told_and_its_spec_still_speaks(tmp_path: Path) -> None:
    cells = table(tmp_path, recipe()).cells["notes"]
    assert (cells["t/task"].value, cells["t/task"].equal) == ("Relation", True)
    assert (cells["t/blurb"].value, cells["t/blurb"].equal) == (False, True)
    assert cells["t/train"].value is None and cells["t/train"].published == "99"
    assert cells["t/train"].reason == "needs files that you apply for at https://example.org"


def test_a_dataset_that_there_is_not_has_its_reason_in_every_cell(tmp_path: Path) -> None:
    absent = row("conll", facts=None, card=None, missing="no dataset of ours")
    cells = table(tmp_path, recipe(absent), HEADER + "t/train,conll,count,14987,\n").cells["conll"]
    assert {cell.reason for cell in cells.values()} == {"no dataset of ours"}
    assert {cell.value for cell in cells.values()} == {None}


def test_the_tables_own_reason_goes_first_and_the_lack_of_one_is_told(tmp_path: Path) -> None:
    said = row("drugs", why={"t/test": "counted otherwise"}, conflicts=("4244",))
    silent = row("notes")
    published = HEADER + "t/test,drugs,count,4244,\nt/test,notes,count,4244,\nt/task,notes,text,x,\n"
    cells = table(tmp_path, recipe(said, silent), published).cells
    assert cells["drugs"]["t/test"].reason == "counted otherwise"
    assert cells["notes"]["t/test"].reason == UNEXPLAINED
    assert cells["notes"]["t/task"].reason == UNEXPLAINED


def test_numbers_of_made_up_data_differ_for_that_reason(tmp_path: Path) -> None:
    made = recipe(row("drugs", made_up=True, conflicts=("4244",)), row("notes"), comparable=False)
    found = table(tmp_path, made)
    assert found.cells["drugs"]["t/test"].reason == "not the published files: demo scale, made-up data"
    assert found.heading == "Table 3 (demo scale, made-up data)"


def test_a_group_that_lists_its_members_is_silent_on_the_others(tmp_path: Path) -> None:
    silent = HEADER + "t/task,drugs,text,ner,\n"
    assert table(tmp_path, recipe(row("drugs")), silent).cells["drugs"]["t/blurb"].published is None
    found = build(
        recipe(row("drugs"), lists_members=True),
        read_facts(tmp_path / "table03.published.csv"),
        read_cards(recipe(row("drugs")), tmp_path),
    )
    assert (found.cells["drugs"]["t/blurb"].published, found.cells["drugs"]["t/blurb"].equal) == ("0", False)


def test_what_is_noted_of_several_values_stands_there_once(tmp_path: Path) -> None:
    published = (
        HEADER
        + "t/task,drugs,text,ner,as DRUGS\n"
        + ('t/train,drugs,count,2,as DRUGS; by hand\nt/test,notes,count,4,"by hand"\n')
    )
    notes = table(tmp_path, recipe(row("drugs"), row("notes")), published).all_notes
    assert [note for note in notes if "DRUGS" in note] == ["drugs: as DRUGS"]
    assert [note for note in notes if "by hand" in note] == ["drugs, notes: by hand"]


def test_two_rows_may_stand_beside_one_published_line(tmp_path: Path) -> None:
    made = recipe(row("drugs@a", published="drugs"), row("drugs@b", published="drugs"))
    found = table(tmp_path, made, HEADER + "t/train,drugs,count,2,\n")
    assert [found.cells[name]["t/train"].equal for name in ("drugs@a", "drugs@b")] == [True, True]
    assert "drugs@a drugs@a, drugs@b drugs@b" in found.all_notes[-1]


@pytest.mark.parametrize(
    ("published", "told"),
    [
        (HEADER + "t/task,drgs,text,ner,\n", "without a cell of their kind: drgs / t/task"),
        (HEADER + "t/tsk,drugs,text,ner,\n", "drugs / t/tsk"),
        (HEADER + "t/task,drugs,count,5,\n", "drugs / t/task"),
        (HEADER + "t/train,drugs,count,5.5,\n", "csv:2: '5.5' is no 'count'"),
        (HEADER + "t/blurb,drugs,boolean,yes,\n", "'yes' is no 'boolean'"),
        (HEADER + "t/train,drugs,number,5,\n", "'5' is no 'number'"),
        (HEADER + "t/task,drugs,text,,\n", "'' is no 'text'"),
        (HEADER + "t/task,drugs,text,a,\n" * 2, "for the second time"),
        ("row,column\n", "the header is"),
        (HEADER + "t/task,drugs,text,a,b,c\n", "expected 5 fields"),
    ],
)
def test_wrong_published_values_are_told(tmp_path: Path, published: str, told: str) -> None:
    with pytest.raises(PubmillError, match=told):
        table(tmp_path, recipe(row("drugs")), published)


def test_a_measure_that_is_not_counted_is_told(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="'exampels'; what is counted of it in train is sentences"):
        table(tmp_path, recipe(row("drugs", measure="exampels")), HEADER)


def test_a_measure_that_nothing_marks_is_empty(tmp_path: Path) -> None:
    cell = table(tmp_path, recipe(row("drugs", measure="documents")), HEADER).cells["drugs"]["t/train"]
    assert (cell.value, cell.reason) == (None, "documents are not marked in train of drugs")


def test_a_broken_card_is_named(tmp_path: Path) -> None:
    made_up.write(tmp_path, {"dataset": "drugs", "kind": "tokens"})
    with pytest.raises(PubmillError, match=r"drugs/card\.json is not a Card"):
        read_cards(recipe(row("drugs")), tmp_path)


@pytest.mark.parametrize(
    ("kind", "bias"),
    [("tokens", 5 / 25), ("sequence", 2 / 8), ("multilabel", 1 / 3), ("regression", None), ("span", 1 / 4)],
)
def test_label_bias_is_that_of_the_caption(kind: str, bias: float | None) -> None:
    card = Card.model_validate(made_up.card("x", kind))
    assert label_bias(card, "train") == pytest.approx(bias)


def test_ratios_are_compared_at_the_printed_decimals(tmp_path: Path) -> None:
    for printed, equal in (("0.2", True), ("0.20", True), ("0.21", False), ("0", True)):
        folder = tmp_path / printed
        folder.mkdir()
        found = table(folder, recipe(row("drugs")), HEADER + f"t/bias,drugs,ratio,{printed},\n")
        assert found.cells["drugs"]["t/bias"].equal is equal, printed


def test_repeats_of_an_answer_are_counted_over_examples() -> None:
    def example(number: int, question: str, *answers: str) -> SpanExample:
        given = [Answer(text=text, start="a b".index(text)) for text in answers]
        return SpanExample(id=str(number), document=None, question=question, context="a b", answers=given)

    counts = count(
        [example(1, "q", "a", "a"), example(2, "q", "a"), example(3, "r", "a", "b"), example(4, "s")]
    )
    assert (counts["fewest_repeats"], counts["most_repeats"]) == (1, 3)
    assert (counts["fewest_repeats_of_pair"], counts["most_repeats_of_pair"]) == (1, 2)
    assert count([example(1, "q")])["most_repeats"] == 0


def test_json_gives_the_same_table_back(tmp_path: Path) -> None:
    made = table(tmp_path, recipe())
    (tmp_path / "t.json").write_text(FORMS["json"](made))
    again = read_dataset_table(tmp_path / "t.json")
    assert again == made
    kinds = [type(again.cells["drugs"][key].value) for key in ("t/task", "t/train", "t/blurb", "t/bias")]
    assert kinds == [str, int, bool, float]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_again_and_warns_of_made_up_data(tmp_path: Path, form: str) -> None:
    made = table(tmp_path, recipe(comparable=False))
    assert FORMS[form](made) == FORMS[form](made)
    assert form == "csv" or "made-up data" in FORMS[form](made)


def test_csv_has_one_line_a_cell(tmp_path: Path) -> None:
    lines = list(csv.DictReader(io.StringIO(FORMS["csv"](table(tmp_path, recipe())))))
    assert len(lines) == 2 * len(COLUMNS)
    assert lines[1] | {"value": "2", "published": "2", "equal": "1", "measure": "mentions"} == lines[1]
    assert lines[3] | {"equal": "0", "reason": UNEXPLAINED} == lines[3]


def test_html_tells_equal_differing_and_empty_cells_apart(tmp_path: Path) -> None:
    page = html.fromstring(FORMS["html"](table(tmp_path, recipe())))
    first, second = (" ".join(tr.text_content().split()) for tr in page.xpath("//tbody/tr"))
    assert "ours 2 , equal to the published = 2" in first
    assert "ours 2 , differs from the published ≠ 4 244* , difference (−4 242), reason b" in first
    assert "ours: none, reason c , published 99" in second
    reasons = page.xpath("//dl[@class='legend']/dd/text()")
    assert reasons[1:] == [UNEXPLAINED, "needs files that you apply for at https://example.org"]
    assert not page.xpath("//script | //link | //img | //@src")
    assert "Of 8 published values, 6 are found here, 1 differs and 1 has nothing" in page.text_content()


def hostile(tmp_path: Path) -> DatasetTable:
    facts = {**FACTS, "task": HOSTILE}
    columns = [{**column, "label": HOSTILE} for column in COLUMNS]
    made = recipe(
        row("drugs", label=HOSTILE, facts=facts, why={"t/test": HOSTILE}),
        row("notes", card=None, missing=HOSTILE),
        columns=columns,
        title=HOSTILE,
        notes=[HOSTILE],
    )
    note = HOSTILE.replace('"', '""')
    value = note.partition("\n")[0]
    return table(tmp_path, made, HEADER + f't/task,drugs,text,"{value}","{note}"\nt/test,drugs,count,7,\n')


def test_html_escapes(tmp_path: Path) -> None:
    page = html.fromstring(FORMS["html"](hostile(tmp_path)))
    assert not page.xpath("//script")
    assert page.xpath("//sup[@title=$text]", text=HOSTILE)


def test_markdown_escapes_and_keeps_its_columns(tmp_path: Path) -> None:
    text = FORMS["md"](hostile(tmp_path))
    assert "<script>" not in text and "[z](" not in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in lines} == {len(COLUMNS) + 2}
    assert len(lines) == 2 + 2


def test_latex_escapes(tmp_path: Path) -> None:
    text = FORMS["tex"](hostile(tmp_path))
    assert "\\input" not in text and "<script>" not in text
    assert text.count("\\begin{") == text.count("\\end{")


def test_latex_has_thin_spaces_in_large_counts(tmp_path: Path) -> None:
    assert "4\\,244" in FORMS["tex"](table(tmp_path, recipe()))


def test_csv_holds_no_formulas(tmp_path: Path) -> None:
    made = recipe(row("drugs"), row("notes", card=None, missing="=HYPERLINK(1)"))
    assert "'=HYPERLINK(1)" in FORMS["csv"](table(tmp_path, made))


def test_the_program_by_hand_and_its_errors(tmp_path: Path, root: Path) -> None:
    table(tmp_path, recipe())
    command = [
        sys.executable, str(root / "scripts/dataset_table.py"), "--recipe", recipe().model_dump_json(),
        "--published", str(tmp_path / "table03.published.csv"), "--results", str(tmp_path),
        "--output", str(tmp_path / "out/table03"),
    ]  # fmt: skip
    good = subprocess.run(command, capture_output=True, text=True)
    assert good.returncode == 0, good.stderr
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {f".{form}" for form in FORMS}
    (tmp_path / "datasets/drugs/card.json").unlink()
    bad = subprocess.run(command, capture_output=True, text=True)
    assert bad.returncode == 1 and bad.stderr.startswith("pubmill: error: ")
    assert "drugs/card.json" in bad.stderr


TABLES = ["gu2020/table02", "gu2020/table03", "lewis2020/table01", "lewis2020/table04", "shin2020/table08"]


@pytest.fixture(scope="module")
def targets(root: Path) -> Targets:
    """All tables of datasets at full scale, with no file of anybody's own."""
    config = {"study": "x", "title": "x", "scale": "full", "tables": TABLES}
    return Targets(*check_study(config, root / "specs"))


def test_every_table_of_datasets_fits_its_published_values(targets: Targets, root: Path) -> None:
    """Without cards: every name, kind and fact of the specs; only counts of what is converted are left."""
    for name in TABLES:
        values = targets.dataset_table_recipe(name)
        for one in values["rows"]:
            one |= {"card": None, "missing": one["missing"] or "not converted"}
        made = DatasetTableRecipe.model_validate_json(json.dumps(values))
        found = build(made, read_facts(root / f"specs/tables/{name}.published.csv"), {})
        unexplained = [f"{r.dataset} {c.key}" for r, c, cell in found.read() if cell.reason == UNEXPLAINED]
        assert unexplained == [], name
        assert all(cell.reason for _, _, cell in found.read() if cell.value is None), name


def test_only_tables_with_counts_need_cards_and_only_of_what_can_be_had(targets: Targets) -> None:
    assert targets.card_files("lewis2020/table01") == []
    cards = targets.cards("gu2020/table03")
    assert cards["bc2gm"] == "datasets/bc2gm/card.json" and "bioasq-yesno" not in cards
    rows = {one["dataset"]: one for one in targets.dataset_table_recipe("gu2020/table03")["rows"]}
    assert rows["bioasq-yesno"]["card"] is None
    assert "apply for at https://" in rows["bioasq-yesno"]["missing"]
    assert rows["chemprot@blurb"]["published"] == "chemprot"


def test_a_study_names_its_datasets_and_the_others_are_not_part_of_it(root: Path) -> None:
    config = {
        "study": "x",
        "title": "x",
        "scale": "demo",
        "tables": ["gu2020/table03"],
        "datasets": ["bc2gm"],
    }
    made = Targets(*check_study(config, root / "specs"))
    assert made.datasets() == ["bc2gm"] and made.models() == []
    values = made.dataset_table_recipe("gu2020/table03")
    rows = {one["dataset"]: one for one in values["rows"]}
    assert rows["jnlpba"]["missing"] == "not part of this study"
    assert rows["bc2gm"]["made_up"] and not values["comparable"]
    assert set(made.page_files("bc2gm")) < set(made.everything())
    assert "results/demo/tables/gu2020/table03.tex" in made.everything()
    assert made.report_recipe()["dataset_tables"] == ["gu2020/table03"]
    assert made.report_recipe()["datasets"] == ["bc2gm"]
