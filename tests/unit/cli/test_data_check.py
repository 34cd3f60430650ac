"""`pubmill doctor data`: what is checked, and the status."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pubmill.cli.app import APP
from tests.licensed import KEY, NAME


@pytest.mark.parametrize(
    ("is_there", "train", "status", "said"),
    [
        (True, 2, 0, "as expected: 1 of 1 dataset, 3 of 3 counts"),
        (True, 3, 1, "train mentions: expected 3, found 2"),
        (False, 2, 1, "not checked: 1 dataset"),
    ],
)
def test_the_status_says_whether_all_that_was_checked_is_right(
    checkout: Path, folder: Path, is_there: bool, train: int, status: int, said: str
) -> None:
    """Where nothing could be checked, nothing is right."""
    spec = checkout / f"specs/datasets/{NAME}.yaml"
    spec.write_text(spec.read_text().replace("train: {mentions: 2}", f"train: {{mentions: {train}}}"))
    local = ["--local", f"{KEY}={folder}"] if is_there else []
    answer = CliRunner().invoke(APP, ["doctor", "data", NAME, *local, "--processes", "1"])
    assert answer.exit_code == status and said in answer.output
    assert answer.output.endswith(" seconds in 1 processes\n")
    assert (f"1 of 1: {NAME}, " in answer.output) is is_there
