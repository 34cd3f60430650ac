"""The command and its verbs."""

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import pubmill
from pubmill.cli import (
    audit_command,
    check_command,
    compare_command,
    demo_command,
    diff_command,
    doctor_command,
    explain_command,
    export_command,
    fsck_command,
    inputs_command,
    list_command,
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
from pubmill.messages import commands

SNAKEMAKE = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Options that such a verb does not know belong to Snakemake."""
VERBS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Run": {
        "demo": demo_command.demo,
        "run": run_command.run,
        "table": table_command.table,
        "predict": predict_command.predict,
    },
    "Look": {
        "list": list_command.list_names,
        "plan": plan_command.plan,
        "doctor": doctor_command.doctor,
        "open": open_command.open_page,
        "explain": explain_command.explain,
        "compare": compare_command.compare,
        "diff": diff_command.diff,
        "seeds": seeds_command.seeds,
        "fsck": fsck_command.fsck,
    },
    "Data and predictions": {
        "mirror": mirror_command.mirror,
        "export": export_command.export,
        "inputs": inputs_command.inputs,
        "score": score_command.score,
        "track": track_command.track,
    },
    "Papers": {
        "audit": audit_command.APP,
        "tex": tex_command.tex,
        "check": check_command.check,
    },
    "New": {"new": new_command.APP},
}
"""Group of the help -> its verbs."""
PASS_ON = ("demo", "run", "table")


class GroupedHelp(TyperGroup):
    """A command whose help lists its verbs by group."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group, with one line for each verb."""
        for group, verbs in VERBS.items():
            with formatter.section(group):
                formatter.write_dl([(verb, self.commands[verb].get_short_help_str(80)) for verb in verbs])


APP = typer.Typer(
    name="pubmill",
    cls=GroupedHelp,
    help="From PubMed's raw XML to the result tables of papers on biomedical language models. Run it in a "
    "checkout.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def print_version(wanted: bool) -> None:
    """Print the version, if wanted, and end."""
    if wanted:
        print(f"pubmill {pubmill.__version__}")
        raise typer.Exit


@APP.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Take the options that stand before a verb."""


for name, verb in (one for verbs in VERBS.values() for one in verbs.items()):
    if isinstance(verb, typer.Typer):
        APP.add_typer(verb, name=name)
    elif name in PASS_ON:
        epilog = f"Further options are Snakemake's: {commands.BIN}/snakemake --help"
        APP.command(name, context_settings=SNAKEMAKE, epilog=epilog)(verb)
    else:
        APP.command(name)(verb)


def main() -> None:
    """Run the command; a `PubmillError` ends it with its message and status 1."""
    run(APP)
