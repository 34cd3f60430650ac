"""The written forms of a table: numbers, reasons, escaping, determinism."""

import base64
import csv
import hashlib
import io
import re
from dataclasses import replace
from pathlib import Path

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
from pubmill.report.table_views import TableView
from pubmill.tables.cells import Table, read_table
from tests.pages import parsed
from tests.unit import toy_tables as made_up

HOSTILE = '<script>alert(1)</script> | "x" & {y} \\input{/etc/passwd} $% [z](http://q) `w` =1+1\n\n# T'


def test_every_form_escapes_names_notes_and_reasons(tmp_path: Path) -> None:
    columns = [made_up.column("bert", HOSTILE), made_up.column("ours", "=SUM(A1)")]
    made = made_up.recipe(title=HOSTILE, columns=columns, notes=[HOSTILE], missing={"gad": HOSTILE})
    text = {form: render(made_up.table(tmp_path, made)) for form, render in TABLE_RENDERERS.items()}
    page = parsed(text["html"])
    assert scripts(page) == [SORTING]
    assert "<script>alert(1)</script>" in page.xpath("string(//dl)")
    assert "<script>" in page.xpath("string(//thead)")
    assert "<script>" not in text["md"] and "[z](" not in text["md"]
    lines = [line for line in text["md"].splitlines() if line.startswith("|")]
    assert [line.replace("\\|", "").count("|") for line in lines] == [4] * (2 + 3)
    assert "\\input" not in text["tex"] and "\\textbackslash{}input\\{/etc/passwd\\}" in text["tex"]
    assert text["tex"].count("\\begin{") == text["tex"].count("\\end{")


UNITS = tuple(enumerate(("", "k", "M", "G"), 1))
NEXT_UNITS = tuple(enumerate(("k", "M", "G", "T"), 1))


@pytest.mark.parametrize(("made", "text"), [
    (number(93.333), "93.33"), (signed(-0.126), "−0.13"), (signed(0.2), "+0.20"), (signed(-0.001), "0.00"),
    (signed(0.004), "0.00"), (signed(0.005001), "+0.01"), (signed(-10.0), "−10.00"),
    (count(1234567), "1\u202f234\u202f567"), (quantity(1_234_000), "1.23\u00a0M"), (quantity(950), "950"),
    *((quantity(0.9994 * 1000.0**power), f"999\u00a0{unit}".rstrip()) for power, unit in UNITS),
    *((quantity(0.9996 * 1000.0**power), f"1\u00a0{unit}") for power, unit in NEXT_UNITS),
    (duration(42.4), "42 s"), (duration(185), "3 min 5 s"), (duration(7800), "2 h 10 min"),
    (duration(360000), "4 d 4 h"), (duration(59.4), "59 s"), (duration(60), "1 min 0 s"),
    (duration(3599), "59 min 59 s"), (duration(3600), "1 h 0 min"), (duration(86399), "23 h 59 min"),
    (duration(86400), "1 d 0 h"), (duration(90000), "1 d 1 h"), (fact(True, "boolean"), "yes"),
    (fact("1", "boolean"), "yes"), (fact(False, "boolean"), "no"), (fact("0", "boolean"), "no"),
    (fact(12345, "text"), "12\u202f345"), (fact("12345", "count"), "12\u202f345"),
    (fact("12345", "text"), "12345"), (fact("64K", "count"), "64K"),
    (fact(11_223_182, "words", "3.1B"), "11\u202f223\u202f182"), (fact(61.4, "minutes"), "01:01"),
    (fact(3600.0, "minutes"), "60:00"), (fact(181.4, "minutes", "03:01"), "03:01"),
    (fact(2e-5, "learning_rate"), "2e-5"), (fact(1.5e-4, "learning_rate"), "1.5e-4"),
    (fact(0.0005, "learning_rate", "2e-4"), "5e-4"), (fact(2.5e-05, "learning_rate"), "2.5e-5"),
    (fact(0.123456, "ratio"), "0.123"), (fact(0.5, "ratio", "0.50x"), "0.50"),
    (fact(0.125, "ratio", "0.5"), "0.125"), (fact(2.0, "ratio", "2"), "2"),
    (fact(1.4999, "ratio", "1.5000"), "1.4999"), (fact(2.2467, "ratio", "1.654"), "2.247"),
    (fact(0.08536, "ratio", "0.08"), "0.0854"), (surplus(1250, "1000"), " (+250)"),
    (surplus(1000, "2500"), " (−1\u202f500)"), (surplus(64_100, "64K"), ""), (share(1, 4), "25.0 %"),
    (share(0, 4), "0.0 %"), (share(1, 0), "0.0 %"), (share(1, 1000), "0.1 %"), (share(1, 2000), "0.05 %"),
    (share(1, 30_000), "0.0033 %"), (p_value(0.000999), "0.001"), (p_value(0.0123), "0.012"),
    (p_value(0.0999), "0.1"), (p_value(0.1), "0.10"), (p_value(0.456), "0.46"), (sentence("a b"), "A b."),
    (sentence("A b."), "A b."), (sentence("é"), "É."), (sentence(""), "."),
    (metric("entity_f1"), METRICS["entity_f1"].label), (metric("score"), "mean of task means"),
    (metric("my_own"), "my own"), (metric(None), ""),
])  # fmt: skip
def test_numbers_and_words_are_written_so(made: str, text: str) -> None:
    """A unit changes where it is full, a small share keeps a digit, a difference is not of rounded counts."""
    assert made == text


