"""Runs: what is checked before Snakemake starts, where a dry run works and what it prints, how a run ends."""

import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.cli import checkout as module
from pubmill.cli.run_requests import Request, check_writable, end_lines, print_dry_run, stand_in, wrong_target
from pubmill.errors import PubmillError
from pubmill.planning.plan import Job
from pubmill.stages import Graph, checked_graph
from pubmill.stages.availability import Digests
from tests.unit.toy_studies import study_of

PAGE = "results/full/reports/mine.html"


@pytest.fixture(scope="module")
def graph(root: Path) -> Graph:
    return checked_graph(*study_of(root, study="mine", scale="full"))


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("datasets/bc2gm/card.json", ""), ("tables/with/x/gu2020/table06.html", ""),
        ("runs/off-the-shelf/x", ""), ("reports/mine.archive.zip", ""),
        ("datasets/bc2gn/card.json", "there is no dataset 'bc2gn'; the nearest: bc2gm"),
        ("corpora/pubmed-abstract/stats.json", "there is no corpus 'pubmed-abstract'; the nearest: pubmed-"),
        ("tables/mine/gu2020-table60.html", "there is no table 'gu2020/table60'; the nearest: "),
        ("reports/mein.html", "no rule makes this file. The nearest:\n  results/full/reports/mine.html"),
        ("../demo/x", "scale full, but the path has scale demo. Run: .venv/bin/pubmill run demo results/"),
    ],
)  # fmt: skip
def test_targets_that_nobody_makes_are_reported_with_the_nearest(
    graph: Graph, root: Path, monkeypatch: pytest.MonkeyPatch, file: str, message: str
) -> None:
    monkeypatch.chdir(root)
    path = os.path.normpath(f"results/full/{file}")
    said = list(wrong_target(path, graph))
    assert len(said) == bool(message) and message in "".join(said)


def test_results_that_cannot_be_written_are_reported(tmp_path: Path) -> None:
    check_writable(tmp_path / "new/full")
    (tmp_path / "file").touch()
    with pytest.raises(PubmillError, match="file is not a folder that you can write to; set `results:`"):
        check_writable(tmp_path / "file/full")


@pytest.mark.parametrize("why", [False, True])
def test_a_dry_run_counts_jobs_by_stage_with_their_cost(
    graph: Graph, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], why: bool
) -> None:
    monkeypatch.chdir(root)
    jobs = [Job("table", {}, True, "Making table 6", "Missing output files"), Job("compare", {}, True)]
    monkeypatch.setattr("pubmill.planning.plan.jobs_of_study", lambda *about: jobs)
    print_dry_run(Request(root, {}, [], []), graph, ["-n"], why)
    said = capsys.readouterr().out
    assert said.startswith("2 jobs would run:\n  tables           2  (table 1, compare 1)\n")
    assert "jobs:       2 to do" in said
    assert ("Making table 6\n  Missing output files\n" in said) is why
    jobs.clear()
    print_dry_run(Request(root, {}, [], []), graph, ["-n"], why)
    assert capsys.readouterr().out.startswith("Nothing to be done.\n")


@pytest.mark.parametrize(
    ("status", "free", "said"),
    [
        (0, 10**12, [f"made, to read: {PAGE}"]),
        (3, 10**12, [f"made, to read: {PAGE}"]),
        (1, 10**12, [f"not made: {PAGE}", "go on with the same command: .venv/bin/pubmill run mine"]),
        (1, 1000, ["is full", "not made"]),
        (130, 10**12, ["interrupted; what is finished is kept; go on with the same command: .venv/bin/pub"]),
    ],
)
def test_a_run_ends_with_what_was_made_or_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, free: int, said: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(PAGE).parent.mkdir(parents=True)
    Path(PAGE).touch()
    monkeypatch.setattr(sys, "argv", ["pubmill", "run", "mine"])
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    lines = "\n".join(end_lines(status, [PAGE], SimpleNamespace(results="results/full")))  # type: ignore[arg-type]
    assert all(one in lines for one in said) and "failed" not in lines


def test_an_interrupted_run_has_the_status_of_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nkill -INT {os.getpid()}\nexec sleep 9\n")
    program.chmod(0o755)
    monkeypatch.setattr(module, "checkout", Path.cwd)
    monkeypatch.setattr(sys, "executable", str(program))
    assert module.run_snakemake("x") == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_dry_run_writes_into_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what verbs write before a run, of Snakemake's records and of the digests of files."""
    here, beside = tmp_path / "here", tmp_path / "beside"
    own = ["specs/models/a.yaml", "workspace.yaml", "tests/world/mirror/a", "tests/other", ".snakemake/log/a"]
    for path in [beside / "a", *(here / name for name in [*own, ".snakemake/metadata/a", "results/full/a"])]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name, encoding="utf-8")
    monkeypatch.chdir(here)
    before = sorted(tmp_path.rglob("*"))
    with stand_in():
        assert Path("../beside/a").is_file() and Path(".snakemake/metadata/a").is_file()
        assert Path("tests/other").is_file() and not Path(".snakemake/log").exists()
        for name in [*own[:3], "specs/models/b.yaml", "tests/world/mirror/b", ".snakemake/log/b", "new"]:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text("other", encoding="utf-8")
        digests = Digests(Path("results/full/.digests.jsonl"))
        assert digests.of(Path("results/full/a")) == digests.of(beside / "a")
    assert Path.cwd() == here and sorted(tmp_path.rglob("*")) == before
    assert all((here / name).read_text(encoding="utf-8") == Path(name).name for name in own)
