"""Attacks are survived: a few cases of each in the ordinary tests, up to fifty in `make test-all`."""

import pytest

from tests.attack import Attack, attacks

MOST, PART = 50, 10
"""Most cases of an attack in the weekly tests, and their part of those of `make attack`, which are fewer
where a case takes long."""


def check(attack: Attack, cases: range) -> None:
    if reason := attack.absent():
        pytest.skip(reason)
    assert attack.failures(1, cases) == []


@pytest.mark.parametrize("name", attacks())
def test_a_few_cases_are_survived(name: str) -> None:
    check(attacks()[name], range(attacks()[name].quick))


LONG = {
    name: cases
    for name, attack in attacks().items()
    if (cases := range(attack.quick, min(-(-attack.cases // PART), MOST)))
}
"""The cases after the few of the ordinary tests."""


@pytest.mark.long
@pytest.mark.weekly
@pytest.mark.parametrize("name", LONG)
def test_many_cases_are_survived(name: str) -> None:
    check(attacks()[name], LONG[name])
