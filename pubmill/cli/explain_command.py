"""`pubmill explain`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.cli.studies import (
    StudyOption,
    configuration,
    sort_words,
    study_files,
    table_names,
    table_of_study,
)
from pubmill.messages import commands
from pubmill.specs.study import DEMO


def explain(
    context: typer.Context,
    table: Annotated[str, typer.Argument(help="for example gu2020/table06", autocompletion=table_names)],
    row: Annotated[str | None, typer.Argument(help="key or label of a row, or its beginning")] = None,
    column: Annotated[str | None, typer.Argument(help="key or label of a column, or its beginning")] = None,
    study: StudyOption = DEMO,
) -> None:
    """Explain where a cell comes from, or what differs in a table.

    Of a cell, prints runs, recipe, data and weights, down to the source files; for an empty cell, also what
    is missing. Of a table (no row and column), prints what differs from the paper, what is ours, and what the
    authors' program decides, with reasons.
    """
    checkout()
    words = sort_words(context.args)
    files = [*study_files(study), *words.configfiles]
    table = table if "/" in table else table_of_study(table, configuration(files, words.settings))
    options = commands.configuration_options(files, words.settings)
    cell = [word for word in (row, column) if word is not None]
    start_script("explain", table, *cell, *options, *words.options)
