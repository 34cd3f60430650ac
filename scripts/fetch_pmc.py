"""Fetch the articles of one shard of PMC's bucket into one archive.

    .venv/bin/python scripts/fetch_pmc.py --plan PLAN.parquet --shard PMC00123xxxx --url URL \\
        --output SHARD.tar.gz
                                [--mirror DIR]

Inputs: the plan (scripts/plan_pmc.py), and the articles' JSON and XML below URL, a few at a time, each
checked by its md5; with --mirror, below DIR/HOST/PATH.
Outputs: SHARD.tar.gz, and SHARD.tar.gz.source.json (articles, those gone or without XML, time). An
interrupted job leaves its articles in SHARD.tar.gz.part, which the same command resumes.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.corpus.pmc import fetch_shard
from pubmill.errors import run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plan", required=True, type=Path, help="the plan of the inventory (parquet)")
    parser.add_argument("--shard", required=True, help="for example PMC00123xxxx")
    parser.add_argument("--url", required=True, help="the bucket")
    parser.add_argument("--output", required=True, type=Path, help="the archive (tar.gz) to write")
    parser.add_argument("--mirror", help="folder that holds HOST/PATH, used instead of the network")
    args = parser.parse_args()
    record = fetch_shard(args.output, args.plan, args.shard, args.url, args.mirror)
    print(
        f"{args.shard}: {record['articles']} articles, {len(record['without_xml'])} of them without XML, "
        f"{len(record['gone'])} gone"
    )


if __name__ == "__main__":
    run(main)
