"""Programs and verbs run in the process of a test, which has imported what they need.

A separate process would first import torch and transformers for seconds.
"""

import io
import runpy
import sys
from contextlib import chdir, redirect_stderr
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from typer.testing import CliRunner

from pubmill.cli.app import APP
from pubmill.errors import PubmillError
from tests.conftest import ROOT


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run_verb(*words: object, checkout: Path = ROOT) -> Ended:
    with chdir(checkout):
        ended = CliRunner().invoke(APP, list(map(str, words)))
    if isinstance(ended.exception, PubmillError):
        return Ended(1, ended.stdout, f"pubmill: error: {ended.exception}\n")
    if ended.exception and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


def make_checkout(folder: Path) -> None:
    """Make a folder a checkout in which verbs run, with the specs that it has."""
    for name in ("specs", "studies"):
        (folder / name).mkdir(exist_ok=True)
    for name in ("Snakefile", "config.yaml", "scripts"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)


def start(name: str, *arguments: object) -> None:
    """Run a program in this process: one that has a file, or a stage's."""
    own = [*ROOT.glob(f"scripts/{name}.py"), *ROOT.glob(f"pubmill/extras/*/programs/{name}.py")]
    line = [*(map(str, own) if own else ["pubmill.job", name]), *map(str, arguments)]
    with patch.object(sys, "argv", line):
        (runpy.run_path if own else runpy.run_module)(line[0], run_name="__main__")


def run_program(name: str, *arguments: object) -> str:
    """Run a program as its command line does, and return its messages; an error raises SystemExit."""
    messages = io.StringIO()
    with patch.object(sys, "path", [*sys.path]), redirect_stderr(messages):
        start(name, *arguments)
    return messages.getvalue()
