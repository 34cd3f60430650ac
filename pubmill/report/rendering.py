"""Text of numbers, templates with escaping, and renderers of data models by format."""

import base64
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pandas import DataFrame, Series
from pydantic_core import to_jsonable_python
from pylatexenc.latexencode import RULE_CALLABLE, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

from pubmill.messages.wording import escape_controls
from pubmill.metrics import METRICS
from pubmill.metrics.collapse import CONSTANT
from pubmill.recipes.tables import Row
from pubmill.tables.cells import Cell, ColumnCost, OtherCell, SeedScore

OWN = {
    "[": "{[}",  # after the end of a row, LaTeX would read a bare bracket as an option
    "]": "{]}",
    '"': r"\textquotedbl{}",  # pylatexenc would write a closing quotation mark
    "`": r"\textasciigrave{}",  # and leave this, an opening one in LaTeX
    "\N{NARROW NO-BREAK SPACE}": r"\,",
}
"""Characters whose form differs from pylatexenc's, or which it lacks."""
AS_THEY_ARE = re.compile("[À-ÖØ-öø-ĥĨ-ķĹ-ľŁ-ňŊ-ťŨ-ž]")
"""Letters that LaTeX reads as UTF-8 in the encoding T1 (its utf8ienc.dtx)."""
SETTABLE = re.compile("[ -~\N{NO-BREAK SPACE}-¬®-¿×÷Α-Ωα-ωϑϕϖϱϵ‐‒-―‘-”†-•…‰′″⁰-ₜ€™←-↔⇐-⇔∂∆∇∈∏∑−√∞∩∪∼≈≠-≥≪≫]")
"""Characters whose commands in pylatexenc are LaTeX's own (its fontdef.dtx, ltoutenc.dtx, lttextcomp.dtx);
others need packages or fonts that a system may lack."""


def escape_tex(text: str) -> str:
    """Escape text for LaTeX. Characters that pdfLaTeX may be unable to set become their code."""
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


Model = TypeVar("Model")

MINUS = "\N{MINUS SIGN}"
COMPOSITES = {
    "score": "mean of task means",
    "mean": "mean of datasets",
    "difference": "difference to another table",
}
"""Metric of a composite row or difference -> its description."""
VERDICTS = {
    "reproduced": ("reproduced", "R"),
    "within the minimal detectable difference": ("within MDD", "D"),
    "not reproduced": ("not reproduced", "N"),
    "not comparable": ("not comparable", "C"),
    "no verdict": ("no verdict", "U"),
}
"""Verdict -> its short form and its letter."""


def number(value: float) -> str:
    """Format a score with two decimals."""
    return f"{value:.2f}".replace("-", MINUS)


def printed(text: str) -> str:
    """Format a published score as printed, with a minus sign."""
    return text.replace("-", MINUS)


def signed(value: float) -> str:
    """Format a difference with its sign and two decimals; zero has no sign."""
    text = f"{value:+.2f}".replace("-", MINUS)
    return "0.00" if text[1:] == "0.00" else text


def count(value: int) -> str:
    """Format a whole number with thin spaces between groups of three digits."""
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def fact(value: bool | int | float | str | None, kind: str, printed: str | None = None) -> str:
    """Format a fact by its kind (`pubmill.tables.fact_cells`), as printed if it is text. A ratio has three
    significant digits, and at least as many decimals as the published one in `printed`."""
    if kind == "boolean":
        return "yes" if value in (True, "1") else "no"
    if isinstance(value, int) or (kind == "count" and isinstance(value, str) and value.isdigit()):
        return count(int(value))
    if not isinstance(value, float):
        return str(value)
    if kind == "minutes":
        return "{:02d}:{:02d}".format(*divmod(round(value), 60))
    if kind == "learning_rate":
        mantissa, _, exponent = f"{value:e}".partition("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    short, decimals = f"{value:.3g}", len(re.sub(r"\D", "", (printed or "").partition(".")[2]))
    return short if len(short.partition(".")[2]) >= decimals else f"{value:.{decimals}f}"


def surplus(value: int, printed: str) -> str:
    """Format a count minus the published one, with its sign; empty if that is rounded (`64K`)."""
    if not printed.isdigit():
        return ""
    gap = value - int(printed)
    return f" ({'+' if gap > 0 else MINUS}{count(abs(gap))})"


def quantity(value: float) -> str:
    """Format a large number in few characters: 950, 1.3 k, 24 M, 3.2 G."""
    for unit in ("", "k", "M", "G"):
        if abs(value) < 999.5:
            return f"{value:.3g}\N{NO-BREAK SPACE}{unit}".rstrip()
        value /= 1000
    return f"{value:.3g}\N{NO-BREAK SPACE}T"


def share(part: float, whole: float) -> str:
    """Format a share in per cent; small shares keep a nonzero digit."""
    percent = 100 * part / whole if whole else 0.0
    return f"{percent:.2g} %" if 0 < percent < 0.1 else f"{percent:.1f} %"


def p_value(value: float) -> str:
    """Format a p value with two significant digits; the smallest possible one is shown unchanged."""
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def duration(seconds: float) -> str:
    """Format a duration in its two largest units: 42 s, 3 min 5 s, 2 h 10 min, 4 d 3 h."""
    whole = round(seconds)
    for large, small, size, rest in (("d", "h", 86400, 3600), ("h", "min", 3600, 60), ("min", "s", 60, 1)):
        if whole >= size:
            return f"{whole // size} {large} {whole % size // rest} {small}"
    return f"{whole} s"


def cost(of: ColumnCost) -> str:
    """Format what a column's runs took: the answers' tokens and price, or the time."""
    runs = f"{of.runs} run{'s' if of.runs > 1 else ''}"
    if of.asked:
        return f"{of.asked.stated}, {runs}; answers: {of.asked.unread} not read, {of.asked.cut} cut off"
    return f"{duration(of.seconds)}, {runs}" if of.seconds else f"not stated, {runs}"


def sentence(text: str) -> str:
    """Return text with an initial capital and a final full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def groups(rows: Iterable[Row]) -> list[tuple[Row, ...]]:
    """Group neighbouring rows of the same task group."""
    return [tuple(group) for _, group in itertools.groupby(rows, key=lambda row: row.group)]


def metric(name: str | None) -> str:
    """Return the label of a metric."""
    if name in METRICS:
        return METRICS[name].label
    return COMPOSITES.get(name or "", (name or "").replace("_", " "))


def collapse(cell: Cell) -> str:
    """Return how many runs of a cell collapsed, and its value without them; empty if none did."""
    if not cell.collapsed:
        return ""
    rest = "" if cell.without_collapsed is None else f"; {number(cell.without_collapsed)} without"
    return f"{cell.collapsed} of {cell.expected} collapsed{rest}"


def run_score(seed: SeedScore) -> str:
    """Return the score of a run, with a mark if it collapsed; else why it has none."""
    if seed.value is None:
        return seed.failed or ""
    return number(seed.value) + (f" ({CONSTANT})" if seed.collapsed else "")


def other_score(other: OtherCell) -> str:
    """Return value and verdict of a cell of another table, as far as there are any."""
    values = [] if other.cell.value is None else [number(other.cell.value)]
    verdicts = [VERDICTS[other.cell.verdict.verdict][0]] if other.cell.verdict else []
    return ", ".join(values + verdicts)


def marks(reasons: Iterable[str | None]) -> dict[str, str]:
    """Map every distinct reason, in the order given, to its mark (a, b, ... z, aa)."""
    distinct = dict.fromkeys(reason for reason in reasons if reason)
    return {reason: _column_letters(i) for i, reason in enumerate(distinct)}


def _column_letters(index: int) -> str:
    before, last = divmod(index, 26)
    return (_column_letters(before - 1) if before else "") + chr(ord("a") + last)


def escape_markdown(text: str) -> str:
    """Escape text for a cell of a GitHub table: no markup, HTML, line breaks or column separators remain."""
    escaped = re.sub(r"([\\`*_\[\]#|~!])", r"\\\1", re.sub(r"\s+", " ", text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")


def prose(text: str) -> Markup:
    """Return text of specs as HTML; what it names in backticks is code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(Markup.escape(escape_controls(text)))))


