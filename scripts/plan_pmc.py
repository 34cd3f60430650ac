"""List the articles in PMC's bucket from the inventory of one day.

    .venv/bin/python scripts/plan_pmc.py --url URL --inventory YYYY-MM-DD --output PLAN.parquet [--mirror DIR]

Inputs: the inventory's manifest and files below URL; with --mirror, below DIR/HOST/PATH.
Output: PLAN.parquet with pmcid, version, etag and modified of the latest version of each article.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.corpus.pmc import write_plan
from pubmill.errors import run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True, help="URL of the bucket")
    parser.add_argument("--inventory", required=True, help="day of the inventory, YYYY-MM-DD")
    parser.add_argument("--output", required=True, type=Path, help="the plan (parquet) to write")
    parser.add_argument("--mirror", help="folder that holds HOST/PATH, used instead of the network")
    args = parser.parse_args()
    articles = write_plan(args.output, args.url, args.inventory, args.mirror)
    print(f"inventory of {args.inventory}: {articles:,} articles")


if __name__ == "__main__":
    run(main)
