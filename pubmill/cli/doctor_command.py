"""`pubmill doctor`."""

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.cli.studies import StudyName, sort_words, study_files
from pubmill.messages import commands
from pubmill.specs.study import DEMO


def doctor(
    context: typer.Context,
    study: StudyName = DEMO,
) -> None:
    """Report which datasets and models of a study are available, and what to do for the others."""
    checkout()
    words = sort_words(context.args)
    files = [*study_files(study), *words.configfiles]
    start_script("doctor", *commands.configuration_options(files, words.settings), *words.options)
