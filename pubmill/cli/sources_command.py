"""`pubmill sources`."""

import tempfile
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError

Mirror = Annotated[str | None, typer.Option(help="folder with HOST/PATH, used instead of the network")]
APP = typer.Typer(no_args_is_help=True, help="List the files of PubMed or PMC on their servers.")


@APP.command("pmc")
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


@APP.command("pubmed")
def list_pubmed(
    mirror: Mirror = None,
    base: Annotated[
        str, typer.Option(help="URL of the folder with both folders")
    ] = "https://ftp.ncbi.nlm.nih.gov/pubmed",
) -> None:
    """List the PubMed files on the server, as YAML for a corpus spec.

    Comments state the number and bytes of files, gaps in their numbers, and files without an md5.
    """
    from pubmill.storage.listings import list_folder, pubmed_years

    lines = ["files:"]
    for folder in ("baseline", "updatefiles"):
        url = f"{base.rstrip('/')}/{folder}/"
        years = pubmed_years(list_folder(url, mirror))
        if not years:
            raise PubmillError(f"{url} lists no file named pubmedYYnNNNNN.xml.gz")
        lines += [f"  # {line}" for year in years for line in year.described(folder)]
        lines.append(f"  {folder}: [{', '.join(span for year in years for span in year.ranges())}]")
    print("\n".join(lines))


VERB = Verb("Data and predictions", APP)
