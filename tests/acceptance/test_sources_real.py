"""The mirror of real files, with real md5 files and real names, as a folder and over HTTP."""

import json
from pathlib import Path

import pytest

from pubmill.storage.listings import list_folder, pubmed_years
from pubmill.storage.sources import download

BASE = "https://ftp.ncbi.nlm.nih.gov/pubmed"


@pytest.mark.parametrize("folder", ["baseline", "updatefiles"])
def test_every_pubmed_file_agrees_with_its_published_md5(folder: str, shared: Path, tmp_path: Path) -> None:
    mirror = str(shared / "mirror")
    (year,) = pubmed_years(list_folder(f"{BASE}/{folder}", mirror))
    assert year.numbers and year.without_md5 == ()
    for number in year.numbers:
        name = f"pubmed{year.year}n{number:04d}.xml.gz"
        download(f"{BASE}/{folder}/{name}", tmp_path / name, mirror, md5_beside=True)
        record = json.loads((tmp_path / f"{name}.source.json").read_text())
        assert record["origin"] == "mirror" and record["bytes"] > 0
