"""List the articles in PMC's bucket, as YAML for a corpus spec.

    .venv/bin/python scripts/list_pmc.py --inventory YYYY-MM-DD [--mirror DIR] [--url URL] [--digits N]

Input: the inventory of that day below URL, over HTTPS or in DIR/HOST/PATH.
Output: on standard output, YAML for `inventory:` and `articles:` of a source of kind `pmc`; comments state
the number of articles and shards. N digits name a shard: with 5, all PMC00123xxxx are one shard.
"""

import argparse
import sys
import tempfile
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.corpus.pmc import count_by_shard, write_plan
from pubmill.errors import run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inventory", required=True, type=_day, help="day of the inventory, YYYY-MM-DD")
    parser.add_argument("--mirror", help="folder that holds HOST/PATH, used instead of the network")
    parser.add_argument("--url", default="https://pmc-oa-opendata.s3.amazonaws.com", help="the bucket")
    parser.add_argument("--digits", type=int, choices=range(1, 10), default=5, help="digits of a shard")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "plan.parquet")
        articles = write_plan(plan, args.url, args.inventory, args.mirror)
        shards = count_by_shard(plan, args.digits)
    first, last = min(shards), max(shards)
    print(f"inventory: {args.inventory}")
    print(f"# {articles} articles in {len(shards)} shards, at most {max(shards.values())} in one")
    print(f"articles: [{first if first == last else f'{first}-{last}'}]")


def _day(text: str) -> str:
    """Return a day as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a day, YYYY-MM-DD, found {text!r}") from None


if __name__ == "__main__":
    run(main)
