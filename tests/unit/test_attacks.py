"""Attacks are survived: a few cases of each in the ordinary tests, up to fifty in `make test-all`."""

import pytest

from tests.attack import Attack, attacks
from tests.attack.running import SHOWN, run

MOST, PART = 50, 10
"""Most cases of an attack in the weekly tests, and their part of those of `make attack`, which are fewer
where a case takes long."""
EVERY = [pytest.param(attack, id=name) for name, attack in attacks().items()]


def more(attack: Attack) -> range:
    """Return the cases of the weekly tests after the few of the ordinary ones."""
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
@pytest.mark.weekly
@pytest.mark.parametrize("name", [name for name, attack in attacks().items() if more(attack)])
def test_many_cases_are_survived(name: str) -> None:
    attack = attacks()[name]
    check(attack, more(attack))
