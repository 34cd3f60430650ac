"""The command and its verbs."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import pubmill
from pubmill.cli.verbs import GROUPS, SettingsCommand, registered_verbs
from pubmill.errors import run
from pubmill.messages import commands

SNAKEMAKE = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a verb whose further options are Snakemake's."""
ALL = registered_verbs()
VERBS = {group: names for group in GROUPS if (names := [name for name in ALL if ALL[name].group == group])}
"""Group of the help -> its verbs."""


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
    "checkout or workspace.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def print_version(wanted: bool) -> None:
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


for name, verb in ALL.items():
    if isinstance(verb.call, typer.Typer):
        APP.add_typer(verb.call, name=name)
    elif verb.passes_on:
        epilog = f"Further options are Snakemake's: {commands.program('snakemake')} --help"
        APP.command(name, context_settings=SNAKEMAKE, epilog=epilog)(verb.call)
    else:
        APP.command(name, cls=SettingsCommand)(verb.call)


def main() -> None:
    """Run the command; a `PubmillError` ends it with its message and status 1."""
    if sys.stdout is None:  # whoever started the command has closed it, as `>&-` does
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # else temporary folders stay
    run(APP)
