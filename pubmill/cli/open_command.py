"""`pubmill open`."""

import webbrowser
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
            options = commands.configuration_options(files, config or ())
            make = commands.run_files(str(page), configuration=options)
            lines = [f"{page} does not exist yet. Make it: {make}"]
            if finished:
                command = commands.pubmill("open", study, finished[0])
                lines.append(f"Finished so far: {', '.join(finished)}. Open one: {command}")
            raise PubmillError("\n".join(lines))
        print(page)
        webbrowser.open(page.resolve().as_uri())


VERB = Verb("Look", open_page)
