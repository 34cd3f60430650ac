"""What pages and the notebook of the documentation show is what their commands and code print."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pubmill.cli.app import APP
from tests import notebook
from tests.workflow.conftest import CODE

PRICE = 3
WEEKLY = [pytest.mark.long, pytest.mark.weekly]


@pytest.fixture
def printed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without results, with what the command reads of a checkout."""
    for name in (*CODE, "benchmarks"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.chdir(tmp_path)
    return root / "docs/first-table.md"


def answer(words: list[str]) -> str:
    done = CliRunner().invoke(APP, [*words, "-n"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def rows_of(page: Path) -> list[list[str]]:
    lines = (line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| "))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_command_prints_what_the_page_shows(printed: Path) -> None:
    text = printed.read_text(encoding="utf-8")
    command, _ = re.findall(r"^\.venv/bin/pubmill (table .*) -n$", text, re.MULTILINE)
    [shown] = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert shown in answer(shlex.split(command))


@pytest.mark.parametrize("row", [0, *(pytest.param(row, marks=WEEKLY) for row in (1, 2, 3))])
def test_rows_of_the_page_are_what_the_options_cost(printed: Path, row: int) -> None:
    options, jobs, fetched, h100, v100, euros = rows_of(printed)[1:5][row]
    given = shlex.split(found[1]) if (found := re.match("`(.*)`", options)) else []
    text = answer(["table", "gu2020/table06", "--model", "pubmedbert-base", *given])
    assert f"jobs:       {jobs} to do" in text and f"to fetch:   {fetched} GB" in text, text
    joined = " ".join(text.split())  # Long lines are wrapped.
    assert f" {h100} of one H100" in joined and f"{v100} of one V100" in joined, text
    assert float(euros) == pytest.approx(PRICE * float(h100), abs=0.006)


def test_a_column_of_another_encoder_costs_what_the_page_says(printed: Path) -> None:
    text = " ".join(printed.read_text(encoding="utf-8").split())
    [command] = re.findall(r"pubmill (table beyond/\S+ --model \S+) -n", text)
    [hours] = re.findall(r"One of its columns takes (\S+) hours of an H100", text)
    assert f" {hours} of one H100" in " ".join(answer(shlex.split(command)).split())


@pytest.mark.long
def test_a_dry_run_of_a_whole_study_has_the_jobs_of_the_page(printed: Path) -> None:
    text = (printed.parent / "planning.md").read_text(encoding="utf-8")
    [(study, jobs)] = re.findall(r"A dry run of (\w+), ([\d,]+) jobs", text)
    assert f"\n{jobs} jobs would run:" in f"\n{answer(['run', study])}"


def test_every_output_of_the_notebook_is_that_of_its_code(world: Path, tmp_path: Path) -> None:
    shown = [cell.outputs for cell in notebook.read().cells if cell.cell_type == "code"]
    assert notebook.executed(notebook.made(tmp_path, world)) == shown
    assert [output.data["image/svg+xml"] for output in shown[-1]]
