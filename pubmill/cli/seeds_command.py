"""`pubmill seeds`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import Settings, StudyName, configured_graph
from pubmill.cli.verbs import Verb
from pubmill.messages.wording import counted


def seeds(
    study: StudyName,
    documents: Annotated[
        bool, typer.Option("--documents", help="plan the runs that may decide pairs on other documents")
    ] = False,
    config: Settings = None,
) -> None:
    """Show which runs to make next, and which pairs are decided.

    Models are compared by the scores of the same seeds; a pair is decided if its p value, adjusted for all
    pairs of the row, is at most 5 %, so that at most 5 % of rows have any wrong conclusion, however often one
    looks. There are two answers: on the scored documents, and on other documents of their kind.
    """
    checkout()
    from pubmill.planning.terminal_tables import print_text
    from pubmill.tables.seed_plan import as_text, row_plans

    graph = configured_graph(study, None, config, every_seed=True)
    recipes = [graph.tables.recipe(name) for name in graph.requests.result_tables()]
    results, is_current = Path(graph.results), graph.records.is_current
    plans = [row_plans(recipe, results, is_current, documents) for recipe in recipes]
    rows = [one for of_table in plans for one in of_table]
    print_text(as_text(rows))
    if left := sum(row.shown for recipe in recipes for row in recipe.rows) - len(rows):
        why = "of several folds, or without two models of several seeds"
        print_text(f"not compared by seeds: {counted(left, 'row')} ({why})")


VERB = Verb("Look", seeds)
