"""The table of scorers in docs/scorers.md.

python -m tests.scorers_table           print it
python -m tests.scorers_table --write   write it into the page
"""

import re
import sys
from pathlib import Path

from pubmill.metrics.scorers import PUBLISHED_SCORERS, PublishedScorer

PAGE = Path(__file__).resolve().parents[1] / "docs/scorers.md"
HEADING = "| scorer | kind | what it is | used by |\n|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEADING.splitlines()[0]) + r"\n(?:\|.*\n)+")
"""Pattern of the table in the page."""


def as_markdown() -> str:
    """Return the table of all scorers, by kind."""
    return HEADING + "".join(
        _line(kind, one) for kind, scorers in PUBLISHED_SCORERS.items() for one in scorers
    )


def _line(kind: str, one: PublishedScorer) -> str:
    tasks = f" ({', '.join(one.tasks)})" if one.tasks else ""
    return f"| `{one.name}` | {kind}{tasks} | {one.definition} | {one.used} |\n"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        text = PAGE.read_text()
        PAGE.write_text(TABLE.sub(lambda _: as_markdown(), text))
    print(as_markdown(), end="")
