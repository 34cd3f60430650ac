"""`pubmill doctor [study]`."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pubmill.cli import studies
from pubmill.cli.checkout import checkout, provide_mirror
from pubmill.cli.verbs import Verb
from pubmill.messages import commands
from pubmill.specs.study import DEMO


class Doctor(TyperGroup):
    """A command whose first verb, `study`, need not be named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `study` before words that begin with none of the verbs."""
        named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["study", *args])


APP = typer.Typer(
    cls=Doctor,
    help="Report what a study lacks, data unlike their specs, or damaged results.",
)


@APP.command("study")
def doctor(
    study: studies.StudyName = DEMO,
    configfile: studies.Configfiles = None,
    config: studies.Settings = None,
    offline: Annotated[bool, typer.Option("--offline", help="do not use the network")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="also licences, all datasets")] = False,
) -> None:
    """Report which datasets and models of a study are available, and the GPU of this machine.

    Prints how many, then for each from where, and what to do; with -v also licences, and datasets that the
    study does not use. Links are checked for files that neither the results nor the mirror nor a folder of
    `local_files` has. A model that is still to be trained has the hours that one GPU needs. The status is 1
    if something cannot be had. `pubmill doctor STUDY` is the same as `pubmill doctor study STUDY`.
    """
    checkout()
    from pubmill.inspection.doctor.diagnoses import examine, linked
    from pubmill.inspection.doctor.doctor_printing import (
        print_findings,
        print_machine,
        print_models,
        print_summary,
    )
    from pubmill.inspection.doctor.links import check_links
    from pubmill.inspection.doctor.model_diagnoses import examine_models, hub_links
    from pubmill.messages.terminal_tables import console

    files = [*studies.study_files(study), *(configfile or ())]
    provide_mirror(studies.configuration(files, config)["mirror"])
    graph = studies.configured_graph(study, configfile, config)
    links = None if offline else check_links([*linked(graph), *hub_links(graph)])
    options = commands.configuration_options(files, config or ())
    findings = examine(graph, links, options)
    mirror = commands.pubmill("mirror", study, "--fetch", "FOLDER", *commands.verb_options((), config or ()))
    models = examine_models(graph, links, studies.measured_gpus(), mirror)
    print_summary(console(), findings, models, links)
    print_findings(console(), findings, verbose)
    print_models(console(), models)
    print_machine(console())
    wanted = [finding for finding in findings if finding.wanted]
    if not (all(model.sound for model in models) and all(finding.sound for finding in wanted)):
        raise typer.Exit(1)


VERB = Verb("Look", APP)
