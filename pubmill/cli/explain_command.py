"""`pubmill explain`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.cli.studies import StudyOption, sort_words, study_files, table_names
from pubmill.messages import commands
from pubmill.specs.study import DEMO


def explain(
    context: typer.Context,
    table: Annotated[str, typer.Argument(help="for example gu2020/table06", autocompletion=table_names)],
    row: Annotated[str, typer.Argument(help="key or label of a row, or its beginning")],
    column: Annotated[str, typer.Argument(help="key or label of a column, or its beginning")],
    study: StudyOption = DEMO,
) -> None:
    """Explain where a cell comes from: runs, recipe, data and weights, down to the source files."""
    checkout()
    words = sort_words(context.args)
    files = [*study_files(study), *words.configfiles]
    options = commands.configuration_options(files, words.settings)
    start_script("explain", table, row, column, *options, *words.options)
