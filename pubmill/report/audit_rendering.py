"""Render the audit of published values as JSON, Markdown and HTML."""

from collections.abc import Callable

from pubmill.messages import commands
from pubmill.report.rendering import environment, escape_markdown, to_json
from pubmill.tables.audit import Audit


def to_markdown(shown: Audit) -> str:
    """Render the page for GitHub."""
    command = commands.pubmill(*"audit value 87.56 --metric accuracy --n 140 --runs 10".split())
    ranks_command = commands.pubmill(*"audit ranks gu2020/table06".split())
    return (
        environment(escape_markdown)
        .get_template("audit.md.j2")
        .render(shown=shown, command=command, ranks_command=ranks_command)
    )


def to_html(shown: Audit) -> str:
    """Render a self-contained page without scripts."""
    return environment().get_template("audit.html.j2").render(shown=shown)


FORMS: dict[str, Callable[[Audit], str]] = {"json": to_json, "md": to_markdown, "html": to_html}
