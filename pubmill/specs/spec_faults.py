"""Mistakes in specs, a line each."""

from collections.abc import Iterable
from pathlib import Path

from pubmill.errors import PubmillError

INCLUDES = " includes "
"""Separates the line of an `include:` from the line of the key in the included file."""
UNREADABLE = ": not valid YAML"


class SpecFaultsError(PubmillError):
    """All mistakes in the specs of a folder."""

    def __init__(self, folder: Path, mistakes: Iterable[str]) -> None:
        self.lines = _without_repeats(mistakes)
        super().__init__("\n".join([f"{len(self.lines)} mistake(s) in {folder}:", *self.lines]))


def _without_repeats(lines: Iterable[str]) -> list[str]:
    """Return each mistake once: those of an included spec are not repeated for the specs that include it, and
    a file that is not YAML has no others."""
    faults = dict.fromkeys(lines)
    unreadable = {_file(line) for line in faults if UNREADABLE in line}
    return [
        line
        for line in faults
        if line.partition(INCLUDES)[2] not in faults and (UNREADABLE in line or _file(line) not in unreadable)
    ]


def _file(line: str) -> str:
    return line.partition(":")[0]
