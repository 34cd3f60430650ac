"""Render transfers between datasets as JSON, Markdown and HTML."""

from collections.abc import Callable

from pubmill.extras.transfer.transfer_matrix import TransferMatrix
from pubmill.report.rendering import environment, escape_markdown, to_json


def to_markdown(found: TransferMatrix) -> str:
    """Render a pipe table for each type of mentions."""
    return environment(escape_markdown).get_template("transfer.md.j2").render(found=found)


def to_html(found: TransferMatrix) -> str:
    """Render a self-contained page, whose only script sorts its tables."""
    return environment().get_template("transfer.html.j2").render(found=found)


FORMS: dict[str, Callable[[TransferMatrix], str]] = {"json": to_json, "md": to_markdown, "html": to_html}
