"""`pubmill check`."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import Configfiles, Settings, StudyOption, configured_graph
from pubmill.cli.verbs import Verb
from pubmill.messages.wording import escape_controls
from pubmill.specs.study import DEMO


def check(
    manuscript: Annotated[Path, typer.Argument(help="main file of a manuscript in LaTeX")],
    study: StudyOption = DEMO,
    configfile: Configfiles = None,
    config: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON")] = False,
) -> None:
    """Find numbers and claims of a paper that its tables don't support.

    Prints a line for each finding: its place, what stands there, what the finished tables of the study have,
    and what to do. The status is 1 if there is any.
    """
    checkout()
    from pubmill.extras.manuscript.manuscript_check import check_manuscript
    from pubmill.extras.manuscript.study_tables import finished_tables
    from pubmill.planning.terminal_tables import print_text

    tables = finished_tables(configured_graph(study, configfile, config))
    findings, notes = check_manuscript(manuscript, tables)
    for note in notes:
        print(f"note: {escape_controls(note)}", file=sys.stderr)
    if as_json:
        print(json.dumps([asdict(one) for one in findings], indent=1, ensure_ascii=False))
    else:
        for finding in findings:
            print_text(escape_controls(str(finding)))
        print(f"findings: {len(findings)}, against the tables of {study}", file=sys.stderr)
    if findings:
        raise typer.Exit(1)


VERB = Verb("Papers", check)
