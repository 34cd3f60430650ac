"""Seconds of finished jobs."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.planning.plan import measured_seconds
from pubmill.storage.result_paths import Paths

HEADER = "s\th:m:s\tmax_rss\n"


def put(folder: Path, name: str, text: str) -> None:
    path = Path(Paths(str(folder)).benchmark("parse", str(folder / f"parse/pubmed/{name}")))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_mean_of_a_rules_finished_jobs_is_its_seconds(tmp_path: Path) -> None:
    put(tmp_path, "one", f"{HEADER}2.5\t0:00:02\t-\n")
    put(tmp_path, "two", f"{HEADER}5.0\t0:00:05\t81.2\n")
    measured = measured_seconds(Paths(str(tmp_path)))
    found = measured("parse")
    assert found and found.seconds == 3.75
    assert found.source == f"measured: mean of 2 jobs in {tmp_path}/benchmarks/parse"
    assert measured("pack") is None


@pytest.mark.parametrize("text", ["", HEADER, f"{HEADER}soon\n", "x\ty\n1\t2\n"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    put(tmp_path, "one", text)
    with pytest.raises(PubmillError, match=r"one\.tsv: expected Snakemake's table of a benchmark"):
        measured_seconds(Paths(str(tmp_path)))("parse")
