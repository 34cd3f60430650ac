"""The command and its verbs."""

from collections.abc import Callable

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
from pubmill.messages import commands

SNAKEMAKE = "snakemake"
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
VERBS: tuple[tuple[Callable[..., None], str], ...] = (
    (demo_command.demo, SNAKEMAKE),
    (run_command.run, SNAKEMAKE),
    (table_command.table, SNAKEMAKE),
    (open_command.open_page, ""),
    (explain_command.explain, "explain"),
    (compare_command.compare, "compare"),
    (diff_command.diff, "diff"),
    (plan_command.plan, "plan"),
    (seeds_command.seeds, "seeds"),
    (doctor_command.doctor, "doctor"),
    (audit_command.audit, "audit"),
    (mirror_command.mirror, "mirror"),
    (export_command.export, "export"),
    (predict_command.predict, "predict"),
    (inputs_command.inputs, "inputs"),
    (score_command.score, "score_submission"),
    (tex_command.tex, "tex"),
    (track_command.track, "track"),
    (check_command.check, "check"),
)
"""Each verb, and the program of scripts/ that it starts, if any."""
for verb, program in VERBS:
    known = commands.script(program, "--help") if program != SNAKEMAKE else f"{commands.BIN}/snakemake --help"
    APP.command(
        verb.__name__.removesuffix("_page"),
        context_settings=PASSED_ON,
        epilog=f"Further options: {known}" if program else None,
    )(verb)


def main() -> None:
    """Run the command; a `PubmillError` ends it with its message and status 1."""
    run(APP)
