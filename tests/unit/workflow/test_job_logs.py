"""Logs of jobs: their latest progress, and the reason of a failure."""

import os
from pathlib import Path

import pytest

from pubmill.workflow.display import READ, latest, reason, slower_methods

PRETRAINING = (
    "pubmill: step 20/40 (of 40)  loss 6.100  12,000 tokens/s  MFU 3%  1 min left\n"
    "pubmill: step 30/40 (of 40)  loss 5.900  12,100 tokens/s  MFU 3%  0 min left\n"
)
FINETUNING = (
    "pubmill: step 13/39: dev entity_f1 0.4082\npubmill: step 20/39: loss 0.5000, 9 s left\n"
    "pubmill: step 26/39: dev entity_f1 0.4713\npubmill: step 30/39: loss 0.2500, 3 s left\n"
    "pubmill: step 39/39: dev entity_f1 0.4503\n"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PRETRAINING, "step 30/40 (of 40)  loss 5.900  12,100 tokens/s  MFU 3%  0 min left"),
        (FINETUNING, "step 30/39: loss 0.2500, 3 s left; best dev entity_f1 0.4713"),
        ("pubmill: step 13/39: dev pearson -0.0500\n", "step 13/39; best dev pearson -0.0500"),
        ("pubmill: 12,000 documents\n\n", "12,000 documents"),
        ("start\nload:   0%\rload:  50%\rload: 100%\r\n", "load: 100%"),
        ("", ""),
    ],
)
def test_the_latest_progress_of_a_log(tmp_path: Path, text: str, found: str) -> None:
    log = tmp_path / "job.log"
    log.write_text(text)
    assert latest(str(log)) == found


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("reading\npubmill: error: a.tsv:3: no tab\n  expected 2 columns\n",
         ["a.tsv:3: no tab", "  expected 2 columns"]),
        ("pubmill: error: 1\nTraceback (most recent call last):\n  File\ntorch.OutOfMemoryError: CUDA\n",
         ["torch.OutOfMemoryError: CUDA"]),
        ("1\n2\n3\n4\n5\nKilled\n", ["3", "4", "5", "Killed"]),
        ("first\npubmill: error: a\nb\nc\nd", ["a", "b", "c", "d"]),
        ("first\npubmill: error: a\nb\nc\nd\ne", ["a", "b", "c", "d", "(1 more lines in the log)"]),
        ("", []),
    ],
)  # fmt: skip
def test_the_reason_of_a_failure(tmp_path: Path, text: str, lines: list[str]) -> None:
    log = tmp_path / "job.log"
    log.write_text(text)
    assert reason(str(log)) == lines


def test_a_log_that_is_long_or_not_text_or_missing(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_bytes(b"first\n" + b"x" * READ + b"\n\xff last\n")
    assert latest(str(log)) == "\ufffd last"
    assert (latest(str(tmp_path / "none")), reason(str(tmp_path))) == ("", [])


@pytest.mark.parametrize(("since", "heard"), [(5001.0, True), (5060.0, True), (5060.5, False)])
def test_a_log_of_an_earlier_run_says_nothing(tmp_path: Path, since: float, heard: bool) -> None:
    """Clocks may differ by a minute."""
    log = tmp_path / "job.log"
    log.write_text("pubmill: error: of a job\npubmill: slower than planned: x\n")
    os.utime(log, (5000.0, 5000.0))
    assert bool(latest(str(log), since)) == bool(reason(str(log), since)) == heard
    assert bool(slower_methods(str(log), since)) == heard


def test_methods_that_do_not_work_are_found_at_the_beginning_of_a_long_log(tmp_path: Path) -> None:
    log, text = tmp_path / "log", "pubmill: slower than planned: compiled layers do not work here\n"
    log.write_text(f"a warning\n{text}" + "pubmill: step 3: loss 7.0\n" * READ)
    assert slower_methods(str(log), 0.0) == ["compiled layers do not work here"]
    assert slower_methods(str(tmp_path / "none"), 0.0) == []
