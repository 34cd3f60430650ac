"""The figures of docs/first-table.md are those that its command prints."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pubmill.cli.app import APP

PRICE = 3
WEEKLY = [pytest.mark.long, pytest.mark.weekly]


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
        "snakemake_logger_plugin_pubmill",
    )
    for name in names:
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.chdir(tmp_path)
    return root / "docs/first-table.md"


def answer(words: list[str]) -> str:
    """Return what a dry run of a verb prints."""
    done = CliRunner().invoke(APP, [*words, "-n"], catch_exceptions=False)
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


@pytest.mark.parametrize("row", [0, *(pytest.param(row, marks=WEEKLY) for row in (1, 2, 3))])
def test_rows_of_the_page_are_what_the_options_cost(printed: Path, row: int) -> None:
    options, *figures, euros = rows_of(printed)[1:5][row]
    found = re.match("`(.*)`", options)
    given = shlex.split(found[1]) if found else []
    check_figures(answer(["table", "gu2020/table06", "--model", "pubmedbert-base", *given]), *figures)
    assert float(euros) == pytest.approx(PRICE * float(figures[2]), abs=0.006)


def test_a_column_of_another_encoder_costs_what_the_page_says(printed: Path) -> None:
    text = " ".join(printed.read_text(encoding="utf-8").split())
    [command] = re.findall(r"pubmill (table beyond/\S+ --model \S+) -n", text)
    [hours] = re.findall(r"One of its columns takes (\S+) hours of an H100", text)
    assert f" {hours} of one H100" in " ".join(answer(shlex.split(command)).split())
