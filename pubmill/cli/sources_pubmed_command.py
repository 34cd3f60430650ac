"""`pubmill sources pubmed`."""

from typing import Annotated

import typer

from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError

Mirror = Annotated[str | None, typer.Option(help="folder with HOST/PATH, used instead of the network")]


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


VERB = Verb("Data and predictions", list_pubmed)
