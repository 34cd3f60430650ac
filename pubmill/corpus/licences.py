"""Licences of PMC's articles, in the groups that PMC forms, and the filters that heed them."""

import re

from pubmill.corpus.shards import Document
from pubmill.specs import Selection

GROUPS = {
    "CC0": "commercial", "CC BY": "commercial", "CC BY-SA": "commercial", "CC BY-ND": "commercial",
    "CC BY-NC": "noncommercial", "CC BY-NC-SA": "noncommercial", "CC BY-NC-ND": "noncommercial",
}  # fmt: skip
"""Everything else (none, custom, text mining only) is `other`."""

_LINK = re.compile(
    r"creativecommons\.org/(?:licen[sc]es/(by(?:-nc)?(?:-sa|-nd)?)\b(?!-)|(publicdomain/zero))", re.I
)


def licence_group(code: str) -> str:
    """The group of a licence: `commercial` use, `noncommercial` use, or `other`."""
    return GROUPS.get(code, "other")


def licence_at(text: str) -> str:
    """The code, such as `CC BY-NC`, of the Creative Commons licence that a text links to; "" if to none."""
    found = _LINK.search(text) if "creativecommons" in text.lower() else None
    if not found:
        return ""
    return f"CC {found[1].upper()}" if found[1] else "CC0"


def licence(document: Document, selection: Selection) -> str | None:
    """The licence of an article of PMC is of a group asked for; other documents are in no group and pass."""
    if selection.licences is None or not document.id.startswith("pmc:"):
        return None
    return None if licence_group(document.licence) in selection.licences else "licence"


def flagged(document: Document, selection: Selection) -> str | None:
    """The document has none of the flags that are unwanted; the first one that it has is the reason."""
    return next((flag for flag in selection.without if flag in document.flags), None)
