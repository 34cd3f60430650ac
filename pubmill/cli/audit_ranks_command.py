"""`pubmill audit ranks`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import TableName, specs_folder
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.storage.result_paths import BELOW


def ranks(
    table: TableName,
    results: Annotated[
        Path | None, typer.Option(help="results of a study with the finished table: rank its runs, too")
    ] = None,
) -> None:
    """Test which ranks of a table are resolved, by a paired bootstrap over datasets.

    With --results also by a study's own runs, over datasets, documents and seeds, and with CV* of the
    reproduction.
    """
    checkout()
    from pubmill.stages.study_graph import graph_of_all_tables
    from pubmill.tables.cells import read_table
    from pubmill.tables.ranks import as_text, rankings_of, rankings_of_runs
    from pubmill.tables.reproductions import reproductions, reproductions_as_text

    tables = {one.name: one for one in graph_of_all_tables(specs_folder()).audited_tables.all()}
    if table not in tables:
        raise PubmillError(unknown("table of results", table, list(tables)))
    rankings, why = rankings_of(tables[table], specs_folder())
    parts = ["By the published values", *map(as_text, rankings), *([f"not ranked: {why}"] if why else [])]
    if results:
        made = read_table(results / BELOW.table(table, "json"))
        rankings, why = rankings_of_runs(tables[table], made, results)
        parts += ["By the runs", *map(as_text, rankings), *([f"not ranked: {why}"] if why else [])]
        parts += ["Reproduction: CV* of {published, ours}", reproductions_as_text(reproductions(made))]
    print("\n\n".join(parts))


VERB = Verb("Papers", ranks)
