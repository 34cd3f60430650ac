"""A checkout whose programs are named instead of started."""

import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from pubmill.cli.app import APP
from pubmill.cli.run_requests import Request
from pubmill.errors import PubmillError
from pubmill.storage.result_paths import Paths

Said = Callable[..., str]


@pytest.fixture
def checkout(root: Path, specs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with specs of its own and the miniature data in place; the current folder."""
    folder = specs.parent
    for name in ("Snakefile", "config.yaml", "profiles", "scripts", "studies"):
        (folder / name).symlink_to(root / name)
    monkeypatch.chdir(folder)
    for verb in ("run", "table"):
        monkeypatch.setattr(f"pubmill.cli.{verb}_command.make_demo_files", lambda: None)
    return folder


def graph_of(request: Request) -> SimpleNamespace:
    study = SimpleNamespace(study=request.config["study"], scale=request.config["scale"])
    return SimpleNamespace(study=study, paths=Paths("results/x"), results="results/x")


@pytest.fixture
def started(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """Run `pubmill WORDS`; return the command that it starts, or its error, and check that it was printed."""
    run: list[list[str]] = []

    def start(*words: str) -> int:
        run.append(["-m", "snakemake", "--logger=pubmill", *words])
        return 1

    monkeypatch.setattr("pubmill.cli.run_requests.run_snakemake", start)
    monkeypatch.setattr("pubmill.cli.run_requests.Request.checked_graph", graph_of)

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
