"""Attacks on the proof of a study: changed bytes, and forged numbers with hashes that fit."""

import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

from pubmill.extras.proof.verifier import command, verification
from pubmill.extras.proof.verifier.container import unpack
from pubmill.storage.result_paths import BELOW
from tests.attack import Attack
from tests.attack.running import template
from tests.unit.extras.proof import toy_proof
from tests.world.dice import Dice

UNCHECKED = ("seconds", "number")
"""Numbers that no score follows from: durations of runs, and the number in a table's name."""
FORGED = {
    f"tables/{toy_proof.TABLE}.json.gz": "cells",
    f"tables/{toy_proof.TABLE}.comparisons.json.gz": "rows",
    f"tables/{toy_proof.TABLE}.basis.json.gz": "ranks",
    "runs.json.gz": "runs",
}
"""Member -> its key with numbers that are recomputed."""


@cache
def honest() -> bytes:
    results = toy_proof.make(template())
    return (results / BELOW.proof("toy")).read_bytes()


def answer(data: bytes, folder: Path) -> str:
    """Run the command on a proof; return what it said if it did not refuse."""
    path = folder / "toy.proof.zip"
    path.write_bytes(data)
    verification.proof_at.cache_clear()
    with (
        redirect_stdout(StringIO()) as said,
        redirect_stderr(StringIO()) as refused,
        mock.patch.object(sys, "argv", ["verify.py", str(path), "--jobs", "1"]),
    ):
        status = command.main()
    is_refused = (
        status == 1 and refused.getvalue().startswith("REFUSED") and "VERIFIED" not in said.getvalue()
    )
    return "" if is_refused else f"not refused: {said.getvalue()}{refused.getvalue()}"


def flipped_byte(dice: Dice, folder: Path) -> str:
    """Change one byte anywhere in the archive to another value."""
    data = bytearray(honest())
    place = dice.below(len(data))
    data[place] = (data[place] + 1 + dice.below(255)) % 256
    said = answer(bytes(data), folder)
    return said and f"byte {place}: {said}"


def numbers_in(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the containers and keys of all numbers that are recomputed."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in pairs:
        if isinstance(value, dict | list):
            yield from numbers_in(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and key not in UNCHECKED:
            yield content, key


def metrics_of_runs(runs: dict[str, Any]) -> dict[str, Any]:
    return {path: run["metrics"] for path, run in runs.items()}


def forged_number(dice: Dice, folder: Path) -> str:
    """Change one shown number by a thousandth, or a whole one by 1, and make all hashes fit again."""
    member = dice.pick(sorted(FORGED))
    where = ""

    def forge(content: Any) -> None:
        nonlocal where
        part = content[FORGED[member]]
        part = metrics_of_runs(part) if member == "runs.json.gz" else part
        holder, key = dice.pick(list(numbers_in(part)))
        old = holder[key]
        holder[key] = old + 1 if isinstance(old, int) else old + 0.001 * max(abs(old), 0.001)
        where = f"{member}, {key}: {old} became {holder[key]}"

    said = answer(toy_proof.edited(honest(), member, forge), folder)
    return said and f"{where}: {said}"


def edited_program(dice: Dice, folder: Path) -> str:
    """Change one byte of the archive's verify.py; a trusted copy checks it."""
    data = bytearray(honest())
    program = unpack(honest())["verify.py"]
    place = honest().index(program) + dice.below(len(program))
    data[place] ^= 1 << dice.below(8)
    return answer(bytes(data), folder)


ATTACKS = (
    Attack(
        name="proof-bytes",
        fault="one byte of a study's proof is changed: headers, names, contents, hashes, its program",
        survived="verify.py refuses the proof",
        case=flipped_byte,
        cases=10_000,
        quick=20,
    ),
    Attack(
        name="proof-program",
        fault="one bit of the verify.py in a proof is flipped; a trusted copy checks the proof",
        survived="the trusted copy refuses the proof",
        case=edited_program,
        cases=1_000,
        quick=5,
    ),
    Attack(
        name="proof-numbers",
        fault="one number of a proof's tables, tests, ranks or metrics is forged, and all hashes made to fit",
        survived="verify.py refuses the proof, because the number does not follow from the counts",
        case=forged_number,
        cases=500,
        quick=5,
    ),
)
