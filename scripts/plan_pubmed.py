"""Estimate the cost of downloading and reading the PubMed files of a corpus, without doing it.

    .venv/bin/python scripts/plan_pubmed.py --corpus pubmed-abstracts [--scale full] [--mirror DIR] \\
        [--cores 2]
                                  [--megabits 100]

Inputs: the corpus's spec; the listings of its folders, over HTTPS or in DIR/HOST/PATH.
Output: on standard output, the files, their bytes as far as the server lists them, missing files, and hours.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import PubmillError, run
from pubmill.planning.pubmed_plan import plan
from pubmill.specs import PubmedSource, load, scales

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description="What reading a corpus's PubMed files will cost.")
    parser.add_argument("--corpus", required=True, help="name of a spec in specs/corpora")
    parser.add_argument("--scale", default="full", choices=scales(ROOT / "specs"))
    parser.add_argument("--mirror", help="folder that holds HOST/PATH, used instead of the network")
    parser.add_argument("--cores", type=int, default=2, help="number of parallel jobs")
    parser.add_argument("--megabits", type=float, default=100, help="speed of the connection, per second")
    arguments = parser.parse_args()
    corpora = load(ROOT / "specs", arguments.scale).corpora
    if arguments.corpus not in corpora:
        raise PubmillError(
            f"no corpus {arguments.corpus!r} at scale {arguments.scale}; the corpora are {sorted(corpora)}"
        )
    sources = [source for source in corpora[arguments.corpus].sources if isinstance(source, PubmedSource)]
    for source in sources:
        print("\n".join(plan(source, arguments.mirror).lines(arguments.cores, arguments.megabits)))
    if not sources:
        print(f"{arguments.corpus} has no source of kind pubmed")


if __name__ == "__main__":
    run(main)
