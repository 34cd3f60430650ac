"""List the articles in PMC's bucket from the inventory of one day.

    .venv/bin/python scripts/plan_pmc.py --url URL --inventory YYYY-MM-DD --output PLAN.parquet [--mirror DIR]

Inputs: the inventory's manifest and files below URL; with --mirror, below DIR/HOST/PATH.
Output: PLAN.parquet with pmcid, version, etag and modified of the latest version of each article.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.pmc import write_plan
from pubmill.errors import run
from pubmill.recipes.programs import program


def main(
    url: Annotated[str, "URL of the bucket"],
    inventory: Annotated[str, "day of the inventory, YYYY-MM-DD"],
    output: Annotated[Path, "the plan (parquet) to write"],
    mirror: Annotated[str | None, "folder that holds HOST/PATH, used instead of the network"] = None,
) -> None:
    articles = write_plan(output, url, inventory, mirror)
    print(f"inventory of {inventory}: {articles:,} articles")


if __name__ == "__main__":
    run(program(main))
