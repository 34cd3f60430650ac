"""Text for LaTeX has no live character, keeps Greek letters, and names what pdfLaTeX may lack by its code."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.report.latex_escaping import escape_tex


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
