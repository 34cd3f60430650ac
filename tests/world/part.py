"""Files of the miniature world, and the word by which licensed ones are recognised."""

import re

Files = dict[str, bytes]
"""Contents by path below the mirror: `HOST/PATH`, or `local/KEY/FILE` for licensed files."""
CANARY = "Qzcanary"
"""A word in the text of every licensed file, which must not occur in any log, card or message."""


def slotted(template: str) -> list[str]:
    """Split a template into its words and its slots, which are in braces."""
    return re.split(r"({\w+})", template)
