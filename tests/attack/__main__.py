"""Command line of the attacks; see the package."""

import argparse
import sys
from difflib import get_close_matches

from tests.attack import Attack, attacks
from tests.attack.running import SHOWN, Tally, rows, run


def main() -> None:
    """Run the attacks asked for, print their table, and leave with status 1 unless all were survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="ATTACK", help="which attacks; all of them by default")
    parser.add_argument("--cases", type=int, help="cases of each attack instead of its usual number")
    parser.add_argument("--case", type=int, help="this one case alone, to repeat a failure")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tallies = []
    for attack in _chosen(parser, arguments.names):
        if reason := attack.absent():
            print(f"{attack.name}: not run: {reason}", file=sys.stderr, flush=True)
            continue
        numbers = (
            range(arguments.cases or attack.cases)
            if arguments.case is None
            else range(arguments.case, arguments.case + 1)
        )
        tallies.append(run(attack, arguments.seed, numbers))
        _report(tallies[-1])
    print("\n".join(rows(tallies)))
    if any(tally.failures for tally in tallies):
        raise SystemExit(1)


def _chosen(parser: argparse.ArgumentParser, names: list[str]) -> list[Attack]:
    known = attacks()
    for name in names:
        if name not in known:
            near = get_close_matches(name, known) or sorted(known)
            parser.error(f"no attack {name!r}; did you mean {', '.join(near)}?")
    return [known[name] for name in names or known]


def _report(tally: Tally) -> None:
    print(f"{tally.attack.name}: {tally.survived:,} of {tally.tried:,} survived", file=sys.stderr, flush=True)
    for failure in tally.failures[:SHOWN]:
        print(f"  {failure}", file=sys.stderr)
    if len(tally.failures) > SHOWN:
        print(f"  and {len(tally.failures) - SHOWN:,} more", file=sys.stderr)


if __name__ == "__main__":
    main()
