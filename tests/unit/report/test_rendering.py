"""The written forms of a table: numbers, reasons, escaping, determinism."""

import base64
import csv
import hashlib
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from pubmill.metrics import METRICS
from pubmill.recipes.tables import Reason
from pubmill.report.rendering import (
    SORTING,
    count,
    duration,
    escape_markdown,
    escape_tex,
    fact,
    groups,
    marks,
    metric,
    number,
    p_value,
    quantity,
    sentence,
    share,
    signed,
    surplus,
    to_json,
)
from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.report.table_views import reasons
from pubmill.tables.cells import Table, read_table
from tests.pages import parsed
from tests.unit import toy_tables as made_up

HOSTILE = '<script>alert(1)</script> | "x" & {y} \\input{/etc/passwd} $% [z](http://q) `w` =1+1\n\n# T'


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made_up.write_all(tmp_path)
    return made_up.table(tmp_path)


def hostile(tmp_path: Path) -> Table:
    columns = [made_up.column("bert", HOSTILE), made_up.column("ours", "=SUM(A1)")]
    made = made_up.recipe(title=HOSTILE, columns=columns, notes=[HOSTILE], missing={"gad": HOSTILE})
    return made_up.table(tmp_path, made)


def test_numbers() -> None:
    assert (number(93.333), signed(-0.126), signed(0.2), signed(-0.001)) == (
        "93.33",
        "−0.13",
        "+0.20",
        "0.00",
    )
    assert (count(1234567), quantity(1_234_000), quantity(950), quantity(999_900)) == (
        "1\u202f234\u202f567",
        "1.23\u00a0M",
        "950",
        "1\u00a0M",
    )
    assert (duration(42.4), duration(185), duration(7800), duration(360000)) == (
        "42 s",
        "3 min 5 s",
        "2 h 10 min",
        "4 d 4 h",
    )


def test_reasons_are_marked_in_reading_order(table: Table) -> None:
    assert list(reasons(table).values()) == ["a", "b"]
    assert next(iter(reasons(table))) == "relation extraction is not run"


def test_json_gives_the_same_table_back(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "table06.json"
    path.write_text(TABLE_RENDERERS["json"](table))
    assert read_table(path) == table


@pytest.mark.parametrize("form", TABLE_RENDERERS)
def test_every_form_says_the_scale_and_is_the_same_again(table: Table, form: str) -> None:
    text = TABLE_RENDERERS[form](table)
    assert "small" in text
    assert text == TABLE_RENDERERS[form](table)


@pytest.mark.parametrize("form", ["md", "tex", "html"])
def test_titles_warn_unless_the_scale_is_comparable(table: Table, form: str) -> None:
    assert "not comparable" in TABLE_RENDERERS[form](table)
    comparable = TABLE_RENDERERS[form](replace(table, comparable=True))
    assert comparable.count("not comparable") < TABLE_RENDERERS[form](table).count("not comparable")


def test_csv_has_one_line_a_cell(table: Table) -> None:
    lines = list(csv.DictReader(io.StringIO(TABLE_RENDERERS["csv"](table))))
    assert len(lines) == 2 * 3
    assert lines[0]["value"] == "81.0"
    assert lines[0]["seeds"] == "1: 80.0; 2: 82.0"
    assert lines[2] | {"published": "77.72", "missing": "relation extraction is not run"} == lines[2]


def test_html_shows_ours_published_and_difference(table: Table) -> None:
    page = parsed(TABLE_RENDERERS["html"](table))
    cell = page.xpath("//tbody[1]/tr[1]/td[1]")[0]
    text = " ".join(cell.text_content().split())
    assert text == "ours 81.00 ± 1.41 · 2/2 published 80.90 +0.10 not comparable"


def test_html_marks_empty_cells_and_explains_them(table: Table) -> None:
    page = parsed(TABLE_RENDERERS["html"](table))
    [mark] = page.xpath("//tbody[2]/tr[1]/td[1]//sup")
    [reason] = page.xpath("//dt[.=$mark]/following-sibling::dd[1]", mark=mark.text)
    assert reason.text_content() == "relation extraction is not run"


def test_reasons_are_numbered_at_their_cells_and_listed_once_below(tmp_path: Path) -> None:
    of_cell = Reason(text="the paper's Table 3 & its text", cells=("bert/gad", "ours/"))
    of_row = Reason(text="not comparable: another split", cells=("/gad",))
    made_up.write_all(tmp_path)
    made = made_up.table(tmp_path, made_up.recipe(reasons=[of_cell, of_row]))
    assert (made.marks("bert", "gad"), made.marks("ours", ""), made.marks("", "gad")) == ("1", "1", "2")
    assert made.marks("ours", "gad") == made.marks("bert", "") == ""
    page = parsed(TABLE_RENDERERS["html"](made))
    assert [one.text for one in page.xpath("//dt[number(.) > 0]")] == ["1", "2"]
    assert page.xpath("string(//th[@scope='row'][contains(., 'GAD')]/sup)").endswith("2")
    assert len(page.xpath("//table[contains(@class, 'scores')]//sup[@class='why']")) == 3
    markdown, latex = TABLE_RENDERERS["md"](made), TABLE_RENDERERS["tex"](made)
    assert markdown.count("<sup>1</sup>") == 3 and "\n- <sup>1</sup> The paper's Table 3" in markdown
    assert latex.count("\\textsuperscript{1} The paper's Table 3 \\& its text.") == 1
    assert TABLE_RENDERERS["json"](made).count("another split") == 1


def test_html_needs_nothing_from_elsewhere(table: Table) -> None:
    page = parsed(TABLE_RENDERERS["html"](table))
    assert not page.xpath("//link | //img | //@src")
    assert scripts(page) == [SORTING]


def scripts(page: html.HtmlElement) -> list[str]:
    """The scripts of a page, each of which its policy must name by its digest, and no other."""
    found = [one.text for one in page.xpath("//script")]
    [policy] = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    named = re.findall(r"'sha256-([^']+)'", policy)
    assert named == [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in found]
    assert "script-src 'sha256-" in policy and "default-src 'none'" in policy
    return found


def test_cells_link_to_their_runs(table: Table) -> None:
    page = parsed(TABLE_RENDERERS["html"](table))
    links = page.xpath("//td//a/@href")
    assert links and all(page.xpath("//details//article[@id=$id]", id=link[1:]) for link in links)
    [card] = page.xpath("//details//article[@id=$id]", id=links[0][1:])
    assert "80.00" in card.text_content() and "runs/blurb/bert/bc2gm/standard/final" in card.text_content()


def test_html_escapes_names_notes_and_reasons(tmp_path: Path) -> None:
    page = parsed(TABLE_RENDERERS["html"](hostile(tmp_path)))
    assert scripts(page) == [SORTING]
    assert "<script>alert(1)</script>" in page.xpath("string(//dl)")
    assert "<script>" in page.xpath("string(//thead)")


def test_markdown_escapes_and_keeps_its_columns(tmp_path: Path) -> None:
    text = TABLE_RENDERERS["md"](hostile(tmp_path))
    assert "<script>" not in text and "[z](" not in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in lines} == {4}
    assert len(lines) == 2 + 3


