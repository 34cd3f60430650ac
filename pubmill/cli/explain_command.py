"""`pubmill explain`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli import studies
from pubmill.cli.checkout import checkout
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages import commands


def explain(
    table: studies.TableName,
    row: Annotated[str | None, typer.Argument(help="key or label of a row, or its beginning")] = None,
    column: Annotated[str | None, typer.Argument(help="key or label of a column, or its beginning")] = None,
    study: studies.AnyStudy = None,
    configfile: studies.Configfiles = None,
    config: studies.Settings = None,
    whole: Annotated[bool, typer.Option("--all", help="print everything, not one screen")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON, with everything")] = False,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="COLUMN COLUMN", help="test whether two columns of a finished table differ"),
    ] = None,
) -> None:
    """Explain a cell or a table, or compare two models of a table.

    Of a cell, prints its value, why it is as it is, its runs, recipe, search, data and weights, and what it
    depends on that differs from the paper or is ours; for an empty cell, also what is missing. Of a table (no
    row and column), prints what differs from the paper and what is ours, with reasons. What matters most
    comes first; --all prints the rest, down to the source files. The table itself need not exist, but for
    --compare: it tests two models row by row, on their stored predictions, resampling documents.
    """
    checkout()
    from pubmill.inspection.explain import cell_explanations
    from pubmill.inspection.explain.explanation_printing import print_explanation, print_statements, to_json
    from pubmill.inspection.explain.table_statements import table_statements
    from pubmill.messages.terminal_tables import console

    if compare:
        if row or whole:
            raise PubmillError("--compare is about a whole table: name no row, and leave out --all")
        from pubmill.messages.terminal_tables import print_markdown
        from pubmill.report.table_rendering import COMPARISON_RENDERERS
        from pubmill.tables.cells import read_table
        from pubmill.tables.comparisons import comparisons, with_columns

        study = studies.study_of_words(study, table, configfile, config)
        merged = studies.configuration([*studies.study_files(study), *(configfile or ())], config)
        results, name = studies.paths(merged), studies.table_of_study(table, merged)
        file = Path(results.table(name, "json"))
        if not file.is_file():
            raise PubmillError(f"{file} does not exist yet. Make it: {commands.pubmill('run', study, name)}")
        tests = comparisons(with_columns(read_table(file), compare), Path(results.results))
        form, show = ("json", print) if as_json else ("md", print_markdown)
        show(COMPARISON_RENDERERS[form](tests))
        return
    if "/" not in table:
        study = studies.study_of_words(study, table, configfile, config)
        files = [*studies.study_files(study), *(configfile or ())]
        table = studies.table_of_study(table, studies.configuration(files, config))
    if row is None:
        statements = table_statements(studies.specs_folder(), table)
        print(to_json(statements)) if as_json else print_statements(console(), statements, whole)
        return
    study, config = studies.with_added_model(study, table, [row, *filter(None, [column])], config)
    study = studies.study_of_words(study, table, configfile, config)
    graph = studies.configured_graph(study, configfile, config)
    if column is None:
        raise PubmillError(cell_explanations.missing_name(graph, table, row))
    files = [*studies.study_files(study), *(configfile or ())]
    explainer = cell_explanations.Explainer(graph, studies.specs_folder(), tuple(files), tuple(config))
    explanation = cell_explanations.explain(explainer, table, row, column)
    print(to_json(explanation)) if as_json else print_explanation(console(), explanation, whole)


VERB = Verb("Look", explain)
