"""`pubmill sources cost`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.sources_pubmed_command import Mirror
from pubmill.cli.studies import specs_folder
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown


def cost(
    corpus: Annotated[str, typer.Argument(help="name of a spec in specs/corpora")],
    scale: Annotated[str, typer.Option(help="whose specs")] = "full",
    mirror: Mirror = None,
    cores: Annotated[int, typer.Option(help="number of parallel jobs")] = 2,
    megabits: Annotated[float, typer.Option(help="speed of the connection, per second")] = 100,
) -> None:
    """Estimate what downloading and reading a corpus's PubMed files will cost.

    Prints the files, their bytes as far as the server lists them, missing files, and hours.
    """
    checkout()
    from pubmill.planning.pubmed_plan import plan
    from pubmill.specs import PubmedSource, load, scales

    if scale not in scales(specs_folder()):
        raise PubmillError(unknown("scale", scale, scales(specs_folder())))
    corpora = load(specs_folder(), scale).corpora
    if corpus not in corpora:
        raise PubmillError(f"{unknown('corpus', corpus, list(corpora))}, at scale {scale}")
    sources = [source for source in corpora[corpus].sources if isinstance(source, PubmedSource)]
    for source in sources:
        print("\n".join(plan(source, mirror).lines(cores, megabits)))
    if not sources:
        print(f"{corpus} has no source of kind pubmed")


VERB = Verb("Data and predictions", cost)
