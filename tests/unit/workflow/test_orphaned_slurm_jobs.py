"""Slurm jobs of an earlier run, with a made-up squeue."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.workflow.run_start import begin_run


@pytest.fixture
def squeue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """File whose content a fake squeue prints for the run `first`; it prints nothing for other runs."""
    answer, program = tmp_path / "answer", tmp_path / "squeue"
    answer.write_text("")
    program.write_text(f'#!/bin/sh\ncase "$*" in *"--name first "*) cat {answer};; esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return answer


def test_a_run_begins_once_no_job_of_the_one_before_is_left(tmp_path: Path, squeue: Path) -> None:
    results = tmp_path / "results"
    begin_run(results, "first")
    squeue.write_text("41\n42\n", encoding="utf-8")
    with pytest.raises(PubmillError, match=r"2 jobs .* \(41, 42\).*`scancel --name first`"):
        begin_run(results, "second")
    with pytest.raises(PubmillError, match="`scancel --name first`"):  # still known, whoever asks
        begin_run(results, "third")
    squeue.write_text("", encoding="utf-8")
    begin_run(results, "second")
    begin_run(results, "third")


def test_of_many_jobs_some_are_named(tmp_path: Path, squeue: Path) -> None:
    begin_run(tmp_path / "results", "first")
    squeue.write_text("\n".join(map(str, range(100, 150))), encoding="utf-8")
    with pytest.raises(PubmillError, match=r"50 jobs .* 109, \.\.\.\)"):
        begin_run(tmp_path / "results", "second")


def test_ten_jobs_are_all_named(tmp_path: Path, squeue: Path) -> None:
    begin_run(tmp_path / "results", "first")
    squeue.write_text("\n".join(map(str, range(100, 110))), encoding="utf-8")
    with pytest.raises(PubmillError, match=r"10 jobs .* 108, 109\)"):
        begin_run(tmp_path / "results", "second")


def test_a_queue_that_cannot_be_asked_stops_the_run(tmp_path: Path, squeue: Path) -> None:
    """Jobs of an earlier run may be left; without an earlier run nothing is asked."""
    (tmp_path / "squeue").write_text("#!/bin/sh\necho no controller >&2\nexit 1\n")
    begin_run(tmp_path / "results", "first")
    with pytest.raises(PubmillError, match="squeue cannot list the jobs of an earlier run: no controller$"):
        begin_run(tmp_path / "results", "second")
