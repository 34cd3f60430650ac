"""Run the cases of an attack and count those that were survived."""

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.attack import Attack
from tests.world.dice import Dice

SHOWN = 5
"""How many failures of one attack are described; the rest is counted."""


@dataclass
class Tally:
    """Results of the cases of one attack."""

    attack: Attack
    tried: int = 0
    survived: int = 0
    failures: list[str] = field(default_factory=list)


def run(attack: Attack, seed: int, cases: Iterable[int]) -> Tally:
    """Run the numbered cases of an attack, each with its own dice, so that any case can be repeated alone."""
    tally = Tally(attack)
    for case in cases:
        tally.tried += 1
        failure = _one(attack, seed, case)
        if failure:
            tally.failures.append(f"{attack.name}, seed {seed}, case {case}: {failure}")
        else:
            tally.survived += 1
    return tally


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


def _one(attack: Attack, seed: int, case: int) -> str:
    folder = Path(tempfile.mkdtemp(prefix=f"attack-{attack.name}-"))
    try:
        return attack.case(Dice(seed * 1_000_003 + case), folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def rows(tallies: Iterable[Tally]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = ["| attack | fault | survived if | tried | survived |", "|---|---|---|---:|---:|"]
    for tally in tallies:
        attack = tally.attack
        lines.append(
            f"| `{attack.name}` | {attack.fault} | {attack.survived} | {tally.tried:,} | {tally.survived:,} |"
        )
    return lines
