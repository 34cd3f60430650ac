"""The table of conventions in docs/scorers.md.

python -m tests.conventions_table           print it
python -m tests.conventions_table --write   write it into the page
"""

import re
import sys
from pathlib import Path

from pubmill.metrics.conventions import CONVENTIONS, Convention

PAGE = Path(__file__).resolve().parents[1] / "docs/scorers.md"
HEADING = "| convention | kind | what it is | used by |\n|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEADING.splitlines()[0]) + r"\n(?:\|.*\n)+")
"""Pattern of the table in the page."""


def as_markdown() -> str:
    """Return the table of all conventions, by kind."""
    return HEADING + "".join(_line(one) for conventions in CONVENTIONS.values() for one in conventions)


def _line(one: Convention) -> str:
    [kind] = one.kinds
    tasks = f" ({', '.join(one.tasks)})" if one.tasks else ""
    return f"| `{one.name}` | {kind}{tasks} | {one.definition} | {one.used} |\n"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        text = PAGE.read_text()
        PAGE.write_text(TABLE.sub(lambda _: as_markdown(), text))
    print(as_markdown(), end="")
