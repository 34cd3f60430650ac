"""The size of the graph on docs/planning.md is that of the benchmark which the page names."""

import re
import runpy
from pathlib import Path

import pytest

from pubmill.specs import load
from tests.conftest import ROOT

PAPER = "lewis2020"
"""The paper whose graph takes the least time."""


@pytest.mark.weekly
@pytest.mark.long
def test_the_page_has_the_jobs_that_the_benchmark_counts(tmp_path: Path) -> None:
    benchmark = runpy.run_path(str(ROOT / "benchmarks/planning.py"))
    specs = load(ROOT / "specs", "full")
    tables = sorted(name for name in (*specs.tables, *specs.fact_tables) if name.startswith(f"{PAPER}/"))
    local_files = benchmark["stand_ins"](specs, tmp_path / "local")
    planned = benchmark["dry_run"](ROOT, benchmark["configuration"](tables, local_files, tmp_path), tmp_path)
    [printed] = re.findall(
        rf"\| {PAPER}, {len(tables)} tables \| ([\d,]+) \|", (ROOT / "docs/planning.md").read_text()
    )
    assert f"{planned.jobs:,}" == printed
