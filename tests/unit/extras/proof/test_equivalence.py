"""Ends of the distributions that verdicts are computed from."""

import pytest

from pubmill.extras.proof.verifier.equivalence import (
    Uncertain,
    incomplete_beta,
    seeds_for_half_a_point,
    t_below,
    verdict_of,
)

RULE = {"alpha": 0.05, "power": 0.8}


@pytest.mark.parametrize(("x", "share"), [(-0.5, 0.0), (0.0, 0.0), (1.0, 1.0), (1.5, 1.0), (0.25, 0.25)])
def test_the_incomplete_beta_function_ends_at_0_and_1(x: float, share: float) -> None:
    assert incomplete_beta(1.0, 1.0, x) == pytest.approx(share, abs=1e-15)


def test_t_is_below_its_mean_in_half_of_all_cases() -> None:
    assert t_below(4.0, 0.0) == 0.5
    assert t_below(4.0, 1.0) + t_below(4.0, -1.0) == pytest.approx(1.0, abs=1e-15)
    assert t_below(1.0, 1.0) == pytest.approx(0.75)


def test_equal_runs_need_two_seeds_and_have_no_verdict() -> None:
    assert seeds_for_half_a_point(0.0, 0.05, 0.8) == 2
    for of in (None, Uncertain(0.0, 2)):
        assert verdict_of(1.0, of, 3.0, RULE)["verdict"] == "no verdict"


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [(0.0, "reproduced"), (-0.5, "reproduced"), (2.0, "within the minimal detectable difference"),
     (-9.0, "not reproduced"), (9.0, "not reproduced")],
)  # fmt: skip
def test_a_verdict_is_the_same_for_both_signs(difference: float, verdict: str) -> None:
    found = verdict_of(difference, Uncertain(1.0, 8), 3.0, RULE)
    assert (found["verdict"], found["margin"]) == (verdict, 3.0)
