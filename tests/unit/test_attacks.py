"""Attacks are survived: a few cases of each in the ordinary tests, hundreds in `make test-all`."""

import pytest

from tests.attack import Attack, attacks
from tests.attack.running import SHOWN, run

MOST, PART = 50, 10
"""Most cases of an attack in the long tests, and their part of those of `make attack`, which are fewer
where a case takes long."""
SLOW = ("archive-", "changed-code", "killed-writers", "power-cuts", "spec-names")
EVERY = [pytest.param(attack, id=name) for name, attack in attacks().items()]


def more(attack: Attack) -> range:
    """Return the cases of the long tests after the few of the ordinary ones."""
    return range(attack.quick, min(-(-attack.cases // PART), MOST))


def check(attack: Attack, cases: range) -> None:
    if reason := attack.absent():
        pytest.skip(reason)
    tally = run(attack, 1, cases)
    assert not tally.failures, "\n".join(tally.failures[:SHOWN])


@pytest.mark.parametrize("attack", EVERY)
def test_a_few_cases_are_survived(attack: Attack) -> None:
    check(attack, range(attack.quick))


@pytest.mark.long
@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(attack, id=name, marks=[pytest.mark.weekly] if name.startswith(SLOW) else ())
        for name, attack in attacks().items()
        if more(attack)
    ],
)
def test_many_cases_are_survived(attack: Attack) -> None:
    check(attack, more(attack))
