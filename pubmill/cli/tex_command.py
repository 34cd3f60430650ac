"""`pubmill tex`."""

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.cli.studies import StudyName, sort_words, study_files
from pubmill.messages import commands


def tex(context: typer.Context, study: StudyName) -> None:
    r"""Write the numbers of a study's tables for a paper in LaTeX.

    They are macros such as \cell, and tabulars. --output FOLDER writes them into a manuscript's folder.
    """
    checkout()
    words = sort_words(context.args)
    options = commands.configuration_options([*study_files(study), *words.configfiles], words.settings)
    start_script("tex", *options, *words.options)
