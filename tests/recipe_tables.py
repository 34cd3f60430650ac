"""The tables of pretraining recipes in docs/pretraining.md and docs/planning.md, made from the specs.

python -m tests.recipe_tables           print them
python -m tests.recipe_tables --write   write them into the pages
"""

import re
import sys
from pathlib import Path

from pubmill.planning.plan import recipes_at_full
from pubmill.planning.plan_printing import recipes_as_markdown
from pubmill.recipes import Objective
from pubmill.recipes.objectives import OBJECTIVES
from pubmill.specs import Specs, load
from pubmill.specs.corpus_specs import PretrainingSpec
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from pubmill.stages.gpus import read_gpus

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTIONS, COSTS = ROOT / "docs/pretraining.md", ROOT / "docs/planning.md"
HEADING = (
    "| recipe | paper | initial weights | masking, pairs and more | corpus | vocabulary | steps x batch |\n"
    "|---|---|---|---|---|---|---|\n"
)


def descriptions(specs: Specs) -> str:
    """Return the table of what each recipe trains, and how."""
    return HEADING + "".join(map(_line, specs.pretraining.values()))


def _line(spec: PretrainingSpec) -> str:
    cells = (
        f"`{spec.name}`", spec.paper or "", _initial_weights(spec), _objective(spec.recipe.objective),
        f"`{spec.corpus}`", f"`{spec.vocab}`", f"{spec.recipe.steps:,} x {spec.recipe.batch_size:,}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def _initial_weights(spec: PretrainingSpec) -> str:
    start = spec.start
    weights = f"`{start.model or start.recipe}`" if start else "random weights"
    step = f" at {start.step:,}" if start and start.step else ""
    return weights + step + (f", taught by `{spec.teacher}`" if spec.teacher else "")


def _objective(objective: Objective) -> str:
    """Return masking, pairs, and what differs from a masked language model of single documents."""
    last = objective.final_masking_rate
    return ", ".join(
        [
            objective.masking,
            objective.pairs,
            *(["full"] if objective.sequences == "full" else []),
            *(name for name in OBJECTIVES if getattr(objective, name)),
            *([f"{objective.masking_rate:.0%} to {last:.0%}"] if last else []),
        ]
    )


def costs(specs: Specs) -> str:
    """Return the table of what each recipe costs, at the measured share of a GPU's peak."""
    graph = checked_graph(Study(study="recipes", title="", scale="full", tables=()), specs)
    gpus = read_gpus(ROOT / "specs", ROOT / "benchmarks")
    return "\n".join(recipes_as_markdown(recipes_at_full(graph, gpus), gpus)) + "\n"


def table_in(page: Path, table: str) -> re.Match[str]:
    """Return the table of a page that has the heading of `table`."""
    found = re.search(re.escape(table.split("\n", 1)[0]) + r"\n(?:\|.*\n)+", page.read_text(encoding="utf-8"))
    assert found, f"{page.name} lacks the table whose first line is {table.split(chr(10), 1)[0]}"
    return found


def pages() -> dict[Path, str]:
    """Return the tables by page."""
    specs = load(ROOT / "specs", "full")
    return {DESCRIPTIONS: descriptions(specs), COSTS: costs(specs)}


if __name__ == "__main__":
    for page, table in pages().items():
        if "--write" in sys.argv[1:]:
            found = table_in(page, table)
            page.write_text(found.string[: found.start()] + table + found.string[found.end() :])
        print(table)
