"""A sound manuscript, and what reads it."""

from functools import cache
from typing import Any

from pubmill.extras.manuscript.manuscript_check import check_manuscript
from tests.attack.sound_files import reader
from tests.unit.extras.manuscript.made_up_study import made_up_study
from tests.world.dice import Dice

MANUSCRIPT = (
    "\\documentclass{a}\n\\begin{document}Naïve 12.5\\% (\\verb|x|)\n\\begin{tabular}{ll} a & 81.5 \\\\ "
    "\\end{tabular} % pubmill: x\n\\input{other}\\end{document}\n"
)


@cache
def _study() -> Any:
    return made_up_study(Dice(1)).tables


READERS = (reader("main.tex", MANUSCRIPT, lambda path: check_manuscript(path, _study()).notes),)
