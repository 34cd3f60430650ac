"""The jobs of a study on docs/planning.md are those of Snakemake's dry run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.long
def test_the_page_has_the_jobs_of_a_dry_run(tmp_path: Path) -> None:
    text = (ROOT / "docs/planning.md").read_text(encoding="utf-8")
    [(study, printed)] = re.findall(r"A dry run of (\w+), ([\d,]+) jobs", text)
    words = [
        "-n",
        "--quiet",
        "rules",
        "--configfile",
        f"studies/{study}.yaml",
        "--config",
        f"results={tmp_path}",
    ]
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/local", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    [total] = {*re.findall(r"(?m)^total +(\d+)", done.stdout + done.stderr)}  # printed twice
    assert f"{int(total) - 1:,}" == printed, "without the target"
