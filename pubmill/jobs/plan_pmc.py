"""List the latest version of each article in PMC's bucket (pmcid, version, etag, modified) from the inventory
of one day, YYYY-MM-DD."""

from pathlib import Path

from pubmill.corpus.pmc import write_plan


def main(url: str, inventory: str, output: Path, mirror: str | None = None) -> None:
    articles = write_plan(output, url, inventory, mirror)
    print(f"inventory of {inventory}: {articles:,} articles")
