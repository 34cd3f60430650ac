"""A table as JSON, CSV, Markdown, LaTeX and HTML. Names, labels, notes and reasons are escaped everywhere."""

import base64
import csv
import hashlib
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic import BaseModel

from pubmill.messages.control_characters import escape_controls
from pubmill.metrics import METRICS
from pubmill.statistics.verdict_models import Verdict
from pubmill.tables.cells import Cell, Column, Row, Table

MINUS = "\N{MINUS SIGN}"
COMPOSITES = {"score": "mean of task means", "mean": "mean of datasets"}
"""Rows that are made of other rows -> what they show."""
TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": "'",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after a line's end, LaTeX takes a bare bracket for an option
    "]": "{]}",
    MINUS: "$-$",
    "±": r"$\pm$",
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    **{character: f"\\{character}" for character in "{}$&#_%"},
}


VERDICTS = {
    "reproduced": ("reproduced", "R"),
    "within the minimal detectable difference": ("within MDD", "D"),
    "not reproduced": ("not reproduced", "N"),
    "not comparable": ("not comparable", "C"),
    "no verdict": ("no verdict", "U"),
}
"""A verdict -> it in a few letters, and in one."""


def number(value: float) -> str:
    """A score with two decimals."""
    return f"{value:.2f}".replace("-", MINUS)


def printed(text: str) -> str:
    """A published score as it is printed."""
    return text.replace("-", MINUS)


def signed(value: float) -> str:
    """A difference with its sign and two decimals; nothing is `-0.00`."""
    text = f"{value:+.2f}".replace("-", MINUS)
    return "0.00" if text[1:] == "0.00" else text


def count(value: int) -> str:
    """A whole number with thin groups of three digits."""
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def fact(value: bool | int | float | str | None, kind: str, printed: str | None = None) -> str:
    """Format a fact by its kind (pubmill.tables.printed_facts), text also as printed. A ratio has three
    digits, and no fewer decimals than the one `printed` beside it."""
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
    """A count minus the published one, with its sign; nothing where that one is rounded (`64K`)."""
    if not printed.isdigit():
        return ""
    gap = value - int(printed)
    return f" ({'+' if gap > 0 else MINUS}{count(abs(gap))})"


def quantity(value: float) -> str:
    """A large number in few characters: 950, 1.3 k, 24 M, 3.2 G."""
    for unit in ("", "k", "M", "G"):
        if abs(value) < 999.5:
            return f"{value:.3g}\N{NO-BREAK SPACE}{unit}".rstrip()
        value /= 1000
    return f"{value:.3g}\N{NO-BREAK SPACE}T"


def share(part: float, whole: float) -> str:
    """A part in per cent; small shares keep a digit that is not zero."""
    percent = 100 * part / whole if whole else 0.0
    return f"{percent:.2g} %" if 0 < percent < 0.1 else f"{percent:.1f} %"


def p_value(value: float) -> str:
    """A p value with two digits that count; the smallest that resamplings can give is shown as it is."""
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def duration(seconds: float) -> str:
    """A time in its two largest units: 42 s, 3 min 5 s, 2 h 10 min, 4 d 3 h."""
    whole = round(seconds)
    for large, small, size, rest in (("d", "h", 86400, 3600), ("h", "min", 3600, 60), ("min", "s", 60, 1)):
        if whole >= size:
            return f"{whole // size} {large} {whole % size // rest} {small}"
    return f"{whole} s"


