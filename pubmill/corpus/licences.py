"""Licences of PMC articles, PMC's licence groups, and the filters that use them."""

import re

from pubmill.corpus.shards import Document
from pubmill.recipes.corpora import SelectionRecipe

GROUPS = {
    "CC0": "commercial", "CC BY": "commercial", "CC BY-SA": "commercial", "CC BY-ND": "commercial",
    "CC BY-NC": "noncommercial", "CC BY-NC-SA": "noncommercial", "CC BY-NC-ND": "noncommercial",
}  # fmt: skip
"""Group of each licence; all others (none, custom, text mining only) are in `other`."""

_LINK = re.compile(
    r"creativecommons\.org/(?:licen[sc]es/(by(?:-nc)?(?:-sa|-nd)?)\b(?!-)|(publicdomain/zero))", re.I
)


def licence_group(code: str) -> str:
    """Return the group of a licence: `commercial` use, `noncommercial` use, or `other`."""
    return GROUPS.get(code, "other")


def licence_at(text: str) -> str:
    """Return the code (`CC BY-NC`) of the Creative Commons licence that a text links to; "" if none."""
    found = _LINK.search(text) if "creativecommons" in text.lower() else None
    if not found:
        return ""
    return f"CC {found[1].upper()}" if found[1] else "CC0"


def licence(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep PMC articles whose licence group is requested; documents of other sources always pass."""
    if selection.licences is None or not document.id.startswith("pmc:"):
        return None
    return None if licence_group(document.licence) in selection.licences else "licence"


def flagged(document: Document, selection: SelectionRecipe) -> str | None:
    """Reject documents with an unwanted flag; the reason is the first such flag."""
    return next((flag for flag in selection.without if flag in document.flags), None)
