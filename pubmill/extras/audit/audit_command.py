"""`pubmill audit`."""

from typing import Annotated, Literal

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, Results, specs_folder
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown


def audit(
    table: Annotated[str | None, typer.Argument(help="only this table, for example gu2020/table06")] = None,
    value: Annotated[
        str | None, typer.Option(help="test one printed number, in per cent, such as 87.56")
    ] = None,
    metric: Annotated[str, typer.Option(help="with --value: accuracy, f1, recall or mrr")] = "accuracy",
    n: Annotated[
        int | None, typer.Option(help="with --value: items (accuracy), gold items (f1, recall) or questions")
    ] = None,
    runs: Annotated[int, typer.Option(help="with --value: number of runs")] = 1,
    aggregate: Annotated[
        Literal["mean", "median", "max"], typer.Option(help="with --value: how runs are combined")
    ] = "mean",
    results: Results = FULL,
) -> None:
    """Test which published numbers are possible.

    Every printed value of the papers' tables is tested against the test split, runs and digits that its paper
    states; values of a model on which papers disagree are listed; and equal or different values are compared
    with the runs that make them here. The findings are printed, and written to pages/audit below the results.
    """
    root = checkout()
    if value is not None:
        from pubmill.extras.audit.reachability import METRICS, report

        if n is None:
            raise PubmillError("--value needs --n, the number of items, gold items or questions")
        if metric not in METRICS:
            raise PubmillError(unknown("metric", metric, list(METRICS)))
        print(report(value, metric, n, runs, aggregate))
        return
    from pubmill.extras.audit import value_audit
    from pubmill.extras.audit.audit_stages import PAGE, AuditStage, graph_of_all_tables
    from pubmill.extras.audit.printed_values_of_runs import as_text, check_reasons, findings_on_runs
    from pubmill.messages.terminal_tables import print_text
    from pubmill.storage.checksums import write_formats

    folder = specs_folder()
    graph = graph_of_all_tables(folder)
    recipe = graph.stage(AuditStage).recipe_of(None)
    known = [one.name for one in recipe.tables]
    if table is not None and table not in known:
        raise PubmillError(unknown("table of results of a paper", table, known))
    made = value_audit.audit(recipe, folder)
    shown = made if table is None else made.of_tables((table,))
    print_text(value_audit.findings_in_text(shown))
    of_runs = findings_on_runs(graph, folder)
    findings = [one for one in of_runs if table in (None, *(value.table for value in one.values))]
    print_text(as_text(findings))
    page = root / results / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    for path in write_formats(page, made, value_audit.AUDIT_RENDERERS):
        print(path)
    if table is None:
        check_reasons(findings, graph.specs)


VERB = Verb("Papers", audit)
