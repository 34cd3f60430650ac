"""Tables of the pretraining recipes, made from the specs, for the page docs/reference/recipes.md."""

from pathlib import Path

from pubmill.planning.plan import recipes_at_full
from pubmill.planning.plan_printing import recipes_as_markdown
from pubmill.recipes import Objective
from pubmill.recipes.objectives import OBJECTIVES
from pubmill.specs import Specs
from pubmill.specs.corpus_specs import PretrainingSpec
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from pubmill.stages.gpus import read_gpus

ROOT = Path(__file__).resolve().parents[1]
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
