"""The file of macros: what each expands to, by a model of TeX and by TeX itself where it is installed; and
their use: unknown keys, empty cells, old files of macros, numbers with macros in comments."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.cell_macros import (
    MACROS_FILE,
    NONE,
    PARTS,
    check_study,
    macros_text,
    read_macros,
)
from pubmill.extras.manuscript.study_tables import CellKey, Tables, all_cells
from tests.expansion import Tex
from tests.unit import toy_tables
from tests.unit.extras.manuscript.toy_study import NAME, findings, kinds, study

KEY = "{gu2020/table06}{bc2gm}{bert}"
EMPTY = "{gu2020/table06}{gad}{ours}"
OURS = f"{{{NAME}}}{{bc2gm}}{{pubmedbert-base}}"


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    toy_tables.write_all(tmp_path)
    return {"gu2020/table06": toy_tables.table(tmp_path)}


@pytest.fixture
def tex(tables: Tables) -> Tex:
    made = Tex()
    assert made.run(macros_text("toy", "small", tables)).strip() == "" and not made.errors
    return made


@pytest.mark.parametrize(
    ("macro", "text"),
    [
        ("cell", "81.00"),
        ("cellspread", "1.41"),
        ("cellpublished", "80.90"),
        ("celldiff", "+0.10"),
        ("cellverdict", "not comparable"),
        ("cellexact", "81.000000"),
        ("celllink", "81.00"),
    ],
)
def test_a_macro_gives_a_part_of_its_cell(tex: Tex, macro: str, text: str) -> None:
    assert tex.run(rf"\{macro}{KEY}, \{macro} {KEY}") == f"{text}, {text} "
    assert tex.errors == []


def test_values_are_expandable_for_captions_and_other_packages(tex: Tex) -> None:
    assert tex.expanded(rf"\cell{KEY}\cellexact{KEY}") == "81.0081.000000 "
    assert tex.errors == []


def test_an_unknown_key_is_an_error_that_names_it_and_the_file(tex: Tex) -> None:
    assert tex.run(r"\cell{gu2020/table06}{bc2gm}{roberta}") == "?? "
    assert tex.errors == ["pubmill: no cell {gu2020/table06}{bc2gm}{roberta}; cells.tex lists the keys"]


def test_a_part_that_a_cell_does_not_have_is_a_dash_that_may_be_replaced(tex: Tex) -> None:
    assert tex.run(rf"\cell{EMPTY}\celldiff{EMPTY}") == "------ "
    assert tex.run(rf"\def\cellnone{{n/a}}\cell{EMPTY}") == "n/a "


def test_a_difference_below_zero_has_a_minus_sign(tables: Tables, tmp_path: Path) -> None:
    lower = toy_tables.PUBLISHED.replace("80.90", "90.00")
    made = Tex()
    made.run(macros_text("toy", "small", {"gu2020/table06": toy_tables.table(tmp_path, published=lower)}))
    assert made.run(rf"\celldiff{KEY}") == "$-$9.00 " and not made.errors


def test_a_link_leads_to_the_cell_in_the_page_of_its_table(tex: Tex) -> None:
    tex.run(r"\def\cellbase{https://x.org/r/}\def\href#1#2{<#1>(#2)}")
    expected = "<https://x.org/r/tables/gu2020/table06.html#table06-bert-bc2gm>(81.00) "
    assert tex.run(rf"\celllink{KEY}") == expected and not tex.errors


def test_the_anchor_of_a_link_is_in_the_page(tables: Tables) -> None:
    from pubmill.report.table_rendering import TABLE_RENDERERS

    assert 'id="table06-bert-bc2gm"' in TABLE_RENDERERS["html"](tables["gu2020/table06"])


def test_another_package_with_the_same_macro_is_an_error(tables: Tables) -> None:
    made = Tex()
    made.run(r"\def\cell#1{x}" + "\n" + macros_text("toy", "small", tables))
    assert made.errors[0].startswith("pubmill: another package defines \\cell")


def test_files_of_two_studies_can_be_used_together(tables: Tables, tex: Tex) -> None:
    other = {"lewis2020/table02": tables["gu2020/table06"]}
    tex.run(macros_text("other", "small", other))
    assert tex.run(rf"\cell{KEY} \cell{{lewis2020/table02}}{{bc2gm}}{{bert}}") == "81.00 81.00 "
    assert tex.errors == []


def test_every_cell_can_be_read_back(tables: Tables) -> None:
    found = dict(read_macros(macros_text("toy", "small", tables)))
    assert found.keys() == {key for key, _ in all_cells(tables)}
    for key, cell in all_cells(tables):
        assert found[key] == {name: part.text(cell) for name, part in PARTS.items()}
    assert found[CellKey("gu2020/table06", "gad", "ours")]["cell"] == NONE


def test_a_file_of_another_study_is_refused() -> None:
    text = macros_text("gu2020", "full", {})
    check_study(text, "cells.tex", "gu2020", "full")
    with pytest.raises(
        PubmillError, match=r"cells.tex: it has the numbers of study gu2020, scale full, not of"
    ):
        check_study(text, "cells.tex", "small", "small")


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex", "tectonic"])
def test_a_manuscript_compiles(tables: Tables, tmp_path: Path, engine: str) -> None:
    if not shutil.which(engine):
        pytest.skip(f"{engine} is not installed")
    (tmp_path / MACROS_FILE).write_text(macros_text("toy", "small", tables))
    paper = r"\documentclass{article}\input{cells}\begin{document}\section{\cell" + KEY
    (tmp_path / "paper.tex").write_text(paper + r"}\celldiff" + KEY + r"\end{document}")
    words = [] if engine == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run([engine, *words, "paper.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()[-2000:]


def with_macros(folder: Path, text: str) -> None:
    (folder / "paper").mkdir(exist_ok=True)
    (folder / "paper/cells.tex").write_text(text)


def test_sound_macros_are_no_finding(tmp_path: Path) -> None:
    with_macros(tmp_path, macros_text("toy", "small", study(tmp_path).tables))
    text = rf"\input{{cells}}\cell{OURS} \cellspread {OURS} \celldiff{OURS} \celllink{OURS} \cellnone"
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
    [found] = findings(tmp_path, rf"\input{{cells}} \cell{OURS}")
    assert found.kind == "macros" and found.file.endswith("cells.tex")
    assert r"\cell 84.10" in found.found and r"\cell 84.52" in found.expected
    assert text.splitlines()[found.line - 1].startswith(rf"\pubmillcell{OURS}")


def test_macros_of_another_study_are_refused(tmp_path: Path) -> None:
    with_macros(tmp_path, macros_text("gu2020", "full", {}))
    with pytest.raises(PubmillError, match=r"cells.tex: it has the numbers of study gu2020"):
        findings(tmp_path, r"\input{cells}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (rf"It has 84.52 here. % \cell{OURS}", []),
        (rf"All 3 have 84.5 and 0.04. % \cell{OURS} \cellspread{OURS}", []),
        (rf"% It had 84.10. % \cell{OURS}", []),
        (f"It has 84.10.\n% \\cell{OURS}", []),
        (rf"It has 84.10 here. % \cell{OURS}", ["stale"]),
        (rf"It has 84.51 here. % \cell{OURS}", ["rounding"]),
        (rf"It has 84.10 here. % \celllink{OURS}", ["stale"]),
        (rf"All 3 have 84.5 and 0.05. % \cell{OURS} \cellspread{OURS}", ["rounding"]),
        (rf"It has 84.52 here. % \cell{OURS} \cell{OURS}", ["mark"]),
        (rf"It has 84.52 here. % \cell{OURS.replace('bc2gm', 'bc2')}", ["unknown"]),
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
    text = f"PubMedBERT reaches 84.10 on BC2GM. % \\cell{OURS}\nIt reaches 79.00 on JNLPBA."
    [found] = findings(tmp_path, text)
    assert (found.kind, found.line, found.found) == ("stale", 1, "84.10 stands here")
