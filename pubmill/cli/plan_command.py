"""`pubmill plan`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import SPECS, Settings, configuration, study_files, study_names
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages import commands


def plan(
    study: Annotated[
        str | None, typer.Argument(help="name or file of a study", autocompletion=study_names)
    ] = None,
    config: Settings = None,
    recipes: Annotated[bool, typer.Option("--recipes", help="show only the pretraining recipes")] = False,
) -> None:
    """Estimate the cost of a study: jobs, bytes, CPU- and GPU-hours.

    Nothing runs. Every figure says whether it is measured or assumed; with --recipes, the cost of each
    pretraining recipe at scale full.
    """
    root = checkout()
    from pubmill.planning.plan import make_plan, recipes_at_full
    from pubmill.planning.plan_printing import print_plan, recipes_as_markdown
    from pubmill.planning.terminal_tables import console
    from pubmill.specs import load
    from pubmill.specs.study import Study, check_study
    from pubmill.stages import checked_graph
    from pubmill.stages.gpus import read_gpus
    from pubmill.workflow.listed_jobs import jobs_of_study

    gpus = read_gpus(SPECS, Path("benchmarks/pretraining.json"))
    if recipes:
        every = Study(study="recipes", title="", scale="full", tables=())
        found = recipes_at_full(checked_graph(every, load(SPECS, "full")), gpus)
        print("\n".join(recipes_as_markdown(found, gpus)))
        return
    if study is None:
        raise PubmillError(f"which study? Name one of studies/, as in: {commands.pubmill('plan', 'gu2020')}")
    overlays = study_files(study)
    merged = configuration(overlays, config)
    graph = checked_graph(*check_study(merged, SPECS, overlays))
    print_plan(console(), make_plan(jobs_of_study(root, merged), graph, gpus), graph, gpus)


VERB = Verb("Look", plan)
