"""The command."""

from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import sys
import time
from typing import Mapping, Sequence

from pubmill.extras.proof.verifier.container import RefusedError, visible
from pubmill.extras.proof.verifier.verification import Proof, check_proof, proof_at

RECOMPUTED = ("cells", "verdicts", "tests", "rankings")


def described(proof: Proof, total: Mapping[str, int]) -> list[str]:
    """Return what was verified, and what a study may choose, in lines. Texts of the archive are quoted."""
    study, whole = proof.study, [proof.runs[record] for record in proof.scored]
    recipes = [proof.basis(name)["recipe"] for name in study["tables"]]
    rules = [recipe["equivalence"] for recipe in recipes]
    points = [one["points"] for rule in rules for one in rule["margins"].values()] or [0]
    alone = sorted({proof.sets[run["set"]]["dataset"] for run in whole if run["items"] is None})
    names = [f'"{visible(study[name])}"' for name in ("study", "title", "scale_title")]
    items = total["runs by their items"]
    numbers = ", ".join(f"{total[name]} {name}" for name in RECOMPUTED)
    left_out = sum(len(recipe["left_out"]) for recipe in recipes)
    return [
        f"study {', '.join(names)}",
        f"visited: {total['tables']} of {len(recipes)} tables, {total['test sets']} of {len(proof.sets)} "
        f"test sets, {total['runs']} of {len(whole)} runs with a score, all {len(proof.members)} members",
        f"recomputed: {numbers}; {items} runs by their items",
        f"by counts alone: {len(whole) - items} runs ({visible(', '.join(alone)) or 'of no dataset'})",
        f"as stated: {len(proof.runs) - len(whole)} failed runs, {left_out} reasons to leave out published "
        f"values, verdicts with margins of {min(points):g} to {max(points):g} points",
        *noticed(study.get("notices", {})),
    ]


def noticed(notices: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """Return the documents that were retracted or revised since their dataset was made, in lines."""
    return [
        f"as stated: PMID {visible(pmid)} of {visible(dataset)} is marked {visible(', '.join(marks))}"
        for dataset, known in notices.items()
        for pmid, marks in known.items()
    ]


def verified(path: str, digest: str, jobs: int) -> list[str]:
    """Return the lines that the command prints about a proof that holds."""
    own, start, data = pathlib.Path(__file__).read_bytes(), time.monotonic(), pathlib.Path(path).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if digest and found != digest.lower():
        raise RefusedError(f"its SHA-256 is {found}, not {digest}")
    total = check_proof(path, jobs)
    proof = proof_at(path)
    changed = proof.members["verify.py"] != own
    note = ["note: this verify.py is another one than that of the archive"] if changed else []
    took = f"VERIFIED in {time.monotonic() - start:.1f} s; SHA-256 {found}"
    return [*described(proof, total), *note, took]


def main() -> int:
    parser = argparse.ArgumentParser(description="Recompute every number of a proof and compare.")
    parser.add_argument("proof", help="the archive, STUDY.proof.zip")
    parser.add_argument("--sha256", help="digest that the archive must have", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    arguments = parser.parse_args()
    try:
        print("\n".join(verified(arguments.proof, arguments.sha256, arguments.jobs)))
    except (RefusedError, OSError) as error:
        print(f"REFUSED: {arguments.proof}: {visible(error)}", file=sys.stderr)
        return 1
    except Exception as error:
        kind = type(error).__name__
        print(f"REFUSED: {arguments.proof}: malformed content ({kind}: {visible(error)})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
