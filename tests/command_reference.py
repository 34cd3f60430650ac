"""The reference page of the command: every verb with its usage, arguments and options.

Made from the command's own parser; `make docs` writes it.
"""

from collections.abc import Iterator
from typing import Any

import typer

from pubmill.cli.app import APP, VERBS
from tests.markdown_tables import table


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield words and command of each verb, in the order of the help; a verb may have verbs of its own."""
    inner = getattr(command, "commands", None)
    if not inner:
        yield path, command
    for name, one in (inner or {}).items():
        yield from verbs(one, (*path, name))


def parameters(command: Any) -> list[tuple[str, str]]:
    """Return form and meaning of each argument and option except `--help`."""
    context = typer.Context(command)
    found = [one.get_help_record(context) for one in command.get_params(context) if one.name != "help"]
    return [record for record in found if record]


def in_cell(text: str) -> str:
    """Return a text as one line of a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def section(path: tuple[str, ...], command: Any) -> str:
    """Return heading, description, usage and parameters of a verb."""
    usage = " ".join(("pubmill", *path, *command.collect_usage_pieces(typer.Context(command))))
    lines = [f"### {' '.join(path)}", f"`{usage}`", (command.help or "").strip()]
    if rows := [(in_cell(f"`{form}`"), in_cell(said)) for form, said in parameters(command)]:
        lines.append(table("argument or option|meaning", rows).rstrip())
    return "\n\n".join(lines)


def page(written: str) -> str:
    """Return the page; `written` is the comment that names the program behind it."""
    found = list(verbs(typer.main.get_command(APP)))
    parts = [
        "# Commands",
        written.strip(),
        "Every verb of `.venv/bin/pubmill`, in the groups of its help. `demo`, `run` and `table` pass "
        "further options on to Snakemake. `.venv/bin/pubmill list tables` lists names as these verbs take "
        "them; `studies`, `datasets` and `models` are listed in the same way.",
    ]
    for group, names in VERBS.items():
        parts += [f"## {group}", *(section(path, one) for path, one in found if path[0] in names)]
    return "\n\n".join(parts) + "\n"
