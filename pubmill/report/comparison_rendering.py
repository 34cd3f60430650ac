"""Render comparisons of models as JSON, Markdown and HTML."""

from collections.abc import Callable

from pubmill.report.rendering import environment, escape_markdown, to_json
from pubmill.tables.comparisons import Comparisons


def to_markdown(found: Comparisons) -> str:
    """Render a pipe table for GitHub."""
    return environment(escape_markdown).get_template("comparisons.md.j2").render(found=found)


def to_html(found: Comparisons) -> str:
    """Render a self-contained page, whose only script sorts its tables."""
    return environment().get_template("comparisons.html.j2").render(found=found)


FORMS: dict[str, Callable[[Comparisons], str]] = {"json": to_json, "md": to_markdown, "html": to_html}
