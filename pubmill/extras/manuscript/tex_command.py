"""`pubmill tex`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import Configfiles, Settings, StudyName, configured_graph
from pubmill.cli.verbs import Verb
from pubmill.storage.files import writing


def tex(
    study: StudyName,
    configfile: Configfiles = None,
    config: Settings = None,
    spread: Annotated[
        bool, typer.Option("--spread", help="tables: standard deviations over runs too")
    ] = False,
    published: Annotated[bool, typer.Option("--published", help="tables: published values too")] = False,
    output: Annotated[Path | None, typer.Option(help="folder to write; its other files are kept")] = None,
) -> None:
    r"""Write the numbers of a study's tables for a paper in LaTeX.

    cells.tex has the macros \cell, \cellspread, \cellpublished, \celldiff, \cellverdict, \cellexact and
    \celllink; PAPER-tableNN.tex has the table of our values, for each with any: without options the same as
    tableNN.tex beside the table's page.
    """
    checkout()
    from pubmill.extras.manuscript.cell_macros import MACROS_FILE, macros_text
    from pubmill.extras.manuscript.study_tables import finished_tables
    from pubmill.report.table_rendering import latex_table

    graph = configured_graph(study, configfile, config)
    finished = finished_tables(graph)
    texts = {MACROS_FILE: macros_text(finished.study, finished.scale, finished.tables)}
    texts |= {
        f"{name.replace('/', '-')}.tex": latex_table(table, spread=spread, published=published)
        for name, table in finished.tables.items()
        if any(cell.value is not None for *_, cell in table.read())
    }
    folder = output or Path(graph.paths.manuscript(finished.study))
    for name, text in texts.items():
        with writing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        print(folder / name)


VERB = Verb("Papers", tex)
