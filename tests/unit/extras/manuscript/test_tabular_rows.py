"""Rows of tabulars: where one begins, and the number, spread and blanks of its cells."""

import pytest

from pubmill.extras.manuscript.tabular_rows import bold_macros, cells, row_before

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
