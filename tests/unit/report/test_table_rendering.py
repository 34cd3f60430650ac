"""A table of results in LaTeX: what it has, its parts by option, and that it compiles and fits the page."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.recipes.tables import Reason
from pubmill.report.rendering import escape_tex
from pubmill.report.table_rendering import MOST_COLUMNS, TABLE_RENDERERS, latex_table, latex_text
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up

ENGINES = [engine for engine in ("pdflatex", "lualatex", "tectonic") if shutil.which(engine)]


def body(text: str) -> list[str]:
    """The lines between the first rule and the last."""
    return text[text.index("\\toprule") : text.index("\\bottomrule")].splitlines()[1:]


def test_a_table_has_caption_label_rules_marks_and_what_is_said_of_cells(table: Table) -> None:
    text = latex_table(table)
    assert text.splitlines()[0] == (
        "% pubmill: table gu2020/table06, small scale; needs booktabs and graphicx"
    )
    assert (
        "\\caption{Table 6 (small scale, not comparable with the paper). Test scores. Mean over runs." in text
    )
    assert "\\label{tab:gu2020-table06}" in text
    assert body(text) == [
        "Dataset & BERT & Ours \\\\", "\\midrule", "BC2GM, entity F1 & 81.00 & \\textbf{91.00} \\\\",
        "\\midrule", "GAD, micro F1 & ---\\textsuperscript{a} & ---\\textsuperscript{a} \\\\", "\\midrule",
        "BLURB, mean of task means & ---\\textsuperscript{b} & ---\\textsuperscript{b} \\\\",
    ]  # fmt: skip
    assert "\\textsuperscript{a} Relation extraction is not run.\\par\n" in text
    assert TABLE_RENDERERS["tex"](table) == text


def test_columns_without_a_value_are_left_out_unless_none_has_one(table: Table, tmp_path: Path) -> None:
    bare = made_up.table(tmp_path, made_up.recipe(records={}))
    assert body(latex_table(bare))[0] == "Dataset & BERT & Ours \\\\"
    cells = {**table.cells, "ours": bare.cells["ours"]}
    assert body(latex_table(replace(table, cells=cells)))[0] == "Dataset & BERT \\\\"


def test_models_are_rows_where_they_are_many_and_the_datasets_few(table: Table) -> None:
    keys = [f"m{number}" for number in range(MOST_COLUMNS + 1)]
    [bert, _] = table.columns
    columns = tuple(replace(bert, key=key, label=key.upper()) for key in keys)
    reasons = (Reason(text="a `note` of m1", cells=("m1/",)), Reason(text="of none", cells=("other/",)))
    wide = replace(table, columns=columns, cells=dict.fromkeys(keys, table.cells["bert"]), reasons=reasons)
    lines = body(latex_table(wide))
    assert lines[0].startswith("Model & \\shortstack[r]{BC2GM,\\\\entity F1} & ")
    assert lines[3].startswith("M1\\textsuperscript{1} & \\textbf{81.00} & ")
    assert len(lines) == 2 + len(keys)
    text = latex_table(wide)
    assert "\\textsuperscript{1} A \\texttt{note} of m1." in text and "Of none" not in text


@pytest.mark.parametrize(("text", "written"), [
    ("a `b_c` d", "a \\texttt{b\\_c} d"), ("`a` and `b`", "\\texttt{a} and \\texttt{b}"), ("plain", "plain"),
    ("a `b", escape_tex("a `b")), ("`a` `b", escape_tex("`a` `b")),
])  # fmt: skip
def test_code_stands_between_two_backticks_and_a_single_one_is_a_sign(text: str, written: str) -> None:
    assert latex_text(text) == written


@pytest.mark.skipif(not ENGINES, reason="no LaTeX on this machine")
def test_the_widest_table_fits_a_column_of_a_page(table: Table, tmp_path: Path) -> None:
    keys = [f"model-{number}" for number in range(26)]
    [bert, _] = table.columns
    columns = tuple(replace(bert, key=key, label="A model with a long name") for key in keys)
    rows = tuple(replace(table.rows[0], label=f"Dataset {number}") for number in range(14))
    wide = replace(
        table, columns=columns, rows=rows * 2, cells=dict.fromkeys(keys, table.cells["bert"]), composites=()
    )
    (tmp_path / "table.tex").write_text(latex_table(wide))
    (tmp_path / "paper.tex").write_text(
        "\\documentclass[twocolumn]{article}\\usepackage{booktabs,graphicx,textcomp}\\usepackage[T1]{fontenc}"
        "\\begin{document}\\input{table}\\end{document}"
    )
    words = [] if ENGINES[0] == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run([ENGINES[0], *words, "paper.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()[-2000:]
    assert not re.search("Overfull|too large", done.stdout.decode())
