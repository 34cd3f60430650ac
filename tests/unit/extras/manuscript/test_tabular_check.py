"""Marked tabulars: the exported one, others of one's own, and faults in them."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.extras.manuscript.latex_source import source_of
from pubmill.extras.manuscript.tabular_check import bold_macros, cells, check_tabulars, row_before
from pubmill.report.table_rendering import latex_table
from tests.unit.extras.manuscript.toy_study import NAME, UNCASED, findings, kinds, study

COLUMNS = "pubmedbert-base bert-base-uncased bert-base-cased"
HEAD = (
    f"% pubmill: table {NAME}\n\\begin{{tabular}}{{lrrr}}\n & A & B & C \\\\ % pubmill: columns {COLUMNS}\n"
)


def test_the_exported_tabular_has_no_findings(tmp_path: Path) -> None:
    table = study(tmp_path).tables[NAME]
    text = latex_table(table)
    assert "BC2GM, entity F1 & \\textbf{84.52} & 81.00 & 79.50 \\\\ % pubmill: row bc2gm\n" in text
    assert "ChemProt, entity F1 & \\textbf{90.00} & 50.00 & ---\\textsuperscript{a} \\\\" in text
    assert findings(tmp_path, text) == []
    assert findings(tmp_path, latex_table(table, spread=True, published=True)) == []


@pytest.mark.parametrize(
    ("right", "wrong", "part"),
    [
        ("81.00 $", "81.10 $", "value"),
        ("81.00 $\\pm$ 1.41", "81.00 $\\pm$ 1.51", "spread"),
        ("83.10", "83.20", "published value"),
    ],
)
def test_each_number_of_the_exported_table_is_checked(
    tmp_path: Path, right: str, wrong: str, part: str
) -> None:
    text = latex_table(study(tmp_path).tables[NAME], spread=True, published=True)
    assert text.count(right) == 1
    [found] = findings(tmp_path, text.replace(right, wrong))
    assert found.found.split()[0] in wrong and part in found.expected


SOUND = [
    "BC2GM & 84.52 & 81.00 & 79.50 \\\\ % pubmill: row bc2gm",
    "BC2GM & \\bf 84.5 & 81.0 & 79.5 \\\\[2pt] % pubmill: row bc2gm",
    "BC2GM & {\\bfseries 84.52}$^\\dagger$ & $81.00_{\\pm 1.41}$ & 79.5 $\\pm$ 0.7 % pubmill: row bc2gm",
    "BC2GM & \\best{84.52} & 81.00\\textsuperscript{12} & \\cellcolor{gray!2} 79.5 \\\\ % pubmill: row bc2gm",
    "BC2GM & .845 & 0.810 & 0.795 \\\\ % pubmill: row bc2gm",
    "BC2GM & \\textbf{\\cell{gu2020/table06}{bc2gm}{pubmedbert-base}} & 81 & 79.5 \\\\ % pubmill: row bc2gm",
    "BC2GM & {\\fontseries{b}\\selectfont 84.52} & 81.00(141) & 79.50(0.71) \\\\ % pubmill: row bc2gm",
    "\\midrule\nChemProt & \\textbf{90} & 50 & n/a \\\\ % pubmill: row chemprot@blurb",
]


@pytest.mark.parametrize("row", SOUND)
def test_a_right_row_is_no_finding(tmp_path: Path, row: str) -> None:
    assert (
        findings(tmp_path, "\\newcommand{\\best}[1]{\\textbf{#1}}\n" + HEAD + row + "\n\\end{tabular}") == []
    )


@pytest.mark.parametrize(
    ("row", "kind", "found", "expected"),
    [
        ("BC2GM & 84.10 & 81.00 & 79.50 \\\\ % pubmill: row bc2gm", "stale", "84.10", "(exactly 84.5175"),
        ("BC2GM & 84.51 & 81.00 & 79.50 \\\\ % pubmill: row bc2gm", "rounding", "84.51", "is 84.52"),
        ("BC2GM & 84.6 & 81.00 & 79.50 \\\\ % pubmill: row bc2gm", "rounding", "84.6", "is 84.5"),
        ("BC2GM & 0.854 & 0.810 & 79.50 \\\\ % pubmill: row bc2gm", "stale", "0.854", "is 0.845"),
        ("BC2GM & 84.52 & 81.00 $\\pm$ 2.41 & 79.50 \\\\ % pubmill: row bc2gm", "stale", "2.41", "spread"),
        ("BC2GM & 84.52 & 81.00(241) & 79.50 \\\\ % pubmill: row bc2gm", "stale", "2.41", "spread"),
        ("BC2GM & 84.52 & \\textbf{81.00} & 79.50 \\\\ % pubmill: row bc2gm", "bold", "81.00 is in bold",
         "the best here is PubMedBERT uncased (84.52)"),
        ("BC2GM & 84.52 & --- & 79.50 \\\\ % pubmill: row bc2gm", "stale", "no number", "is 81.00"),
        ("BC2GM & 84.52 & \\multicolumn{2}{c}{81.00} \\\\ % pubmill: row bc2gm", "stale", "no number",
         "is 79.50"),
        ("Chem & 90.00 & 50.00 & 40.00 \\\\ % pubmill: row chemprot@blurb", "empty", "40.00",
         "(the study leaves it out)"),
        ("BC2GM & 84.52 & 81.00 \\\\ % pubmill: row bc2gm", "unknown", "has 2 cells", "names no such thing"),
        ("BC2GM & 84.52 & 81.00 & 79.50 \\\\ % pubmill: row bc2", "unknown", "no row 'bc2'", "names no such"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_found(tmp_path: Path, row: str, kind: str, found: str, expected: str) -> None:
    one = next(one for one in findings(tmp_path, HEAD + row + "\n\\end{tabular}") if found in one.found)
    assert (one.kind, one.line) == (kind, 4) and expected in one.expected
    if kind in ("stale", "rounding") and found[0].isdigit() and found in row:
        assert row[one.position - 1 :].startswith(found)


def test_a_best_value_without_bold_is_found_where_other_rows_have_it(tmp_path: Path) -> None:
    rows = "BC2GM & \\textbf{84.52} & 81.00 & 79.50 \\\\ % pubmill: row bc2gm\n"
    rows += "JNLPBA & 79.00 & 78.70 & 72.00 \\\\ % pubmill: row jnlpba\n"
    [found] = findings(tmp_path, HEAD + rows)
    assert (found.kind, found.line, found.found) == ("bold", 5, "79.00 is not in bold")


def test_models_may_be_rows_and_cells_may_be_other_parts(tmp_path: Path) -> None:
    text = f"% pubmill: table {NAME}\n & BC2GM & & \\\\ % pubmill: rows bc2gm bc2gm:published -\n"
    sound = text + "BERT & 81.00 & 83.10 & (1.5) \\\\ % pubmill: column bert-base-uncased\n"
    assert kinds(tmp_path, sound) == []
    assert kinds(tmp_path, sound.replace("83.10", "83.20")) == ["stale"]
    assert kinds(tmp_path, text.replace("published", "page") + sound.splitlines()[-1]) == ["unknown"]


def test_an_unknown_table_and_a_row_without_a_table_are_found(tmp_path: Path) -> None:
    assert kinds(tmp_path, "% pubmill: table gu2020/table6\n") == ["unknown"]
    row = "A & 1 \\\\ % pubmill: row bc2gm\n"
    for text in (row, f"% pubmill: table {NAME}\n{row}", f"% pubmill: columns bert-base-cased\n{row}"):
        [found] = findings(tmp_path, text)
        assert found.kind == "unknown" and "row bc2gm follows no mark of a table and its" in found.found


def test_ties_at_the_printed_precision_are_all_best(tmp_path: Path) -> None:
    table = study(tmp_path).tables[NAME]
    row = next(one for one in table.rows if one.key == "jnlpba")
    assert table.best_columns(row, COLUMNS.split()) == {"pubmedbert-base"}
    assert table.best_columns(row, COLUMNS.split(), 0) == {"pubmedbert-base", "bert-base-uncased"}
    assert table.best_columns(row, ["bert-base-cased"]) == set()


def test_macros_print_two_decimals_so_their_ties_are_both_best(tmp_path: Path) -> None:
    table = study(tmp_path).tables[NAME]
    of_column = table.cells[UNCASED]
    tied = {**of_column, "bc2gm": of_column["bc2gm"].model_copy(update={"value": 84.5151})}
    tables = {NAME: replace(table, cells={**table.cells, UNCASED: tied})}
    row = " & ".join(rf"\cell{{{NAME}}}{{bc2gm}}{{{column}}}" for column in COLUMNS.split())
    for place, kinds_found in ((2, []), (3, ["bold", "bold", "bold"])):
        parts = row.split(" & ")
        parts[place - 1] = rf"\textbf{{{parts[place - 1]}}}"
        source = source_of("x", rf"{HEAD}A & {' & '.join(parts)} \\ % pubmill: row bc2gm")
        assert [one.kind for one in check_tabulars(source, tables)] == kinds_found


def test_cells_over_several_columns_count_as_many() -> None:
    row = r"A & \multicolumn{2}{c}{84.5} & {x & y} & 3\,\% \& more"
    found = cells(row, 0, len(row), bold_macros(""))
    assert [one.number.text if one.number else None for one in found] == [None, "84.5", None, None, "3"]


@pytest.mark.parametrize(
    ("text", "is_bold"),
    [
        (r"\textbf{84.5}", True), (r"$\mathbf {84.5}$", True), (r"\ours{84.5}", True), (r"{\bf 84.5}", True),
        (r"\bf{84.5}", True), (r"\bf{a} 84.5", True), (r"{\bfseries{} 84.5}", True),
        (r"\fontseries{bx}\selectfont 84.5", True), (r"{\bf{a}} 84.5", False),
        (r"\textbf{a} 84.5", False), (r"{\bf a} 84.5", False), (r"{{\bf a} 84.5}", False),
        (r"84.5 \textbf{a}", False), (r"\textit{84.5}", False), (r"\fontseries{m}\selectfont 84.5", False),
    ],
)  # fmt: skip
def test_a_number_is_bold_in_the_argument_or_the_group_of_a_bold_macro(text: str, is_bold: bool) -> None:
    [found] = cells(text, 0, len(text), bold_macros(r"\newcommand{\ours}[1]{\textbf{#1}}"))
    assert found.number and found.number.text == "84.5" and found.bold is is_bold


def test_a_spread_that_the_cell_does_not_have_is_found(tmp_path: Path) -> None:
    """One run has no spread."""
    row = "ChemProt & \\textbf{90.00} $\\pm$ 0.10 & 50.00 & --- \\\\ % pubmill: row chemprot@blurb\n"
    [found] = findings(tmp_path, HEAD + row + "\\end{tabular}")
    assert (found.kind, found.found) == ("empty", "0.10 stands here")
    assert found.expected == f"{{{NAME}}}{{chemprot@blurb}}{{pubmedbert-base}} has no spread"


def test_in_a_row_without_any_value_nothing_is_the_best(tmp_path: Path) -> None:
    head = HEAD.replace(COLUMNS, "bert-base-cased")
    row = "ChemProt & \\textbf{50.00} \\\\ % pubmill: row chemprot@blurb\n"
    [found] = findings(tmp_path, head + row + "\\end{tabular}")
    assert (found.kind, found.found) == ("empty", "50.00 stands here")


BOLD = bold_macros("")


@pytest.mark.parametrize(
    ("code", "row"),
    [
        ("A & 1 \\\\\nB & 2 \\\\ ", "B & 2 "),
        ("A & 1 \\\\[2pt] B & 2 \\\\*[1ex]", " B & 2 "),
        ("\\begin{tabular}{lr}\n\\toprule A & 1 \\\\", " A & 1 "),
        ("A \\\\ \\cmidrule(lr){2-3} B & 2\\tabularnewline", " B & 2"),
        ("A & 1 \\\\ \\hline\nB\n& 2", "\nB\n& 2"),
        ("A & 1 \\\\ \\hlines B & 2 \\\\", " \\hlines B & 2 "),
    ],
)
def test_a_row_begins_after_the_one_before_and_after_rules(code: str, row: str) -> None:
    start, end = row_before(code, len(code))
    assert code[start:end].lstrip(" ") == row.lstrip(" ")


@pytest.mark.parametrize(
    ("text", "number", "spread"),
    [
        ("84.5", "84.5", None), ("$-$3.5", "-3.5", None), ("--3.5", "-3.5", None), ("---", None, None),
        ("\\textminus{} 3.5", "-3.5", None), ("84.5$^{12}$", "84.5", None), ("$^1$84.5", "84.5", None),
        ("84.5$^\\dagger$", "84.5", None), ("\\cite{a1.5} 84.5", "84.5", None),
        ("\\color{red!5}84.5", "84.5", None),
        ("84.5 $\\pm$ 0.3", "84.5", "0.3"), ("$84.5_{\\pm 0.3}$", "84.5", "0.3"), ("84.5±0.3", "84.5", "0.3"),
        ("84.52(31)", "84.52", "0.31"), ("84.5(12)", "84.5", "1.2"), ("84.52(0.31)", "84.52", "0.31"),
        ("84 (31)", "84", None), ("84(31)", "84", None), ("\\multicolumn{1}{c}{84.5}", "84.5", None),
        ("\\cell{1}{2}{3}", None, None), ("\\textcolor{red!50}{84.5}", "84.5", None),
    ],
)  # fmt: skip
def test_the_number_and_spread_of_a_cell(text: str, number: str | None, spread: str | None) -> None:
    [found] = cells(text, 0, len(text), BOLD)
    assert (found.number and found.number.text, found.spread and found.spread.text) == (number, spread)
    assert found.macro is text.startswith("\\cell{") and found.blank is (text == "---")


def test_places_are_those_of_the_code() -> None:
    code = "A & 84.5(3) & \\multicolumn{2}{c}{$-$0.5} & \\textbf{1.5} \\\\"
    first, second, wide, filling, last = cells(code, 0, code.index("\\\\"), BOLD)
    assert first.start == 0 and second.start == 3
    assert second.number and second.number.start == code.index("84.5")
    assert second.spread and second.spread.start == code.index("3)")
    assert wide.number and wide.number.start == code.index("0.5") - 1
    assert filling == (wide.start + len(" \\multicolumn{2}{c}{$-$0.5} "), None, None, False, False, True)
    assert last.bold and not wide.bold


@pytest.mark.parametrize(
    ("text", "bold"),
    [("{\\bfseries\\ 84.5}", True), ("{\\bfseries a\\}b 84.5}", True), ("{\\bfseries a\\{b} 84.5", False),
     ("{\\bfseries {a} 84.5}", True), ("{\\bfseries {a}} 84.5", False)],
)  # fmt: skip
def test_an_escaped_brace_ends_no_group_of_bold_type(text: str, bold: bool) -> None:
    [found] = cells(text, 0, len(text), BOLD)
    assert found.number and found.bold is bold
