"""Command line of the attacks; see the package."""

import argparse
import sys

from tests.attack import attacks
from tests.attack.running import SHOWN, rows, run


def main() -> None:
    """Run the attacks asked for, print their table, and leave with status 1 unless all were survived."""
    known = attacks()
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="ATTACK", help="which attacks; all of them by default")
    parser.add_argument("--cases", type=int, help="cases of each attack instead of its usual number")
    parser.add_argument("--case", type=int, help="this one case alone, to repeat a failure")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - known.keys():
        parser.error(f"no attacks {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    tallies = []
    for attack in (known[name] for name in arguments.names or known):
        if reason := attack.absent():
            print(f"{attack.name}: not run: {reason}", file=sys.stderr, flush=True)
            continue
        one, most = arguments.case, arguments.cases or attack.cases
        tally = run(attack, arguments.seed, range(most) if one is None else range(one, one + 1))
        tallies.append(tally)
        lines = [f"{attack.name}: {tally.survived:,} of {tally.tried:,} survived", *tally.failures[:SHOWN]]
        print("\n  ".join(lines), file=sys.stderr, flush=True)
    print("\n".join(rows(tallies)))
    if any(tally.failures for tally in tallies):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
