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
from tests.markdown_tables import table

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = "recipe|paper|initial weights|masking, pairs and more|corpus|vocabulary|steps x batch"


def descriptions(specs: Specs) -> str:
    """Return the table of what each recipe trains, and how."""
    rows = (
        (f"`{one.name}`", one.paper or "", _initial_weights(one), _objective(one.recipe.objective),
         f"`{one.corpus}`", f"`{one.vocab}`", f"{one.recipe.steps:,} x {one.recipe.batch_size:,}")
        for one in specs.pretraining.values()
    )  # fmt: skip
    return table(COLUMNS, rows)


def _initial_weights(spec: PretrainingSpec) -> str:
    start = spec.start
    weights = f"`{start.model or start.recipe}`" if start else "random weights"
    step = f" at {start.step:,}" if start and start.step else ""
    return weights + step + (f", taught by `{spec.teacher}`" if spec.teacher else "")


def _objective(objective: Objective) -> str:
    """Return masking, pairs, and what differs from a masked language model of single documents."""
    last = objective.final_masking_rate
    named = [name for name in OBJECTIVES if getattr(objective, name)]
    whole = ["full"] if objective.sequences == "full" else []
    rates = [f"{objective.masking_rate:.0%} to {last:.0%}"] if last else []
    return ", ".join([objective.masking, objective.pairs, *whole, *named, *rates])


def costs(specs: Specs) -> str:
    """Return the table of what each recipe costs, at the measured share of a GPU's peak."""
    graph = checked_graph(Study(study="recipes", title="", scale="full", tables=()), specs)
    gpus = read_gpus(ROOT / "specs", ROOT / "benchmarks")
    return "\n".join(recipes_as_markdown(recipes_at_full(graph, gpus), gpus)) + "\n"
