"""The figures of docs/first-table.md are those that its command prints."""

import re
import shlex
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
    monkeypatch.setattr("pubmill.cli.table_command.start_snakemake", lambda *words: None)
    return root / "docs/first-table.md"


def answer(options: list[str]) -> str:
    done = CliRunner().invoke(APP, ["table", *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_prints_what_the_page_shows(printed: Path) -> None:
    text = printed.read_text()
    [command] = re.findall(r"^\.venv/bin/pubmill table (.*) -n$", text, re.MULTILINE)
    [shown] = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert shown in answer(shlex.split(command))


@pytest.mark.parametrize("row", range(4))
def test_rows_of_the_page_are_what_the_options_cost(printed: Path, row: int) -> None:
    rows = [line.strip("|").split("|") for line in printed.read_text().splitlines() if line.startswith("| ")]
    options, *figures = (cell.strip() for cell in rows[1:][row])
    found = re.match("`(.*)`", options)
    given = shlex.split(found[1]) if found else []
    text = answer(["gu2020/table06", "--model", "pubmedbert-base", *given])
    jobs, fetched, h100, v100, euros = figures
    for part in (
        f"jobs:       {jobs} to do",
        f"to fetch:   {fetched} GB",
        f" {h100} of one H100",
        f"{v100} of one V100",
    ):
        assert part in text, text
    assert float(euros) == pytest.approx(PRICE * float(h100), abs=0.006)
