"""The figures of docs/first-table.md are those that its command prints."""

import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pubmill.cli.app import APP

PRICE = 3


@pytest.fixture
def printed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without results, with what the command reads of a checkout."""
    names = (
        "Snakefile",
        "config.yaml",
        "scripts",
        "studies",
        "specs",
        "rules",
        "pubmill",
        "profiles",
        "benchmarks",
    )
    for name in names:
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pubmill.cli.table_command.run_snakemake", lambda *words: sys.exit(0))
    return root / "docs/first-table.md"


def answer(words: list[str]) -> str:
    done = CliRunner().invoke(APP, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def rows_of(page: Path) -> list[list[str]]:
    lines = [
        line.strip("|").split("|")
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    return [[cell.strip() for cell in line] for line in lines]


def check_figures(text: str, jobs: str, fetched: str, h100: str, v100: str) -> None:
    assert f"jobs:       {jobs} to do" in text, text
    assert f"to fetch:   {fetched} GB" in text, text
    joined = " ".join(text.split())  # Long lines are wrapped.
    assert f" {h100} of one H100" in joined and f"{v100} of one V100" in joined, text


def test_the_command_prints_what_the_page_shows(printed: Path) -> None:
    text = printed.read_text(encoding="utf-8")
    command, _ = re.findall(r"^\.venv/bin/pubmill (table .*) -n$", text, re.MULTILINE)
    [shown] = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert shown in answer(shlex.split(command))


@pytest.mark.parametrize("row", range(4))
def test_rows_of_the_page_are_what_the_options_cost(printed: Path, row: int) -> None:
    options, *figures, euros = rows_of(printed)[1:5][row]
    found = re.match("`(.*)`", options)
    given = shlex.split(found[1]) if found else []
    check_figures(answer(["table", "gu2020/table06", "--model", "pubmedbert-base", *given]), *figures)
    assert float(euros) == pytest.approx(PRICE * float(figures[2]), abs=0.006)


@pytest.mark.parametrize("row", range(3))
def test_rows_of_the_other_encoders_are_what_their_commands_cost(printed: Path, row: int) -> None:
    [options, *figures] = rows_of(printed)[6:][row]
    [command] = re.findall("`(.*?)`", options)
    check_figures(answer(shlex.split(command)), *figures)
