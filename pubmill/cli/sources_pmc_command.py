"""`pubmill sources pmc`."""

import tempfile
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.sources_pubmed_command import Mirror
from pubmill.cli.verbs import Verb


def list_pmc(
    inventory: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="day of the inventory")],
    mirror: Mirror = None,
    url: Annotated[str, typer.Option(help="the bucket")] = "https://pmc-oa-opendata.s3.amazonaws.com",
    digits: Annotated[
        int, typer.Option(min=1, max=9, help="digits of a shard; with 5, all PMC00123xxxx are one")
    ] = 5,
) -> None:
    """List the articles in PMC's bucket, as YAML for a corpus spec.

    Comments state the number of articles and shards.
    """
    from pubmill.corpus.pmc import count_by_shard, write_plan

    day = inventory.date().isoformat()
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "plan.parquet")
        articles = write_plan(plan, url, day, mirror)
        shards = count_by_shard(plan, digits)
    first, last = min(shards), max(shards)
    print(f"inventory: {day}")
    print(f"# {articles} articles in {len(shards)} shards, at most {max(shards.values())} in one")
    print(f"articles: [{first if first == last else f'{first}-{last}'}]")


VERB = Verb("Data and predictions", list_pmc)
