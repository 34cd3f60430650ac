"""`pubmill check`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.cli.studies import StudyOption, sort_words, study_files
from pubmill.messages import commands
from pubmill.specs.study import DEMO


def check(
    context: typer.Context,
    manuscript: Annotated[str, typer.Argument(help="main file of a manuscript in LaTeX")],
    study: StudyOption = DEMO,
) -> None:
    """Find numbers of a manuscript that its study's tables no longer have, and claims that no test supports.

    --json prints the findings as JSON. The status is 1 if there are any.
    """
    checkout()
    words = sort_words(context.args)
    options = commands.configuration_options([*study_files(study), *words.configfiles], words.settings)
    start_script("check", manuscript, *options, *words.options)