FILTERS: tuple[Callable[..., object], ...] = (
    number, printed, signed, metric, sentence, prose, groups, quantity, count, fact, surplus, duration, cost,
    other_score, collapse, run_score, marks,
)  # fmt: skip
"""Filters of the templates, under the functions' names."""
TEMPLATES = Path(__file__).parent / "templates"


def page_script(*names: str) -> str:
    """Return the only script of a page, which its security policy allows by its digest, from its parts."""
    return "\n".join((TEMPLATES / f"{name}.js").read_text(encoding="utf-8") for name in names)


SORTING = page_script("grids", "sorting")
"""Script of pages with tables that are searched and sorted."""


def environment(escape: Callable[[str], str] | None = None, *folders: Path) -> Environment:
    """Return a template environment that escapes every value with `escape`, or as HTML by default. Control
    characters are shown as their codes. `folders`: of templates beside those of this room."""

    def finalize(value: Any) -> Any:
        if isinstance(value, Markup):
            return Markup(escape_controls(value))
        if escape is None:
            return escape_controls(value) if isinstance(value, str) else value
        return escape(escape_controls(str(value)))

    made = Environment(
        loader=FileSystemLoader([TEMPLATES, *folders]),
        autoescape=escape is None,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {one.__name__: one for one in FILTERS} | {"p": p_value}
    script = {"sorting": Markup(SORTING), "sorting_hash": script_digest(SORTING)}
    made.globals |= {"share": share, "verdicts": VERDICTS, **script}
    return made


def script_digest(script: str) -> str:
    """Return the base64 SHA-256 of a script, for the Content-Security-Policy of a page."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def to_json(shown: Any) -> str:
    """Render the JSON that the report reads; `shown`: a data model."""
    return json.dumps(to_jsonable_python(shown), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def csv_text(lines: DataFrame) -> str:
    """Render lines as CSV; an apostrophe precedes text that a spreadsheet would read as a formula."""

    def inert(value: Any) -> Any:
        return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value

    shown = lines.apply(lambda column: Series(list(map(inert, column)), dtype="object"))
    return str(shown.to_csv(index=False, lineterminator="\n"))


ESCAPES: dict[str, Callable[[str], str] | None] = {"md": escape_markdown, "tex": escape_tex, "html": None}
"""Format of a template -> the function that escapes its values; None: as HTML."""


def renderers(
    template: str,
    formats: Sequence[str],
    values: Callable[[Model], Mapping[str, object]],
    frame: Callable[[Model], DataFrame] | None = None,
    folder: Path = TEMPLATES,
) -> dict[str, Callable[[Model], str]]:
    """Return a function for each format that renders a data model.

    JSON contains the whole model, CSV the lines of its `frame`; other formats are the templates
    `TEMPLATE.FORMAT.j2` with the variables that `values` returns. A page in HTML is self-contained; its only
    script, if any, sorts its tables. `folder`: where the templates are.
    """

    def of_format(name: str) -> Callable[[Model], str]:
        if name == "json":
            return to_json
        if name == "csv" and frame:
            return lambda model: csv_text(frame(model))
        file = f"{template}.{name}.j2"
        return lambda model: environment(ESCAPES[name], folder).get_template(file).render(values(model))

    return {name: of_format(name) for name in formats}
