"""The tokens of planned pretrainings are the budgets of the authors' configurations, in whole steps."""

import pytest

from pubmill.planning.plan import recipes_at_full
from pubmill.pretraining.arithmetic import operations_of_step
from pubmill.specs import Specs
from pubmill.specs.study import Study
from pubmill.stages import checked_graph, costs
from pubmill.stages.gpus import Gpus

BUDGETS = {
    "bioclinical-modernbert-base@phase1": 160_453_000_000, "bioclinical-modernbert-base": 8_247_337_000,
    "bioclinical-modernbert-base@bio": 50_735_000_000, "bioclinical-modernbert-large@phase1": 160_453_000_000,
    "bioclinical-modernbert-large": 8_247_337_000, "bioclinical-modernbert-large@bio": 50_735_000_000,
    "modernbert-bio-base@causal": 50_000_000_000, "modernbert-bio-base": 5_000_000_000,
    "modernbert-bio-base@causal-10b": 10_000_000_000, "modernbert-bio-base@10b": 1_000_000_000,
    "modernbert-bio-base@masked-phase1": 50_000_000_000, "modernbert-bio-base@masked": 5_000_000_000,
    "modernbert-bio-base@masked-10b-phase1": 10_000_000_000, "modernbert-bio-base@masked-10b": 1_000_000_000,
    "modernbert-bio-large@causal": 50_000_000_000, "modernbert-bio-large": 5_000_000_000,
    "modernbert-bio-large@masked-phase1": 50_000_000_000, "modernbert-bio-large@masked": 5_000_000_000,
}  # fmt: skip
"""Recipe -> `max_duration` of its configuration in lindvalllab/BioClinical-ModernBERT@fb40fb6, or the budget
that arXiv 2605.12438 states."""
FIRST = [name for name in BUDGETS if "phase1" in name or "causal" in name]
FALLS = BUDGETS | dict.fromkeys(FIRST, 0) | {"bioclinical-modernbert-large": 2_749_112_000}
"""Recipe -> `t_decay`, the tokens over which its rate falls."""


@pytest.fixture(scope="module")
def planned(full_specs: Specs) -> dict[str, float]:
    """Tokens of each recipe: the plan's operations over those of a step, times the tokens of a step."""
    graph = checked_graph(Study(study="recipes", title="", scale="full", tables=()), full_specs)
    found = {}
    for training in recipes_at_full(graph, Gpus({"A": 1e12}, {"pretraining": 0.5, "finetuning": 0.25})):
        spec = full_specs.pretraining[training.name]
        step = operations_of_step(spec.recipe, costs.pieces_of(full_specs, spec.vocab))
        found[training.name] = training.operations / step * tokens_of_step(full_specs, training.name)
    return found


def tokens_of_step(full_specs: Specs, name: str) -> int:
    recipe = full_specs.pretraining[name].recipe
    return recipe.batch_size * recipe.sequence_length


@pytest.mark.parametrize("name", sorted(BUDGETS))
def test_a_phase_ends_with_the_step_that_passes_its_budget(
    name: str, full_specs: Specs, planned: dict[str, float]
) -> None:
    step = tokens_of_step(full_specs, name)
    assert 0 <= round(planned[name]) - BUDGETS[name] < step
    optimisation, steps = (
        full_specs.pretraining[name].recipe.optimisation, full_specs.pretraining[name].recipe.steps,
    )  # fmt: skip
    assert 0 <= round(optimisation.decay * steps) * step - FALLS[name] < step


def test_a_released_vocabulary_of_known_size_is_planned_with_it(full_specs: Specs) -> None:
    assert costs.pieces_of(full_specs, "modernbert") == 50_368 != costs.pieces_of(full_specs, "biobert-base")
