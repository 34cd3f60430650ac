"""`pubmill open`."""

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli import studies
from pubmill.cli.checkout import checkout
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.specs.study import DEMO


def open_page(
    study: studies.StudyName = DEMO,
    tables: Annotated[list[str] | None, typer.Argument(help="pages of tables; none for the report")] = None,
    configfile: studies.Configfiles = None,
    config: studies.Settings = None,
) -> None:
    """Open the report of a study, or the pages of tables: open gu2020 table06."""
    checkout()
    files = [*studies.study_files(study), *(configfile or ())]
    merged = studies.configuration(files, config)
    results = studies.paths(merged)
    pages = [results.table(studies.table_of_study(name, merged), "html") for name in tables or ()]
    for page in map(Path, pages or [results.report(merged["study"], "html")]):
        if not page.is_file():
            finished = [name for name in merged["tables"] if Path(results.table(name, "html")).is_file()]
            raise PubmillError(advice_for(page, files, config or ()) + finished_pages(study, finished))
        print(page)
        webbrowser.open(page.resolve().as_uri())


def finished_pages(study: str, tables: Sequence[str]) -> str:
    """Return a line on the finished tables of a study, with the command that opens one of them."""
    if not tables:
        return ""
    return f"\nFinished so far: {', '.join(tables)}. Open one: {commands.pubmill('open', study, tables[0])}"


def advice_for(page: Path, configfiles: Sequence[str], settings: Sequence[str]) -> str:
    """Return a message about a page that does not exist, with the command that makes it."""
    options = commands.configuration_options(configfiles, settings)
    return f"{page} does not exist yet. Make it: {commands.run_files(str(page), configuration=options)}"


VERB = Verb("Look", open_page)
