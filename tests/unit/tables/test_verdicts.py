"""The verdict on a published value, by the rule of equivalence."""

import pytest

from pubmill.recipes.tables import Equivalence
from pubmill.statistics.equivalence import Uncertainty
from pubmill.tables.verdicts import verdict_on

RULE = Equivalence(alpha=0.05, power=0.8, margins={}, runs={})


def test_a_verdict_does_not_depend_on_the_sign_and_names_the_larger_limit() -> None:
    """With a standard error of 0.1 and many seeds, 0.28 is detected (2.8 standard errors)."""
    of = Uncertainty(0.1, 10_000)
    for sign in (1, -1):
        assert verdict_on(sign * 0.5, of, 1.0, RULE).verdict == "reproduced"
        wrong = verdict_on(sign * 1.5, of, 1.0, RULE)
        assert wrong.verdict == "not reproduced" and wrong.why.endswith("is above the margin, 1.00")
        open_ = verdict_on(sign * 0.95, of, 1.0, RULE)
        assert open_.verdict == "within the minimal detectable difference"
        assert open_.why.endswith("is not above the margin, 1.00")
        assert open_.why.startswith("a true difference of 1 or more is not rejected (p = 0.31)")
    small = verdict_on(0.2, of, 0.1, RULE)
    assert small.why.endswith("is not above the minimal detectable difference, 0.28")
    assert verdict_on(0.4, of, 0.1, RULE).verdict == "not reproduced"
    assert small.detectable == pytest.approx(0.28, abs=0.001) and small.margin == 0.1
