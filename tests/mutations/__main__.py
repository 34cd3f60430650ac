"""Command line of the mutation check; see the package."""

import argparse
import random
from pathlib import Path

from tests.mutations.points import mutations
from tests.mutations.trials import survivors

ROOT = Path(__file__).resolve().parents[2]
SHARE = 0.9
"""Share of mutations that must be caught."""


def main() -> None:
    """Try mutations, print the survivors and the share caught; leave with status 1 below 90 %."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=main.__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many, chosen at random")
    parser.add_argument("--seed", type=int, default=1, help="of the choice")
    parser.add_argument("--room", help="only modules of this folder of pubmill/")
    parser.add_argument("--only", metavar="FILE:LINE:NUMBER", help="one mutation")
    parser.add_argument("--jobs", type=int, default=1, help="how many at once")
    arguments = parser.parse_args()
    points = [
        point
        for path in sorted((ROOT / "pubmill" / (arguments.room or "")).rglob("*.py"))
        if path.parent.name != "pubmill"
        for point in mutations(ROOT, path.relative_to(ROOT))
        if arguments.only in (None, point.name)
    ]
    if not points:
        parser.error("nothing to mutate there")
    chosen = random.Random(arguments.seed).sample(points, min(arguments.count, len(points)))
    left = survivors(ROOT, chosen, arguments.jobs)
    for mutation in sorted(left, key=lambda one: (one.path, one.line)):
        print(f"survived: {mutation.name}\n    {mutation.old}\n  → {mutation.new}")
    caught = len(chosen) - len(left)
    print(f"{caught} of {len(chosen)} mutations caught ({caught / len(chosen):.1%})")
    if caught < SHARE * len(chosen):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
