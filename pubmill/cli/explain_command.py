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
    row: Annotated[str, typer.Argument(help="key or label of a row, or its beginning")],
    column: Annotated[str, typer.Argument(help="key or label of a column, or its beginning")],
    study: StudyOption = DEMO,
) -> None:
    """Explain where a cell comes from, down to the source files.

    Prints its runs, recipe, data and weights; for an empty cell, also what is missing.
    """
    checkout()
    words = sort_words(context.args)
    files = [*study_files(study), *words.configfiles]
    table = table if "/" in table else table_of_study(table, configuration(files, words.settings))
    options = commands.configuration_options(files, words.settings)
    start_script("explain", table, row, column, *options, *words.options)
