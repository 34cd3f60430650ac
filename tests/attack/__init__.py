"""Attacks on pubmill: faults that are tried many times over, and how many of them it survives.

    make attack                                     every attack, with its usual number of cases
    python -m tests.attack                          the same
    python -m tests.attack medline yaml --cases 200000 --seed 7

Each module of this package defines `ATTACKS`, and so does a module of an extra's tests whose name ends in
`_attacks`. Adding one there is enough: `python -m tests.attack` runs it, `tests/unit/test_attacks.py` runs a
few of its cases in the ordinary tests and up to 50 in `make test-all`.
Attacks are bounded and reach no other machine; docs/reliability.md describes them.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.world.dice import Dice


@dataclass(frozen=True)
class Attack:
    """A class of faults.

    Attributes:
        name: How it is called on the command line: lower case, hyphens.
        fault: What is done, for the table.
        survived: What must hold afterwards, for the table.
        case: Try one case in an empty folder; return what went wrong, or an empty string if it was survived.
            An exception counts as not survived.
        cases: How many cases `make attack` tries; `make test-all` tries a tenth of them, at most 50.
        quick: How many the ordinary tests try.
        absent: Why it cannot run on this machine; empty if it can.
    """

    name: str
    fault: str
    survived: str
    case: Callable[[Dice, Path], str]
    cases: int
    quick: int = 5
    absent: Callable[[], str] = lambda: ""


def attacks() -> dict[str, Attack]:
    """Every attack by name, from all modules of this package and from those of the extras that are there."""
    from tests.unit import extras

    own = sorted(module.name for module in pkgutil.iter_modules(__path__, f"{__name__}."))
    of_extras = [module.name for module in pkgutil.walk_packages(extras.__path__, f"{extras.__name__}.")]
    names = [*own, *(name for name in of_extras if name.endswith("_attacks"))]
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    return {attack.name: attack for module in modules for attack in getattr(module, "ATTACKS", ())}
