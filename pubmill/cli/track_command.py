"""`pubmill track`."""

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.cli.studies import StudyName, sort_words, study_files
from pubmill.messages import commands


def track(context: typer.Context, study: StudyName) -> None:
    """Write a study's scored runs into MLflow (--mlflow URI): recipes, scores and curves.

    It can be repeated: only new and changed runs are written.
    """
    checkout()
    words = sort_words(context.args)
    options = commands.configuration_options([*study_files(study), *words.configfiles], words.settings)
    start_script("track", *options, *words.options)
