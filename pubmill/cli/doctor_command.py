"""`pubmill doctor`."""

from typing import Annotated

import typer

from pubmill.cli import studies
from pubmill.cli.checkout import checkout, provide_mirror
from pubmill.cli.verbs import Verb
from pubmill.messages import commands
from pubmill.specs.study import DEMO


def doctor(
    study: studies.StudyName = DEMO,
    configfile: studies.Configfiles = None,
    config: studies.Settings = None,
    offline: Annotated[bool, typer.Option("--offline", help="do not check links")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="also licences, all datasets")] = False,
) -> None:
    """Report which datasets and models of a study are available.

    Prints how many, then for each from where, and what to do; with -v also licences, and datasets that the
    study does not use. Links are checked for files that neither the results nor the mirror nor a folder of
    `local_files` has. The status is 1 if one is not in order. At the end, prints whether this machine has
    the compiler that GPUs need.
    """
    checkout()
    from pubmill.inspection.doctor.diagnoses import examine, examine_models, linked
    from pubmill.inspection.doctor.doctor_printing import (
        print_compiler,
        print_findings,
        print_models,
        print_summary,
    )
    from pubmill.inspection.doctor.links import check_links
    from pubmill.planning.terminal_tables import console

    files = [*studies.study_files(study), *(configfile or ())]
    provide_mirror(studies.configuration(files, config)["mirror"])
    graph = studies.configured_graph(study, configfile, config)
    links = None if offline else check_links(linked(graph))
    findings = examine(graph, links, commands.configuration_options(files, config or ()))
    models = examine_models(graph)
    print_summary(console(), findings, models, links)
    print_findings(console(), findings, verbose)
    print_models(console(), models)
    print_compiler(console())
    wanted = [finding for finding in findings if finding.wanted]
    if not (all(model.sound for model in models) and all(finding.sound for finding in wanted)):
        raise typer.Exit(1)


VERB = Verb("Look", doctor)
