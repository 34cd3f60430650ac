"""Comparisons of models as JSON, Markdown and HTML."""

from collections.abc import Callable

from pubmill.tables.comparisons import Comparisons
from pubmill.tables.rendering import environment, escape_markdown, to_json


def p(value: float) -> str:
    """A p value with two digits that count; the smallest that resamplings can give is shown as it is."""
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def to_markdown(found: Comparisons) -> str:
    """A pipe table for GitHub."""
    made = environment(escape_markdown)
    made.filters["p"] = p
    return made.get_template("comparisons.md.j2").render(found=found)


def to_html(found: Comparisons) -> str:
    """A page of its own, without scripts and without anything from elsewhere."""
    made = environment()
    made.filters["p"] = p
    return made.get_template("comparisons.html.j2").render(found=found)


FORMS: dict[str, Callable[[Comparisons], str]] = {"json": to_json, "md": to_markdown, "html": to_html}
