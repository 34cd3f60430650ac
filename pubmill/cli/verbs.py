"""Verbs of the command: a module each, `VERB_command.py`, of this room or of an extra."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand

from pubmill import extras


class SettingsCommand(TyperCommand):
    """A verb that takes several settings after one `--config`, as `pubmill run` and Snakemake do."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write `--config a=1 b=2` as `--config a=1 --config b=2`."""
        words: list[str] = []
        for word in args:
            is_further = words[-2:-1] == ["--config"] and "=" in word and not word.startswith("-")
            words += ["--config", word] if is_further else [word]
        return super().parse_args(ctx, words)


ENDING = "_command"
GROUPS = ("Run", "Look", "Data and predictions", "Papers", "New")
"""Groups of the help, in order."""


class Verb(NamedTuple):
    """A verb, as its module registers it in `VERB`.

    - `group`: the group of the help
    - `call`: what runs, or an app with verbs of its own
    - `passes_on`: options that the verb does not know belong to Snakemake
    """

    group: str
    call: Callable[..., None] | typer.Typer
    passes_on: bool = False


def registered_verbs() -> dict[str, Verb]:
    """Return all verbs by name, ordered by group."""
    own = (path.stem for path in Path(__file__).parent.glob(f"*{ENDING}.py"))
    modules = [*(import_module(f"pubmill.cli.{name}") for name in own), *extras.modules(ENDING)]
    verbs = {one.__name__.rpartition(".")[2].removesuffix(ENDING): one.VERB for one in modules}
    return dict(sorted(verbs.items(), key=lambda one: (GROUPS.index(one[1].group), one[0])))
