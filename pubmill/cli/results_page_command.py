"""`pubmill results page`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import Settings, configured_graph, study_names
from pubmill.cli.verbs import Verb
from pubmill.storage.files import writing


def write_results_page(
    studies: Annotated[
        list[str], typer.Argument(metavar="STUDY...", help="names or files", autocompletion=study_names)
    ],
    output: Annotated[Path, typer.Option(help="page to write, PAGE.md")],
    config: Settings = None,
) -> None:
    """Write a page in Markdown on finished studies: tables, machines and durations.

    A forest plot of each table goes into a folder beside the page that is named like it.
    """
    checkout()
    from pubmill.report.results_page import read_result, render

    graphs = [configured_graph(name, None, config) for name in studies]
    shown = [read_result(one.report.results(), Path(one.results), one.study.local_files) for one in graphs]
    folder = output.with_suffix("")
    figures = {
        folder / one.figure_file(table): table.figure for one in shown for table in one.tables if table.figure
    }
    for path, text in {**figures, output: render(shown, folder.name)}.items():
        with writing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


VERB = Verb("Papers", write_results_page)
