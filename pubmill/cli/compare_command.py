"""`pubmill compare`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli import studies
from pubmill.cli.checkout import checkout
from pubmill.cli.default_study import study_of_words
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages import commands


def compare(
    table: Annotated[str, typer.Argument(help="a finished table of the study, for example table06")],
    columns: Annotated[list[str], typer.Argument(help="keys or labels of two columns, or their beginnings")],
    study: studies.AnyStudy = None,
    configfile: studies.Configfiles = None,
    config: studies.Settings = None,
) -> None:
    """Test whether two models of a table differ, row by row.

    The test uses their stored predictions and resamples documents.
    """
    checkout()
    from pubmill.planning.terminal_tables import print_markdown
    from pubmill.report.table_rendering import COMPARISON_RENDERERS
    from pubmill.tables.cells import read_table
    from pubmill.tables.comparisons import comparisons, with_columns

    study = study_of_words(study, table, configfile, config)
    merged = studies.configuration([*studies.study_files(study), *(configfile or ())], config)
    results, name = studies.paths(merged), studies.table_of_study(table, merged)
    file = Path(results.table(name, "json"))
    if not file.is_file():
        raise PubmillError(f"{file} does not exist yet. Make it: {commands.pubmill('run', study, name)}")
    chosen = with_columns(read_table(file), columns)
    print_markdown(COMPARISON_RENDERERS["md"](comparisons(chosen, Path(results.results))))


VERB = Verb("Look", compare)
