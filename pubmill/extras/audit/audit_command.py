"""`pubmill audit`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import specs_folder
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.storage.result_paths import BELOW

APP = typer.Typer(
    help="Test which published numbers are possible. Without a further word, tests all and writes a page."
)
PAGE = Path(BELOW.audit())
"""Path of the page, without extension."""


@APP.callback(invoke_without_command=True)
def audit(context: typer.Context) -> None:
    """Test which published numbers are possible.

    Without a further word, all published numbers are tested and a page is written.
    """
    checkout()
    if context.invoked_subcommand is None:
        page()


@APP.command()
def page(output: Annotated[Path, typer.Option(help="path of the page, without extension")] = PAGE) -> None:
    """Test every published value by the specs at full scale; write a page in every form."""
    from pubmill.extras.audit import value_audit
    from pubmill.extras.audit.audit_stages import audit_recipe
    from pubmill.storage.checksums import write_formats

    output.parent.mkdir(parents=True, exist_ok=True)
    audited = value_audit.audit(audit_recipe(specs_folder()), specs_folder())
    for path in write_formats(output, audited, value_audit.AUDIT_RENDERERS):
        print(path)


@APP.command()
def value(
    printed: Annotated[str, typer.Argument(help="the number as printed, in per cent, such as 87.56")],
    metric: Annotated[str, typer.Option(help="accuracy, f1, recall or mrr")],
    n: Annotated[int, typer.Option(help="items (accuracy), gold items (f1, recall) or questions (mrr)")],
    runs: Annotated[int, typer.Option(help="number of runs")] = 1,
    aggregate: Annotated[Literal["mean", "median", "max"], typer.Option(help="over runs")] = "mean",
) -> None:
    """Test one printed number: value 87.56 --metric accuracy --n 140 --runs 10."""
    from pubmill.extras.audit.score_arithmetic import METRICS, report

    if metric not in METRICS:
        raise PubmillError(unknown("metric", metric, list(METRICS)))
    print(report(printed, metric, n, runs, aggregate))


@APP.command()
def runs() -> None:
    """Compare printed values with the runs that make them.

    Lists printed values that are equal although different runs make them here, and printed values that differ
    although the same runs do, with the reasons; the status is 1 if one has none.
    """
    from pubmill.extras.audit.printed_values_of_runs import as_text, check_reasons, findings_on_runs
    from pubmill.planning.terminal_tables import print_text
    from pubmill.stages.study_graph import graph_of_all_tables

    graph = graph_of_all_tables(specs_folder())
    findings = findings_on_runs(graph, specs_folder())
    print_text(as_text(findings))
    check_reasons(findings, graph.specs)


VERB = Verb("Papers", APP)
