"""Findings in a manuscript: the place, what stands there, what the tables have, what to do."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, order=True)
class ManuscriptFault:
    """A fault of a manuscript.

    `line` and `position` count from 1. `kind`: a word for programs (`KINDS`); `found`: what stands there;
    `expected`: what the tables have; `to_do`: how to correct it.
    """

    file: str
    line: int
    position: int
    kind: str
    found: str
    expected: str
    to_do: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.position}"
        return f"{place}: {KINDS[self.kind]}: {self.found}; {self.expected}. {self.to_do}"


KINDS = {
    "stale": "number that is not the table's",
    "rounding": "wrongly rounded number",
    "bold": "wrong bold",
    "unknown": "unknown name",
    "empty": "cell without a value",
    "mark": "row that does not fit its mark",
    "macros": "old file of macros",
    "claim": "claim that no test supports",
}
"""Kind of a finding -> its name in a message."""


def as_json(findings: Sequence[ManuscriptFault]) -> str:
    """Return findings as JSON."""
    return json.dumps([asdict(one) for one in findings], indent=1, ensure_ascii=False) + "\n"
