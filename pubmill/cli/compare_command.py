"""`pubmill compare`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.cli.studies import (
    StudyOption,
    configuration,
    paths,
    sort_words,
    study_files,
    table_of_study,
)
from pubmill.specs.study import DEMO


def compare(
    context: typer.Context,
    table: Annotated[str, typer.Argument(help="a finished table of the study, for example table06")],
    first: Annotated[str, typer.Argument(help="key or label of a column, or its beginning")],
    second: Annotated[str, typer.Argument(help="another one")],
    study: StudyOption = DEMO,
) -> None:
    """Test whether two models of a table differ, row by row.

    The test uses their stored predictions and resamples documents.
    """
    checkout()
    words = sort_words(context.args)
    config = configuration([*study_files(study), *words.configfiles], words.settings)
    results = paths(config)
    page = results.table(table_of_study(table, config), "json")
    given = ["--table", page, "--results", results.results, "--columns", first, second]
    start_script("compare", *given, *words.options)
