"""Snakemake's own lint of a fresh clone, whose workflow is where the workflow catalogue looks for it."""

import subprocess
import sys
from pathlib import Path

from tests.waiting import patience


def test_with_the_default_configuration_there_are_no_findings(root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--snakefile", root / "workflow/Snakefile", "--lint"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=patience(300),
    )  # fmt: skip
    assert done.returncode == 0 and "Lints for" not in done.stderr, done.stderr
