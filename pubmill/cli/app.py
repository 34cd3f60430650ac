"""The command and its verbs."""

import typer

from pubmill.cli import (
    audit_command,
    check_command,
    compare_command,
    demo_command,
    diff_command,
    doctor_command,
    explain_command,
    export_command,
    inputs_command,
    mirror_command,
    new_command,
    open_command,
    plan_command,
    predict_command,
    run_command,
    score_command,
    seeds_command,
    table_command,
    tex_command,
    track_command,
)
from pubmill.errors import run

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Options that a verb does not know belong to the program that it runs."""

APP = typer.Typer(
    name="pubmill",
    help="From PubMed's raw XML to the result tables of papers on biomedical language models. Run it in a "
    "checkout. Each command prints the command that it stands for, and passes further options on.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
APP.add_typer(new_command.APP, name="new")
for verb in (
    demo_command.demo,
    run_command.run,
    table_command.table,
    open_command.open_page,
    explain_command.explain,
    compare_command.compare,
    diff_command.diff,
    plan_command.plan,
    seeds_command.seeds,
    doctor_command.doctor,
    audit_command.audit,
    mirror_command.mirror,
    export_command.export,
    predict_command.predict,
    inputs_command.inputs,
    score_command.score,
    tex_command.tex,
    track_command.track,
    check_command.check,
):
    APP.command(verb.__name__.removesuffix("_page"), context_settings=PASSED_ON)(verb)


def main() -> None:
    """Run the command; a `PubmillError` ends it with its message and status 1."""
    run(APP)
