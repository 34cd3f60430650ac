"""Command line of the attacks; see the package."""

import argparse
import sys

from tests.attack import attacks

SHOWN = 5
"""How many failures of one attack are described; the rest is counted."""


def main() -> None:
    """Run the attacks asked for, and leave with status 1 unless all cases were survived."""
    known = attacks()
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="ATTACK", help="which attacks; all of them by default")
    parser.add_argument("--cases", type=int, help="cases of each attack instead of its usual number")
    parser.add_argument("--case", type=int, help="this one case alone, to repeat a failure")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - known.keys():
        parser.error(f"no attacks {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    failed = 0
    for attack in (known[name] for name in arguments.names or known):
        if reason := attack.absent():
            print(f"{attack.name}: not run: {reason}", flush=True)
            continue
        one, most = arguments.case, arguments.cases or attack.cases
        cases = range(most) if one is None else range(one, one + 1)
        failures = attack.failures(arguments.seed, cases)
        failed += len(failures)
        lines = [
            f"{attack.name}: {len(cases) - len(failures):,} of {len(cases):,} survived",
            *failures[:SHOWN],
        ]
        print("\n  ".join(lines), flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
