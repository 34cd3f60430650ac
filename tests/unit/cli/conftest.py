"""A checkout whose programs are named instead of started."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pubmill.cli.app import APP
from pubmill.cli.checkout import show
from pubmill.errors import PubmillError
from pubmill.messages import commands

Said = Callable[..., str]


@pytest.fixture
def checkout(root: Path, specs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with specs of its own and the miniature data in place; the current folder."""
    folder = specs.parent
    for name in ("Snakefile", "config.yaml", "scripts", "studies"):
        (folder / name).symlink_to(root / name)
    monkeypatch.chdir(folder)
    for verb in ("demo", "run", "table"):
        monkeypatch.setattr(f"pubmill.cli.{verb}_command.make_demo_files", lambda: None)
    monkeypatch.setattr("pubmill.cli.table_command.print_cost", lambda *_: print("what it costs"))
    return folder


@pytest.fixture
def started(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """Run `pubmill WORDS`; return the command that it starts, or its error, and check that it was printed."""
    run: list[list[str]] = []

    def become(program: str, words: list[str]) -> None:
        assert program == sys.executable
        run.append(words[1:])
        raise SystemExit(0)

    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setattr(os, "spawnv", lambda _, *command: become(*command))

    def start(*words: str) -> int:
        show(commands.run(commands.program("snakemake"), *words))
        run.append(["-m", "snakemake", "--logger=pubmill", *words])
        return 1

    monkeypatch.setattr("pubmill.cli.table_command.run_snakemake", start)

    def said(*words: str) -> str:
        run.clear()
        answer = CliRunner().invoke(APP, words, catch_exceptions=True)
        if isinstance(answer.exception, PubmillError):
            return f"error: {answer.exception}"
        if not run:
            return answer.output
        [started] = run
        shown = shlex.join(started).replace("-m snakemake --logger=pubmill", ".venv/bin/snakemake")
        assert f"$ {shown}\n" in answer.output
        return shlex.join(started)

    return said
