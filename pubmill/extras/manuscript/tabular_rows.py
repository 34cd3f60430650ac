r"""Rows of a tabular: their cells, with the number, spread and bold type of each."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pubmill.extras.manuscript.latex_source import arguments, blanked, group_end
from pubmill.extras.manuscript.printed_numbers import PrintedNumber, numbers

_ROW_END = re.compile(r"\\\\\*?\s*(?:\[[^\]\n]*\])?|\\tabularnewline(?![a-zA-Z])")
_BEFORE = re.compile(
    r"\\(?:toprule|midrule|hline|endhead|endfirsthead)(?![a-zA-Z])"
    r"|\\(?:cmidrule|cline)(?:\([^()]*\))?\{[^{}]*\}|\\begin\{[a-zA-Z]*tab[a-zA-Z]*\*?\}"
)
_NOT_TEXT = re.compile(
    r"\\(?:[a-z]*cite[a-z]*|[a-z]*ref|label|cellcolor|rowcolor|color|hspace|vspace|textsuperscript|footnotemark|"
    r"tnote|hphantom|phantom|footnote)\*?(?:\[[^\]]*\])*(?=\{)|\\textcolor(?:\[[^\]]*\])?(?=\{)|\^(?=\{)"
)
_SUPERSCRIPT = re.compile(r"\^(?:\\[a-zA-Z]+|[^{\s])")
_SPREAD = re.compile(r"(?:\\pm|\\textpm|±)(?![a-zA-Z])[\s{}$~\\,;!]*$")
_UNCERTAIN = re.compile(r"\((\d{1,4}|\d{1,4}\.\d{1,6})\)")
_SERIES = re.compile(r"\\fontseries\{[a-z]*b[a-z]*\}\s*\\selectfont(?![a-zA-Z])")
_MINUS = re.compile(
    r"(?:\$-\$|\\ensuremath\{-\}|\\textminus(?:\{\})?|\\cellminus(?:\{\})?|(?<!-)--(?!-))\s*(?=\d)"
)
_SPAN = re.compile(r"\s*\\multicolumn\s*\{\s*(\d{1,2})\s*\}")
_BOLD = {"textbf", "mathbf", "bm", "boldsymbol", "bfseries", "bf", "boldmath", "best"}
_DECLARATIONS = {"bfseries", "bf", "boldmath"}
"""Macros that have no argument and change all that follows in their group."""
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|def|DeclareRobustCommand)\*?\s*\{?\\([a-zA-Z]+)\}?"
)


class TabularCell(NamedTuple):
    """A cell. `start`: the offset of its text; `number`: its first number; `spread`: a number after ± or, as
    siunitx writes it, in parentheses; `bold`: whether the first number, or a macro of a cell, is in bold;
    `macro`: whether it has such a macro; `blank`: whether it has neither letters nor digits."""

    start: int
    number: PrintedNumber | None
    spread: PrintedNumber | None
    bold: bool
    macro: bool
    blank: bool


def bold_macros(code: str) -> frozenset[str]:
    """Return the macros that set bold type, with those that the code defines by them."""
    macros = set(_BOLD)
    for definition in _DEFINED.finditer(code):
        body = code[definition.end() : definition.end() + 200].partition("\n")[0]
        if any(re.search(rf"\\{name}(?![a-zA-Z])", body) for name in _BOLD):
            macros.add(definition[1])
    return frozenset(macros)


def row_before(code: str, offset: int) -> tuple[int, int]:
    """Return the span of the row of a tabular that ends at or before an offset on its line."""
    end = len(code[:offset].rstrip())
    row_ends = list(_ROW_END.finditer(code, max(0, code.rfind("\n", 0, end)), end))
    if row_ends and not code[row_ends[-1].end() : end].strip():
        end = row_ends[-1].start()
    start = max(0, end - 20_000)
    for pattern in (_ROW_END, _BEFORE):
        for before in pattern.finditer(code, start, end):
            start = max(start, before.end())
    return start, end


def cells(code: str, start: int, end: int, bold: frozenset[str]) -> list[TabularCell]:
    """Return the cells of a row; a cell over several columns is followed by blank ones."""
    row = []
    for first, last in _spans(code, start, end):
        row.append(_cell(code[first:last], first, bold))
        wide = _SPAN.match(code, first, last)
        more = int(wide[1]) - 1 if wide else 0
        row += [TabularCell(last, None, None, False, False, True)] * more
    return row


def _spans(code: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans between the `&` of a row that are in no group."""
    depth, first = 0, start
    for match in re.compile(r"\\.|[{}&]", re.DOTALL).finditer(code, start, end):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif match[0] == "&" and depth <= 0:
            yield first, match.start()
            first = match.end()
    yield first, end


def _cell(text: str, start: int, bold: frozenset[str]) -> TabularCell:
    shown = _shown_text(text)
    macro = re.search(r"\\cell(?:link|exact)?\s*\{", text)
    printed = numbers(shown, start)
    spreads = [one for one in printed if _SPREAD.search(shown[: one.start - start])]
    values = [one for one in printed if one not in spreads]
    number = None if macro or not values else values[0]
    place = macro.start() if macro else number.start - start if number else None
    blank = not re.search(r"[A-Za-z0-9]", re.sub(r"\\[a-zA-Z]+", "", shown)) and not macro
    is_bold = place is not None and _is_bold(text, place, bold)
    spread = spreads[0] if spreads else _uncertainty(shown, number, start)
    return TabularCell(start, number, spread, is_bold, bool(macro), blank)


def _uncertainty(text: str, number: PrintedNumber | None, start: int) -> PrintedNumber | None:
    """Return the spread in parentheses directly after a number, as siunitx writes it: 84.52(31) or
    84.52(0.31)."""
    end = number.start - start + len(number.text) if number else 0
    match = _UNCERTAIN.match(text, end)
    if number is None or not number.decimals or match is None:
        return None
    digits = match[1] if "." in match[1] else f"{int(match[1]) / 10**number.decimals:.{number.decimals}f}"
    return PrintedNumber(digits, start + match.start(1))


def _shown_text(text: str) -> str:
    """Return the text of a cell without the arguments of macros that print no number of it, and with a plain
    minus sign before its number."""
    hidden = [(match.start(), match.end()) for match in _SUPERSCRIPT.finditer(text)]
    for match in _NOT_TEXT.finditer(text):
        hidden.append((match.start(), group_end(text, match.end()) or len(text)))
    if wide := _SPAN.match(text):
        width = arguments(text, wide.end(), 1)
        hidden.append((wide.start(), 1 + (width[0][1] if width else wide.end())))
    shown = blanked(text, hidden)
    return _MINUS.sub(lambda match: " " * (len(match[0]) - 1) + "-", shown)


def _is_bold(text: str, place: int, bold: frozenset[str]) -> bool:
    """Return whether the text at an offset is in the argument of a bold macro, or after one in its group."""
    text = _SERIES.sub(lambda match: "\\bfseries".ljust(len(match[0])), text)
    for match in re.finditer(r"\\([a-zA-Z]+)\s*", text):
        if match.start() >= place or match[1] not in bold:
            continue
        following = text[match.end() : match.end() + 2]
        if following[:1] == "{" and following != "{}" and match[1] not in _DECLARATIONS:
            if (group_end(text, match.end()) or len(text)) > place:
                return True
        elif _same_group(text, match.end(), place):
            return True
    return False


def _same_group(text: str, start: int, place: int) -> bool:
    """Return whether no group that is open at `start` is closed before `place`."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start, place):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        if depth < 0:
            return False
    return True
