"""`pubmill doctor`: `study`, `data` and `fsck`."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pubmill.cli import studies
from pubmill.cli.checkout import checkout, provide_mirror
from pubmill.cli.verbs import SettingsCommand, Verb
from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import unknown
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


@APP.command("study", cls=SettingsCommand)
def check_study(
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
    from pubmill.inspection import doctor
    from pubmill.messages.terminal_tables import console

    files = [*studies.study_files(study), *(configfile or ())]
    provide_mirror(studies.configuration(files, config)["mirror"])
    graph = studies.configured_graph(study, configfile, config)
    links = None if offline else doctor.check_links(doctor.linked(graph))
    options = commands.configuration_options(files, config or ())
    findings = doctor.examine(graph, links, options)
    mirror = commands.pubmill("mirror", study, "--fetch", "FOLDER", *commands.verb_options((), config or ()))
    models = doctor.examine_models(graph, links, studies.measured_gpus(), mirror)
    doctor.print_summary(console(), findings, models, links)
    doctor.print_findings(console(), findings, verbose)
    doctor.print_models(console(), models)
    doctor.print_machine(console())
    wanted = [finding for finding in findings if finding.wanted]
    if not (all(model.sound for model in models) and all(finding.sound for finding in wanted)):
        raise typer.Exit(1)


@APP.command("data")
def check_data(
    datasets: Annotated[list[str] | None, typer.Argument(help="only these; default: all")] = None,
    mirror: Annotated[str | None, typer.Option(help="folder that holds HOST/PATH")] = None,
    local: Annotated[list[str] | None, typer.Option(metavar="KEY=FOLDER", help="your own files")] = None,
    scale: Annotated[str, typer.Option(help="whose specs")] = "full",
    processes: Annotated[int | None, typer.Option(help="default: one per core")] = None,
) -> None:
    """Convert every dataset whose files are available, and compare it with its spec.

    Files are those of a mirror (licensed ones below local/KEY), and your own folders, by the keys of
    `local_files`. Prints a table of counts and published bytes; the status is 1 if anything differs.
    """
    checkout()
    from pubmill.hardware.process_limits import cores
    from pubmill.inspection.converted_datasets import check_name
    from pubmill.inspection.data_checks import check_all, plan, print_outcomes
    from pubmill.messages.terminal_tables import console
    from pubmill.specs import load, scales
    from pubmill.specs.study import Study
    from pubmill.stages import Graph

    if scale not in scales(studies.specs_folder()):
        raise PubmillError(unknown("scale", scale, scales(studies.specs_folder())))
    pairs = [argument.partition("=") for argument in local or []]
    if wrong := ["".join(pair) for pair in pairs if not pair[2]]:
        raise PubmillError(f"--local {wrong[0]}: expected KEY=FOLDER")
    folders = {key: folder for key, _, folder in pairs}
    study = Study(study="data-check", title="", scale=scale, tables=(), mirror=mirror, local_files=folders)
    graph = Graph(study, load(studies.specs_folder(), scale))
    names = datasets or sorted(graph.specs.datasets)
    for name in names:
        check_name(graph.specs, name)
    began, processes = time.perf_counter(), processes or cores()
    tasks, unchecked = plan(graph, names)
    outcomes = []
    for outcome in check_all(tasks, processes):
        outcomes.append(outcome)
        report_progress(f"{len(outcomes)} of {len(tasks)}: {outcome.dataset}, {outcome.seconds:.1f} s")
    print_outcomes(console(), outcomes, unchecked)
    print(f"{time.perf_counter() - began:.0f} seconds in {processes} processes")
    if not outcomes or any(outcome.faults for outcome in outcomes):
        raise typer.Exit(1)


@APP.command()
def fsck(folder: Annotated[Path, typer.Argument(help="folder of results")] = Path("results")) -> None:
    """Find damaged results, and print the command that makes them again.

    Reads Parquet, gzip and .npz files, JSON with digests, packed tokens, checkpoints, and source files, whose
    SHA-256 is in their records. Changes nothing; the status is 1 if a file is damaged.
    """
    checkout()
    from pubmill.inspection.damaged_results import examine, report

    if not folder.is_dir():
        raise PubmillError(
            f"{folder} is not a folder; give the folder that is set as `results:` in the configuration"
        )
    findings = examine(folder)
    print("\n".join(report(findings)))
    if any(finding.fault for finding in findings):
        raise typer.Exit(1)


VERB = Verb("Look", APP)
