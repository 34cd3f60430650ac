"""The table of metrics in docs/finetuning.md, made from the registry.

python -m tests.metrics_table           print it
python -m tests.metrics_table --write   write it into the page
"""

import re
import sys
from pathlib import Path

from pubmill.metrics import METRICS, SCORERS, Metric

PAGE = Path(__file__).resolve().parents[1] / "docs/finetuning.md"
HEADING = "| metric | version | kinds | dev score | what it counts | from |\n|---|---|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEADING.splitlines()[0]) + r"\n(?:\|.*\n)+")
"""Pattern of the table in the page."""


def as_markdown() -> str:
    """Return the table of all metrics, by kind."""
    kinds = list(SCORERS)
    return HEADING + "".join(map(_line, sorted(METRICS.values(), key=lambda one: kinds.index(one.kinds[0]))))


def _line(metric: Metric) -> str:
    tasks = f" ({', '.join(metric.tasks)})" if metric.tasks else ""
    chooses = "yes" if metric.chooses else "no"
    kinds = ", ".join(metric.kinds) + tasks
    cells = (f"`{metric.name}`", metric.version, kinds, chooses, metric.definition, metric.source)
    return f"| {' | '.join(map(str, cells))} |\n"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        text = PAGE.read_text()
        PAGE.write_text(TABLE.sub(lambda _: as_markdown(), text))
    print(as_markdown(), end="")
