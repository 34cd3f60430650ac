"""The verdict on a published value, by the rule of equivalence."""

import pytest

from pubmill.recipes.tables import Equivalence
from pubmill.statistics.equivalence import Uncertainty, equivalence_p
from pubmill.tables.verdicts import verdict_on

RULE = Equivalence(alpha=0.05, power=0.8, margins={}, runs={})


@pytest.mark.parametrize(
    ("difference", "error", "verdict"),
    [
        (0.1, 0.2, "reproduced"),
        (0.9, 0.05, "within the minimal detectable difference"),  # within the margin, which isn't shown
        (0.9, 0.01, "reproduced"),
        (1.05, 0.01, "not reproduced"),
        (2.0, 1.0, "within the minimal detectable difference"),
        (-2.0, 0.3, "not reproduced"),
    ],
)
def test_verdicts(difference: float, error: float, verdict: str) -> None:
    found = verdict_on(difference, Uncertainty(error, 4), 1.0, RULE)
    assert found.verdict == verdict
    assert found.p == equivalence_p(difference, Uncertainty(error, 4), 1.0)
    assert f"p = {found.p:.2g}" in found.why


def test_equal_scores_give_no_verdict_of_confidence() -> None:
    assert verdict_on(0.0, Uncertainty(0.0, 4), 1.0, RULE).verdict == "no verdict"
