"""Attacks on the saves of a pretraining that was interrupted: the same command ends with the same weights."""

import os
import shutil
import signal
from contextlib import redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path
from unittest import mock

from pubmill.errors import StopRequestedError
from pubmill.pretraining.engine import Pretraining
from tests.attack import Attack
from tests.attack.running import template
from tests.unit.pretraining.toy_pretraining import losses, make_data, pretrain, weights
from tests.world.dice import Dice

STEPS, ENDED = 20, 15


@cache
def data() -> Path:
    return make_data(template())


@cache
def whole() -> tuple[object, object]:
    """Weights and losses of the segment, undisturbed."""
    made = pretrain(data(), template() / "step", STEPS)
    return weights(made), losses(made)


@cache
def interrupted() -> Path:
    """A folder with the last two saves of the segment."""
    folder, update = template(), Pretraining.update

    def stop(self: Pretraining, step: int) -> dict[str, float]:
        if step + 1 == ENDED:
            os.kill(os.getpid(), signal.SIGTERM)
        return update(self, step)

    with mock.patch.object(Pretraining, "update", stop):
        try:
            pretrain(data(), folder / "step", STEPS, save_minutes=0)
        except StopRequestedError:
            return folder
    raise AssertionError("the segment did not stop")


def damage(dice: Dice, path: Path) -> None:
    """Flip a bit, cut the file, empty it or remove it."""
    content = bytearray(path.read_bytes())
    kind = dice.below(4)
    if kind == 0:
        place = dice.below(len(content) * 8)
        content[place // 8] ^= 1 << place % 8
    elif kind == 1:
        content = content[: dice.below(len(content))]
    elif kind == 2:
        content = bytearray()
    path.write_bytes(content)
    if kind == 3:
        path.unlink()


def damaged(dice: Dice, folder: Path) -> str:
    """Damage a file of the last save, of the one before, or of both; then run the same command again."""
    with redirect_stderr(StringIO()) as said:
        expected = whole()
        shutil.copytree(interrupted(), folder, dirs_exist_ok=True)
        last, before = (folder / ".step.partial" / f"step-{step}" for step in (ENDED, ENDED - 1))
        for save in dice.pick(((last,), (last,), (before,), (last, before))):
            damage(dice, dice.pick(sorted(save.iterdir())))
        made = pretrain(data(), folder / "step", STEPS)
    return "" if (weights(made), losses(made)) == expected else f"other weights; {said.getvalue()[-200:]}"


ATTACKS = (
    Attack(
        name="damaged-saves",
        fault="a file of the last saves of a pretraining is flipped, cut, emptied or removed",
        survived="the same command ends with the same weights and losses, bit for bit", case=damaged,
        cases=12, quick=2,
    ),
)  # fmt: skip
