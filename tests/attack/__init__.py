"""Attacks on pubmill: faults that are tried many times over, and how many of them it survives.

    make attack                                     every attack, with its usual number of cases
    python -m tests.attack                          the same
    python -m tests.attack medline yaml --cases 200000 --seed 7

A function with `@attack` in a module of this package, or of an extra's tests whose name ends in `_attacks`,
is enough: `python -m tests.attack` runs it, `tests/unit/test_attacks.py` runs a few of its cases in the
ordinary tests and up to 50 in `make test-all`. Its docstring says what is done and when it is survived.
Attacks are bounded and reach no other machine; docs/reliability.md describes them.
"""

import pkgutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.world.dice import Dice

Case = Callable[[Dice, Path], str]
"""Try one case in an empty folder; return what went wrong, or an empty string if it was survived. An
exception counts as not survived."""


@dataclass(frozen=True)
class Attack:
    """A class of faults.

    Attributes:
        name: How it is called on the command line: lower case, hyphens.
        cases: How many cases `make attack` tries; `make test-all` tries a tenth of them, at most 50.
        quick: How many the ordinary tests try.
        absent: Why it cannot run on this machine; empty if it can.
    """

    name: str
    case: Case
    cases: int
    quick: int
    absent: Callable[[], str]

    def failures(self, seed: int, cases: Iterable[int]) -> list[str]:
        """Run the numbered cases, each with its own dice, so that any case can be repeated alone."""
        found = {number: self._failure(Dice(seed * 1_000_003 + number)) for number in cases}
        return [f"{self.name}, seed {seed}, case {number}: {said}" for number, said in found.items() if said]

    def _failure(self, dice: Dice) -> str:
        with tempfile.TemporaryDirectory(prefix=f"attack-{self.name}-", ignore_cleanup_errors=True) as folder:
            try:
                return self.case(dice, Path(folder))
            except Exception as error:
                return f"{type(error).__name__}: {error}"


_KNOWN: dict[str, Attack] = {}


def attack(
    name: str, cases: int, quick: int = 5, absent: Callable[[], str] = lambda: ""
) -> Callable[[Case], Case]:
    def known(case: Case) -> Case:
        _KNOWN[name] = Attack(name, case, cases, quick, absent)
        return case

    return known


def attacks() -> dict[str, Attack]:
    """Every attack by name, from all modules of this package and from those of the extras that are there."""
    from tests.unit import extras

    own = [module.name for module in pkgutil.iter_modules(__path__, f"{__name__}.")]
    of_extras = [module.name for module in pkgutil.walk_packages(extras.__path__, f"{extras.__name__}.")]
    for name in [*own, *(name for name in of_extras if name.endswith("_attacks"))]:
        if not name.endswith("__main__"):
            import_module(name)
    return dict(sorted(_KNOWN.items()))


@cache
def _templates() -> tempfile.TemporaryDirectory[str]:
    """A folder that is removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="attack-templates-")


def template() -> Path:
    """An empty folder for what all cases of an attack begin with."""
    return Path(tempfile.mkdtemp(dir=_templates().name))


def flipped(content: bytes, dice: Dice) -> bytes:
    """Return the content with one bit changed."""
    place = dice.below(len(content) * 8)
    flip = content[place // 8] ^ 1 << place % 8
    return content[: place // 8] + bytes([flip]) + content[place // 8 + 1 :]