def test_latex_escapes(tmp_path: Path) -> None:
    text = TABLE_RENDERERS["tex"](hostile(tmp_path))
    assert "\\input" not in text
    assert "\\textbackslash{}input\\{/etc/passwd\\}" in text
    assert text.count("\\begin{") == text.count("\\end{")


def test_csv_holds_no_formulas(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    table = made_up.table(tmp_path, made_up.recipe(missing={"gad": "=HYPERLINK(1)"}))
    lines = list(csv.DictReader(io.StringIO(TABLE_RENDERERS["csv"](table))))
    assert lines[2]["missing"] == "'=HYPERLINK(1)"


@given(st.text())
def test_escaped_markdown_has_no_live_character(text: str) -> None:
    escaped = escape_markdown(text)
    assert not set("<>\n") & set(escaped)
    assert escaped.count("|") == escaped.count("\\|")


@pytest.mark.parametrize("form", ["md", "tex", "html"])
def test_files_end_with_one_line_break(table: Table, form: str) -> None:
    assert re.search(r"\S\n\Z", TABLE_RENDERERS[form](table))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59.4, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"),
        (86399, "23 h 59 min"), (86400, "1 d 0 h"), (90000, "1 d 1 h"),
    ],
)  # fmt: skip
def test_durations_change_units_where_one_is_full(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("unit", "next_unit"), [("", "k"), ("k", "M"), ("M", "G"), ("G", "T")])
def test_quantities_have_at_most_three_digits(unit: str, next_unit: str) -> None:
    size = 1000.0 ** " kMGT".index(next_unit)
    assert quantity(0.9994 * size) == f"999\N{NO-BREAK SPACE}{unit}".rstrip()
    assert quantity(0.9996 * size) == f"1\N{NO-BREAK SPACE}{next_unit}"


@pytest.mark.parametrize(
    ("value", "kind", "published", "text"),
    [
        (True, "boolean", None, "yes"), ("1", "boolean", None, "yes"), (False, "boolean", None, "no"),
        ("0", "boolean", None, "no"),
        (12345, "text", None, "12\u202f345"), ("12345", "count", None, "12\u202f345"),
        ("12345", "text", None, "12345"), ("64K", "count", None, "64K"),
        (61.4, "minutes", None, "01:01"), (3600.0, "minutes", None, "60:00"),
        (2e-5, "learning_rate", None, "2e-5"), (1.5e-4, "learning_rate", None, "1.5e-4"),
        (0.123456, "ratio", None, "0.123"), (0.5, "ratio", "0.50x", "0.50"), (0.125, "ratio", "0.5", "0.125"),
        (2.0, "ratio", "2", "2"), (1.4999, "ratio", "1.5000", "1.4999"),
    ],
)  # fmt: skip
def test_facts_are_written_by_their_kind(
    value: bool | int | float | str, kind: str, published: str | None, text: str
) -> None:
    assert fact(value, kind, published) == text