def test_json_gives_the_same_table_back(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "table06.json"
    path.write_text(TABLE_RENDERERS["json"](table))
    assert read_table(path) == table
    assert to_json({"b": "é", "a": 1}) == '{\n "a": 1,\n "b": "é"\n}\n'


def test_csv_has_one_line_a_cell_and_no_formulas(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    table = made_up.table(tmp_path, made_up.recipe(missing={"gad": "=HYPERLINK(1)"}))
    lines = list(csv.DictReader(io.StringIO(TABLE_RENDERERS["csv"](table))))
    assert len(lines) == 2 * 3
    assert (lines[0]["value"], lines[0]["seeds"]) == ("81.0", "1: 80.0; 2: 82.0")
    assert (lines[2]["published"], lines[2]["missing"]) == ("77.72", "'=HYPERLINK(1)")


def test_html_marks_empty_cells_in_reading_order_and_explains_them(table: Table) -> None:
    marks = TableView("p/t", "t1", table).marks
    assert list(marks.values()) == ["a", "b"]
    page = parsed(TABLE_RENDERERS["html"](table))
    assert not page.xpath("//link | //img | //@src") and scripts(page) == [SORTING]
    text = " ".join(page.xpath("//tbody[1]/tr[1]/td[1]")[0].text_content().split())
    assert text == "ours 81.00 ± 1.41 · 2/2 published 80.90 +0.10 not comparable"
    [mark] = page.xpath("//tbody[2]/tr[1]/td[1]//sup")
    [reason] = page.xpath("//dt[.=$mark]/following-sibling::dd[1]", mark=mark.text)
    assert reason.text_content() == next(iter(marks)) == "relation extraction is not run"
    links = page.xpath("//td//a/@href")
    assert links and all(page.xpath("//details//article[@id=$id]", id=link[1:]) for link in links)
    [card] = page.xpath("//details//article[@id=$id]", id=links[0][1:])
    assert "80.00" in card.text_content() and "runs/blurb/bert/bc2gm/standard/final" in card.text_content()


@pytest.mark.parametrize("form", TABLE_RENDERERS)
def test_every_form_says_the_scale_and_is_the_same_again(table: Table, form: str) -> None:
    text = TABLE_RENDERERS[form](table)
    assert "small" in text and text == TABLE_RENDERERS[form](table)
    assert re.search(r"\S\n\Z", text)
    if form in ("md", "tex", "html"):  # titles warn unless the scale is comparable
        comparable = TABLE_RENDERERS[form](replace(table, comparable=True))
        assert comparable.count("not comparable") < text.count("not comparable")


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


def scripts(page: html.HtmlElement) -> list[str]:
    """The scripts of a page, each of which its policy must name by its digest, and no other."""
    found = [one.text for one in page.xpath("//script")]
    [policy] = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    named = re.findall(r"'sha256-([^']+)'", policy)
    assert named == [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in found]
    assert "script-src 'sha256-" in policy and "default-src 'none'" in policy
    return found


@given(st.text())
def test_escaped_markdown_has_no_live_character(text: str) -> None:
    escaped = escape_markdown(text)
    assert not set("<>\n") & set(escaped)
    assert escaped.count("|") == escaped.count("\\|")


def test_reasons_beyond_the_alphabet_have_two_letters() -> None:
    """As columns of a spreadsheet."""
    found = list(marks([None, "", *map(str, range(703)), "0"]).values())
    assert [found[place] for place in (0, 25, 26, 51, 52, 701, 702)] == [
        "a", "z", "aa", "az", "ba", "zz", "aaa",
    ]  # fmt: skip
    assert len(found) == 703


@pytest.mark.parametrize(("text", "escaped"), [
    ("TNF-β, κB", r"TNF-\ensuremath{\beta}, \ensuremath{\kappa}B"),
    ("10⁻⁵ ≥ 2", r"10\ensuremath{^-}\ensuremath{^5} \ensuremath{\geq} 2"),
    ("Č Đ é ő µ", r"Č Đ é ő \textmu{}"), ("−1 ± 2", r"\ensuremath{-}1 \ensuremath{\pm} 2"),
    ('[a] "b" `c\'', r"{[}a{]} \textquotedbl{}b\textquotedbl{} \textasciigrave{}c'"),
    ("a_b^c~d\\{f}$&#%", r"a\_b\textasciicircum{}c\textasciitilde{}d\textbackslash{}\{f\}\$\&\#\%"),
    ("1\u202f234\u00a05\n6", r"1\,234~5 6"), ("日 Ħ \x00", "{[}U+65E5{]} {[}U+0126{]} {[}U+0000{]}"),
])  # fmt: skip
def test_characters_keep_their_meaning(text: str, escaped: str) -> None:
    assert escape_tex(text) == escaped


@given(st.text())
def test_no_character_is_live(text: str) -> None:
    escaped = re.sub(r"\\ensuremath\{[^{}%#&$\n]*\}", "", escape_tex(text))
    assert "\n" not in escaped
    named = (r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}")
    for command in (*named, *map("\\{}".format, "{}%_#&$")):
        escaped = escaped.replace(command, "")
    assert not set("%_^#&$") & set(escaped)
    assert escaped.count("{") == escaped.count("}")
