"""HTML pages as tests read them."""

from typing import Any

from lxml import html


def parsed(text: str) -> Any:
    """Return the page's root; untyped, because the kind of an XPath result depends on the expression."""
    return html.fromstring(text)
