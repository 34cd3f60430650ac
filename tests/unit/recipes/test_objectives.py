"""What objectives add to a model, in networks, loss terms and passes."""

import pytest

from pubmill.recipes import Adversarial, Generator
from pubmill.recipes.objectives import Pass, Term


def test_a_generator_costs_a_step_of_its_own_and_the_model_computes_all_tokens() -> None:
    generator = Generator(hidden_size=8, attention_heads=1, intermediate_size=16)
    assert generator.passes == (Pass("model", 1.0, whole=True), Pass("generator", 1.0, whole=False))
    assert generator.networks() == {"generator": {"hidden": 8, "intermediate": 16}}
    assert generator.terms(()) == (
        Term("mlm", 1.0, "masked", chooses=True),
        Term("rtd", 50.0, "tokens", chooses=True),
    )
    assert generator.adds_weights


def test_an_adversarial_step_costs_three_passes_forward_and_five_in_place_of_two_back() -> None:
    """A plain step is one pass forward and one back, which costs as much as two forward."""
    [once] = Adversarial().passes
    assert once == Pass("model", once.plain_steps)
    assert once.plain_steps == pytest.approx((3 + 1 + 2 * 2) / (1 + 2))
