"""`pubmill plan`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import checkout, provide_mirror
from pubmill.cli.studies import Settings, configuration, measured_gpus, specs_folder, study_files, study_names
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages import commands

WIDTH = 80
"""Columns of a plan in a pipe or file."""


def plan(
    study: Annotated[
        str | None, typer.Argument(help="name or file of a study", autocompletion=study_names)
    ] = None,
    config: Settings = None,
    profile: Annotated[
        str | None, typer.Option(help="a profile of profiles/, or a folder: show its requests by rule")
    ] = None,
    recipes: Annotated[bool, typer.Option("--recipes", help="show only the pretraining recipes")] = False,
) -> None:
    """Estimate the cost of a study: jobs, bytes, CPU- and GPU-hours.

    Nothing runs. The end says which figures are measured and which assumed. With --profile slurm, also what
    each rule requests from the cluster; with --recipes, the cost of each pretraining recipe at scale full.
    """
    root = checkout()
    from pubmill.messages.terminal_tables import console
    from pubmill.planning.cluster_plan import read_profile, requests, requests_table
    from pubmill.planning.plan import jobs_of_study, make_plan, recipes_at_full
    from pubmill.planning.plan_printing import print_plan, recipes_as_markdown
    from pubmill.specs import load
    from pubmill.specs.study import Study, check_study
    from pubmill.stages import checked_graph

    gpus = measured_gpus()
    if recipes:
        every = Study(study="recipes", title="", scale="full", tables=())
        trainings = recipes_at_full(checked_graph(every, load(specs_folder(), "full")), gpus)
        print("\n".join(recipes_as_markdown(trainings, gpus)))
        return
    if study is None:
        raise PubmillError(f"which study? Name one of studies/, as in: {commands.pubmill('plan', 'gu2020')}")
    overlays = study_files(study)
    merged = configuration(overlays, config)
    provide_mirror(merged["mirror"])
    graph = checked_graph(*check_study(merged, specs_folder(), overlays))
    settings = read_profile(profile) if profile else None
    jobs = jobs_of_study(root, merged, finished=True)
    print_plan(console(WIDTH), make_plan(jobs, graph, gpus), graph, gpus)
    if settings is not None:
        console(WIDTH).print(requests_table(requests(jobs, graph, gpus, settings)))


VERB = Verb("Look", plan)
