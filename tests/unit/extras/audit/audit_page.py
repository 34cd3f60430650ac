"""The page docs/audit.md: the audits of the published values and of the runs behind them, at full scale.

python -m tests.unit.extras.audit.audit_page           print it
python -m tests.unit.extras.audit.audit_page --write   write the page
"""

import sys
from pathlib import Path

from pubmill.extras.audit.audit_stages import audit_recipe
from pubmill.extras.audit.printed_values_of_runs import DIFFERENT, EQUAL, findings_on_runs
from pubmill.extras.audit.value_audit import AUDIT_RENDERERS, audit
from pubmill.stages import Graph
from pubmill.stages.study_graph import graph_of_all_tables
from pubmill.tables.audit import Audit
from tests.fidelity_page import printed_cells

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs/audit.md"
RUNS = """
## Is a value judged against its own run?

```sh
.venv/bin/pubmill audit runs
```

compares the published values of all tables with the final runs that make the cells here. The same value of
a model on a dataset in two cells with different runs, and different values in two cells with the same runs,
suggest that a cell is judged against a number that another fine-tuning gave. Compared are values of one
model, dataset and metric, and printed means of datasets whose own values are not shown with the means of
the values that other tables print. Two values are equal if one score can be printed as both; if a table
prints more digits for the same run, these count. Cells that are copied or not comparable are left out.

Each finding has a reason. For equal values it is a search that contains all points of the other run's
search, which the command finds by itself, or a remark on the row under `coincidences:` of a table; for
different values it is a remark under `elsewhere:`. A finding without a reason, and a coincidence without a
finding, are errors.

| Dataset | Model | Finding | Values | Reason |
| :-- | :-- | :-- | :-- | :-- |
"""


def as_markdown(specs: Path) -> str:
    """Return the page, for the specs in a folder."""
    graph = graph_of_all_tables(specs)
    found = findings_on_runs(graph, specs)
    lines = []
    for one in found:
        model, *dataset = one.subject
        values = ", ".join(sorted({value.text for value in one.values}))
        lines.append(f"| {' '.join(dataset)} | {model} | {one.kind} | {values} | {'; '.join(one.why)} |")
    counts = " and ".join(f"{sum(one.kind == kind for one in found)} {kind}" for kind in (EQUAL, DIFFERENT))
    audited = audit(audit_recipe(specs), specs)
    head, values, tail = AUDIT_RENDERERS["md"](audited).partition("\n## Findings by paper\n")
    page = head + reconciled(audited, graph) + values + tail
    return page.rstrip("\n") + "\n" + RUNS + "\n".join(lines) + f"\n\nTogether: {counts}.\n"


def reconciled(audited: Audit, graph: Graph) -> str:
    """Return the sentence that leads from the values of this page to those of other pages."""
    printed = [one for one in audited.findings if one.printed]
    scores = sum(one.table in graph.specs.tables for one in printed)
    facts, blank = len(printed) - scores, len(audited.findings) - len(printed)
    counts = (len(audited.findings), scores, len(printed_cells()), facts, blank)
    all_values, of_scores, run, of_facts, empty = (f"{number:,}".replace(",", " ") for number in counts)
    return (
        f"\nThe {all_values} values are {of_scores} printed scores, which [fidelity](fidelity.md) divides by "
        f"what they are compared with ({run} of them have runs of ours), {of_facts} printed facts, and "
        f"{empty} cells that papers leave empty.\n"
    )


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(as_markdown(ROOT / "specs"), encoding="utf-8")
    print(as_markdown(ROOT / "specs"), end="")
