"""`pubmill open`."""

import webbrowser
from collections.abc import Sequence
from pathlib import Path

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import (
    StudyName,
    configuration,
    paths,
    sort_words,
    study_files,
    table_of_study,
)
from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.specs.study import DEMO


def open_page(
    context: typer.Context,
    study: StudyName = DEMO,
) -> None:
    """Open the report of a study in the browser, or the page of a table: pubmill open gu2020 table06."""
    checkout()
    words = sort_words(context.args)
    files = study_files(study)
    config = configuration([*files, *words.configfiles], words.settings)
    results = paths(config)
    pages = [results.table(table_of_study(name, config), "html") for name in words.names]
    for page in map(Path, pages or [results.report(config["study"], "html")]):
        if not page.is_file():
            raise PubmillError(advice_for(page, files, words.settings))
        print(page)
        webbrowser.open(page.resolve().as_uri())


def advice_for(page: Path, configfiles: Sequence[str], settings: Sequence[str]) -> str:
    """Return a message about a page that does not exist, with the command that makes it."""
    options = commands.configuration_options(configfiles, settings)
    return f"{page} does not exist yet. Make it: {commands.snakemake(str(page), configuration=options)}"