def sentence(text: str) -> str:
    """Text with a capital at its beginning and a full stop at its end."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def groups(rows: Iterable[Row]) -> list[tuple[Row, ...]]:
    """Neighbouring rows of one task group."""
    return [tuple(found) for _, found in itertools.groupby(rows, key=lambda row: row.group)]


def metric(name: str | None) -> str:
    """A metric in words."""
    if name in METRICS:
        return METRICS[name].label
    return COMPOSITES.get(name or "", (name or "").replace("_", " "))


def reasons(table: Table) -> dict[str, str]:
    """Every distinct reason for a missing value -> its mark."""
    return marks(cell.missing for _, _, cell in table.read())


def marks(reasons: Iterable[str | None]) -> dict[str, str]:
    """Every distinct reason -> its mark (a, b, ... z, aa), in the order given."""
    told = dict.fromkeys(reason for reason in reasons if reason)
    return {reason: _letters(i) for i, reason in enumerate(told)}


def _letters(index: int) -> str:
    before, last = divmod(index, 26)
    return (_letters(before - 1) if before else "") + chr(ord("a") + last)


def escape_tex(text: str) -> str:
    """Text for LaTeX. Letters that plain pdfLaTeX cannot set are shown as their code, never dropped."""
    spaced = re.sub(r"[^\S\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]+", " ", text)
    return "".join(TEX.get(c) or _plain_tex(c) for c in spaced)


def _plain_tex(character: str) -> str:
    if character.isprintable() and (character.isascii() or "À" <= character <= "ÿ"):
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"


def escape_markdown(text: str) -> str:
    """Text for a cell of a GitHub table: no markup, no HTML, no line break, no column end."""
    escaped = re.sub(r"([\\`*_\[\]#|~!])", r"\\\1", re.sub(r"\s+", " ", text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")


TEMPLATES = Path(__file__).parent / "templates"
SORTING = (TEMPLATES / "sorting.js").read_text(encoding="utf-8")
"""The only script of a page, which its policy names by its digest."""


def environment(escape: Callable[[str], str] | None = None) -> Environment:
    """Templates in which every value is escaped: by `escape`, or as HTML without one.

    Control characters are shown as their codes.
    """

    def finalize(value: Any) -> Any:
        if isinstance(value, Markup):
            return Markup(escape_controls(value))
        if escape is None:
            return escape_controls(value) if isinstance(value, str) else value
        return escape(escape_controls(str(value)))

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=escape is None,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "number": number,
        "printed": printed,
        "signed": signed,
        "metric": metric,
        "sentence": sentence,
        "groups": groups,
        "quantity": quantity,
        "count": count,
        "fact": fact,
        "surplus": surplus,
        "duration": duration,
        "p": p_value,
    }
    made.globals |= {
        "share": share,
        "verdicts": VERDICTS,
        "sorting": Markup(SORTING),
        "sorting_hash": base64.b64encode(hashlib.sha256(SORTING.encode()).digest()).decode(),
    }
    return made


def to_json(shown: BaseModel) -> str:
    """What the report reads."""
    told = shown.model_dump(mode="json", by_alias=True)
    return json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def to_csv(table: Table) -> str:
    """One line a cell; full precision, as programs want it."""
    return csv_text([_csv_line(table, row, column, cell) for row, column, cell in table.read()])


def csv_text(lines: list[dict[str, Any]]) -> str:
    """Lines of equal keys as CSV; no text is one that a spreadsheet takes for a formula."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(lines[0]), lineterminator="\n")
    writer.writeheader()
    for line in lines:
        writer.writerow(
            {key: _inert(value) if isinstance(value, str) else value for key, value in line.items()}
        )
    return text.getvalue()


def _csv_line(table: Table, row: Row, column: Column, cell: Cell) -> dict[str, Any]:
    return {
        "paper": table.paper,
        "table": table.table,
        "scale": table.scale,
        "column": column.key,
        "model": column.model,
        "row": row.key,
        "dataset": row.dataset,
        "metric": row.metric,
        "value": exact(cell.value),
        "spread": exact(cell.spread),
        "n": cell.n,
        "expected": cell.expected,
        "seeds": "; ".join(f"{seed.name}: {seed.failed or exact(seed.value)}" for seed in cell.seeds),
        "missing": cell.missing,
        "published": cell.published and cell.published.printed,
        "published_note": cell.published and cell.published.note,
        "difference": exact(cell.difference),
        **_verdict_fields(cell.verdict),
        "seeds_needed": table.seeds_needed[row.key].seeds if row.key in table.seeds_needed else None,
    }


def _verdict_fields(verdict: Verdict | None) -> dict[str, Any]:
    return {
        "verdict": verdict and verdict.verdict,
        "why": verdict and verdict.why,
        "margin": verdict.margin if verdict else None,
        "p": exact(verdict.p) if verdict else None,
        "minimal_detectable": exact(verdict.detectable) if verdict else None,
    }


def exact(value: float | None) -> float | None:
    """Without the last bits, which differ by the order of a sum."""
    return None if value is None else round(value, 6)


def _inert(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text


def to_markdown(table: Table) -> str:
    """A pipe table for GitHub."""
    template = environment(escape_markdown).get_template("table.md.j2")
    return template.render(table=table, reasons=reasons(table))


def to_latex(table: Table) -> str:
    """A document that compiles by itself; its tabular can be copied into another (needs booktabs)."""
    template = environment(escape_tex).get_template("table.tex.j2")
    return template.render(table=table, reasons=reasons(table))


def to_html(table: Table) -> str:
    """A page of its own, whose only script sorts it, and without anything from elsewhere."""
    return environment().get_template("table.html.j2").render(table=table, reasons=reasons)


FORMS: dict[str, Callable[[Table], str]] = {
    "json": to_json,
    "csv": to_csv,
    "md": to_markdown,
    "tex": to_latex,
    "html": to_html,
}
