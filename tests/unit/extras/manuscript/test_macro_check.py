"""Macros of a manuscript: unknown keys, empty cells, old files of macros, numbers with macros in comments."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.cell_macros import macros_text
from tests.unit.extras.manuscript.toy_study import NAME, findings, kinds, study

KEY = f"{{{NAME}}}{{bc2gm}}{{pubmedbert-base}}"


def with_macros(folder: Path, text: str) -> None:
    (folder / "paper").mkdir(exist_ok=True)
    (folder / "paper/cells.tex").write_text(text)


def test_sound_macros_are_no_finding(tmp_path: Path) -> None:
    with_macros(tmp_path, macros_text("toy", "small", study(tmp_path).tables))
    text = rf"\input{{cells}}\cell{KEY} \cellspread {KEY} \celldiff{KEY} \celllink{KEY} \cellnone"
    assert findings(tmp_path, text + r"\newcommand\ours[1]{\cell{gu2020/table06}{#1}{pubmedbert-base}}") == []


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (r"\cell{gu2020/table06}{bc2gm}{pubmedbert}", "unknown", "the nearest: pubmedbert-base"),
        (r"\cellspread{gu2020/table6}{bc2gm}{x}", "unknown", "there is no table 'gu2020/table6'"),
        (r"\cell{gu2020/table06}{chemprot@blurb}{bert-base-cased}", "empty", "(the study leaves it out)"),
        (r"\cellpublished{gu2020/table06}{jnlpba}{bert-base-cased}", "empty", "no published value"),
    ],
)
def test_a_macro_without_a_value_is_found(tmp_path: Path, text: str, kind: str, expected: str) -> None:
    [found] = findings(tmp_path, f"Text.\nMore {text}.")
    assert (found.kind, found.line, found.position) == (kind, 2, 6)
    assert found.found == text and expected in found.expected


def test_old_macros_are_found_where_the_manuscript_uses_them(tmp_path: Path) -> None:
    text = macros_text("toy", "small", study(tmp_path).tables)
    with_macros(
        tmp_path, text.replace("{84.52}{0.04}", "{84.10}{0.04}").replace("{79.00}{0.00}", "{78.00}{0.00}")
    )
    [found] = findings(tmp_path, rf"\input{{cells}} \cell{KEY}")
    assert found.kind == "macros" and found.file.endswith("cells.tex")
    assert r"\cell 84.10" in found.found and r"\cell 84.52" in found.expected
    assert text.splitlines()[found.line - 1].startswith(rf"\pubmillcell{KEY}")


def test_macros_of_another_study_are_refused(tmp_path: Path) -> None:
    with_macros(tmp_path, macros_text("gu2020", "full", {}))
    with pytest.raises(PubmillError, match=r"cells.tex: it has the numbers of study gu2020"):
        findings(tmp_path, r"\input{cells}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (rf"It has 84.52 here. % \cell{KEY}", []),
        (rf"All 3 have 84.5 and 0.04. % \cell{KEY} \cellspread{KEY}", []),
        (rf"% It had 84.10. % \cell{KEY}", []),
        (f"It has 84.10.\n% \\cell{KEY}", []),
        (rf"It has 84.10 here. % \cell{KEY}", ["stale"]),
        (rf"It has 84.51 here. % \cell{KEY}", ["rounding"]),
        (rf"All 3 have 84.5 and 0.05. % \cell{KEY} \cellspread{KEY}", ["rounding"]),
        (rf"It has 84.52 here. % \cell{KEY} \cell{KEY}", ["mark"]),
        (rf"It has 84.52 here. % \cell{KEY.replace('bc2gm', 'bc2')}", ["unknown"]),
        (r"It is 84.5. % \cellpublished{gu2020/table06}{jnlpba}{bert-base-cased}", ["empty"]),
    ],
)
def test_a_comment_names_the_cells_of_the_numbers_before_it(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    assert kinds(tmp_path, text) == expected


def test_a_macro_with_fewer_arguments_is_left_to_latex(tmp_path: Path) -> None:
    assert findings(tmp_path, r"\cell{gu2020/table06}{no-such} \cell") == []


def test_a_number_that_a_comment_names_is_checked_by_the_comment_alone(tmp_path: Path) -> None:
    text = f"PubMedBERT reaches 84.10 on BC2GM. % \\cell{KEY}\nIt reaches 79.00 on JNLPBA."
    [found] = findings(tmp_path, text)
    assert (found.kind, found.line, found.found) == ("stale", 1, "84.10 stands here")
