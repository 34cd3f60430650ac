"""`pubmill track`."""

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.cli.studies import StudyName, sort_words, study_files
from pubmill.messages import commands


def track(context: typer.Context, study: StudyName) -> None:
    """Write the scored runs of a study into MLflow, with --mlflow URI.

    Each run has its recipe, scores and curves. The command can be repeated: only new and
    changed runs are written.
    """
    checkout()
    words = sort_words(context.args)
    options = commands.configuration_options([*study_files(study), *words.configfiles], words.settings)
    start_script("track", *options, *words.options)
