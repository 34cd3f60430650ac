"""`pubmill explain`."""

from typing import Annotated

import typer

from pubmill.cli import studies
from pubmill.cli.checkout import checkout
from pubmill.cli.default_study import study_of_words
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.specs.study import DEMO


def explain(
    table: studies.TableName,
    row: Annotated[str | None, typer.Argument(help="key or label of a row, or its beginning")] = None,
    column: Annotated[str | None, typer.Argument(help="key or label of a column, or its beginning")] = None,
    study: studies.AnyStudy = None,
    configfile: studies.Configfiles = None,
    config: studies.Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Explain where a cell comes from, or what differs in a table.

    Of a cell, prints runs, recipe, data and weights, down to the source files; for an empty cell, also what
    is missing. Of a table (no row and column), prints what differs from the paper, what is ours, and what the
    authors' program decides, with reasons. The table itself need not exist.
    """
    checkout()
    from pubmill.inspection.explain import cell_explanations
    from pubmill.inspection.explain.explanation_printing import print_explanation, print_statements, to_json
    from pubmill.inspection.explain.table_statements import table_statements
    from pubmill.planning.terminal_tables import console

    if row and not column:
        raise PubmillError("COLUMN is missing: name ROW and COLUMN for a cell, neither for the whole table")
    needs_study = row or "/" not in table
    study = study_of_words(study, table, configfile, config) if needs_study else study or DEMO
    files = [*studies.study_files(study), *(configfile or ())]
    table = table if "/" in table else studies.table_of_study(table, studies.configuration(files, config))
    if row is None or column is None:
        statements = table_statements(studies.specs_folder(), table)
        print(to_json(statements)) if as_json else print_statements(console(), statements)
        return
    graph = studies.configured_graph(study, configfile, config)
    explainer = cell_explanations.Explainer(graph, studies.specs_folder(), tuple(files), tuple(config or ()))
    explanation = cell_explanations.explain(explainer, table, row, column)
    print(to_json(explanation)) if as_json else print_explanation(console(), explanation)


VERB = Verb("Look", explain)
