"""The checkout that a command works in, and how Snakemake is started there."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from pubmill.errors import PubmillError
from pubmill.messages import commands

MARKS = ("Snakefile", "specs", "studies", "scripts")
"""Files and folders by which a checkout is recognised."""
WORLD = "tests/world/mirror"
"""Mirror with the made-up source files of scale demo."""


def checkout() -> Path:
    """Return the current folder, which must be a checkout of pubmill; else a `PubmillError`."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if all((folder / mark).exists() for mark in MARKS):
            if folder == here:
                return here
            raise PubmillError(f"run this in the checkout itself: cd {shlex.quote(str(folder))}")
    raise PubmillError(
        f"{here} is not a checkout of pubmill (a folder with {', '.join(MARKS)}); clone the repository and "
        f"run this there"
    )


def show(command: str) -> None:
    """Print the command that a verb stands for."""
    print(f"$ {command}", file=sys.stderr, flush=True)


def start_snakemake(*words: str) -> NoReturn:
    """Print and run a Snakemake command in place of this process, so that signals reach it.

    It also gets the display `snakemake_logger_plugin_pubmill`, which Python finds in the checkout.
    """
    checkout()
    show(commands.run(f"{commands.BIN}/snakemake", *words))
    os.execv(sys.executable, [sys.executable, "-m", "snakemake", "--logger=pubmill", *words])


def make_demo_files() -> None:
    """Write the made-up source files of scale demo, unless they exist."""
    if not (checkout() / WORLD).exists():
        show(commands.run(f"{commands.BIN}/python", "-m", "tests.world", WORLD))
    command = [sys.executable, "-m", "tests.world", WORLD]
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode:
        raise PubmillError(f"the made-up source files of the demo could not be written to {WORLD}")