def test_a_count_beside_the_published_one_has_the_difference_unless_that_is_rounded() -> None:
    assert surplus(1250, "1000") == " (+250)" and surplus(1000, "2500") == " (\N{MINUS SIGN}1\u202f500)"
    assert surplus(64_100, "64K") == ""


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(1, 4, "25.0 %"), (0, 4, "0.0 %"), (1, 0, "0.0 %"), (1, 1000, "0.1 %"), (1, 2000, "0.05 %"),
     (1, 30_000, "0.0033 %")],
)  # fmt: skip
def test_small_shares_keep_a_digit(part: float, whole: float, text: str) -> None:
    assert share(part, whole) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.000999, "0.001"), (0.0123, "0.012"), (0.0999, "0.1"), (0.1, "0.10"), (0.456, "0.46")],
)
def test_p_values_have_two_digits(value: float, text: str) -> None:
    assert p_value(value) == text


def test_signs_of_differences() -> None:
    assert [signed(one) for one in (0.004, -0.004, 0.005001, -10.0)] == ["0.00", "0.00", "+0.01", "−10.00"]


def test_reasons_beyond_the_alphabet_have_two_letters() -> None:
    """As columns of a spreadsheet."""
    found = list(marks([None, "", *map(str, range(703)), "0"]).values())
    assert [found[place] for place in (0, 25, 26, 51, 52, 701, 702)] == [
        "a",
        "z",
        "aa",
        "az",
        "ba",
        "zz",
        "aaa",
    ]
    assert len(found) == 703


def test_sentences_and_metrics() -> None:
    assert [sentence(text) for text in ("a b", "A b.", "é", "")] == ["A b.", "A b.", "É.", "."]
    assert [metric(name) for name in ("entity_f1", "score", "my_own", None)] == [
        METRICS["entity_f1"].label, "mean of task means", "my own", "",
    ]  # fmt: skip


def test_neighbours_of_a_task_are_a_group() -> None:
    rows = [made_up.recipe().rows[0], *made_up.recipe().rows[::-1]]
    assert [[row.key for row in group] for group in groups(rows)] == [["bc2gm"], ["gad"], ["bc2gm"]]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("TNF-β, κB", r"TNF-\ensuremath{\beta}, \ensuremath{\kappa}B"),
        ("10⁻⁵ ≥ 2", r"10\ensuremath{^-}\ensuremath{^5} \ensuremath{\geq} 2"),
        ("Č Đ é ő µ", r"Č Đ é ő \textmu{}"),
        ("−1 ± 2", r"\ensuremath{-}1 \ensuremath{\pm} 2"),
        ('[a] "b" `c\'', r"{[}a{]} \textquotedbl{}b\textquotedbl{} \textasciigrave{}c'"),
        ("a_b^c~d\\{f}$&#%", r"a\_b\textasciicircum{}c\textasciitilde{}d\textbackslash{}\{f\}\$\&\#\%"),
        ("1\u202f234\u00a05\n6", r"1\,234~5 6"),
        ("日 Ħ \x00", "{[}U+65E5{]} {[}U+0126{]} {[}U+0000{]}"),
    ],
)
def test_characters_keep_their_meaning(text: str, escaped: str) -> None:
    assert escape_tex(text) == escaped


@given(st.text())
def test_no_character_is_live(text: str) -> None:
    escaped = re.sub(r"\\ensuremath\{[^{}%#&$\n]*\}", "", escape_tex(text))
    assert "\n" not in escaped
    for command in (
        r"\textbackslash{}",
        r"\textasciitilde{}",
        r"\textasciicircum{}",
        *map("\\{}".format, "{}%_#&$"),
    ):
        escaped = escaped.replace(command, "")
    assert not set("%_^#&$") & set(escaped)
    assert escaped.count("{") == escaped.count("}")


@pytest.mark.parametrize(
    ("value", "kind", "printed", "shown"),
    [
        (0.0005, "learning_rate", "2e-4", "5e-4"),
        (2.5e-05, "learning_rate", None, "2.5e-5"),
        (181.4, "minutes", "03:01", "03:01"),
        (0.5, "ratio", "0.50x", "0.50"),
        (2.2467, "ratio", "1.654", "2.247"),
        (0.08536, "ratio", "0.08", "0.0854"),
        (11_223_182, "words", "3.1B", "11\u202f223\u202f182"),
    ],
)
def test_facts_are_shown_as_their_kind_is(value: Any, kind: str, printed: str | None, shown: str) -> None:
    assert fact(value, kind, printed) == shown


def test_json_has_sorted_keys_and_characters_as_they_are() -> None:
    assert to_json({"b": "é", "a": 1}) == '{\n "a": 1,\n "b": "é"\n}\n'
