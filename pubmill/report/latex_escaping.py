"""Escape text for LaTeX with pylatexenc, limited to what the preamble of the templates can set."""

import re

from pylatexenc.latexencode import RULE_CALLABLE, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

OWN = {
    "[": "{[}",  # after the end of a row, LaTeX would read a bare bracket as an option
    "]": "{]}",
    '"': r"\textquotedbl{}",  # pylatexenc would close a quotation
    "`": r"\textasciigrave{}",  # and leave this to open one
    "\N{NARROW NO-BREAK SPACE}": r"\,",
}
"""Characters whose form differs from pylatexenc's, or which it lacks."""
AS_THEY_ARE = re.compile("[À-ÖØ-öø-ĥĨ-ķĹ-ľŁ-ňŊ-ťŨ-ž]")
"""Letters that LaTeX reads as UTF-8 in the encoding T1 (its utf8ienc.dtx)."""
SETTABLE = re.compile("[ -~\N{NO-BREAK SPACE}-¬®-¿×÷Α-Ωα-ωϑϕϖϱϵ‐‒-―‘-”†-•…‰′″⁰-ₜ€™←-↔⇐-⇔∂∆∇∈∏∑−√∞∩∪∼≈≠-≥≪≫]")
"""Characters whose commands in pylatexenc are LaTeX's own (its fontdef.dtx, ltoutenc.dtx, lttextcomp.dtx);
others need packages or fonts that a system may lack."""


def escape_tex(text: str) -> str:
    """Escape text for LaTeX. Characters that pdfLaTeX may be unable to set become their code, so none is
    lost."""
    spaced = re.sub(r"[^\S\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]+", " ", text)
    return str(_ENCODER.unicode_to_latex(spaced))


def _convert_character(text: str, position: int) -> tuple[int, str] | None:
    """Convert the character at a position, or return None to leave it to pylatexenc."""
    character = text[position]
    if character in OWN:
        return 1, OWN[character]
    if AS_THEY_ARE.match(character):
        return 1, character
    return None if SETTABLE.match(character) else (1, _code_point(character))


def _code_point(character: str) -> str:
    return f"{{[}}U+{ord(character):04X}{{]}}"


_ENCODER = UnicodeToLatexEncoder(
    conversion_rules=[
        UnicodeToLatexConversionRule(RULE_CALLABLE, _convert_character, replacement_latex_protection="none"),
        "defaults",
    ],
    replacement_latex_protection="braces-after-macro",
    unknown_char_policy=_code_point,
    unknown_char_warning=False,
)
