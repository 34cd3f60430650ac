"""The mirror of real files, with real md5 files and real names, as a folder and over HTTP."""

import functools
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
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


def test_the_manifest_of_the_mirror_holds_for_the_datasets(shared: Path, tmp_path: Path) -> None:
    lines = (shared / "mirror" / "MANIFEST.sha256").read_text().splitlines()
    wanted = [line.split(maxsplit=1) for line in lines if line.endswith(("devel.tsv", "test.tsv"))]
    assert wanted
    for sha256, path in wanted:
        url = f"https://{path.removeprefix('./')}"
        download(url, tmp_path / "file.tsv", str(shared / "mirror"), sha256=sha256)


def test_a_served_folder_lists_like_the_folder_itself(shared: Path, tmp_path: Path) -> None:
    root = shared / "mirror" / "ftp.ncbi.nlm.nih.gov"
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(root))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{http.server_address[1]}/pubmed"
        try:
            served = list_folder(f"{base}/baseline/")
            name = "pubmed26n0001.xml.gz"
            download(f"{base}/baseline/{name}", tmp_path / name, md5_beside=True)
        finally:
            http.shutdown()
    # Python's own server lists no sizes.
    assert served == dict.fromkeys(list_folder(f"{BASE}/baseline/", str(shared / "mirror")))
    assert (tmp_path / name).read_bytes() == (root / "pubmed" / "baseline" / name).read_bytes()
