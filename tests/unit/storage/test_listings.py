"""Listings of PubMed's folders over HTTPS and in a mirror."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage import listings
from pubmill.storage.listings import list_folder, pubmed_years
from tests.unit.programs import run_verb
from tests.unit.storage.mirrored import BODY, make_mirror

URL = "https://ftp.example.org/pubmed/baseline/"
TABLE = b"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">
<html><head><title>Index of /pubmed/baseline</title></head>
<body><h1>Index of /pubmed/baseline</h1><table><tr><th><a href="?C=N;O=D">Name</a></th></tr>
<tr><td><a href="/pubmed/">Parent Directory</a></td></tr>
<tr><td><a href="pubmed26n0001.xml.gz">pubmed26n0001.xml.gz</a></td><td>20M</td></tr>
<tr><td><a href="/pubmed/baseline/pubmed26n0001.xml.gz.md5">pubmed26n0001.xml.gz.md5</a></td></tr>
<tr><td><A HREF="pubmed26n0002.xml.gz">pubmed26n0..&gt;</A></td></tr>
<tr><td><a href="README%20first.txt">README first.txt</a></td></tr>
<tr><td><a href="stats/">stats/</a></td></tr>
<tr><td><a href="https://www.ncbi.nlm.nih.gov/home.html">NCBI</a></td></tr></table></body></html>"""
PLAIN = b"""<html><head><title>Index of /pubmed</title></head><body><h1>Index of /pubmed/baseline</h1>
<pre>Name                       Last modified      Size  <hr><a href="/pubmed/">Parent Directory</a>        -
<a href="README.txt">README.txt</a>                 2025-12-05 15:52  4.6K
<a href="pubmed26n0001.xml.gz">pubmed26n0001.xml.gz</a>       2026-01-29 15:00   19M
<a href="pubmed26n0001.xml.gz.md5">pubmed26n0001.xml.gz.md5</a>   2026-01-29 15:00   60
<a href="pubmed26n0002.xml.gz">pubmed26n0002.xml.gz</a>       2026-01-29 15:00
<hr></pre></body></html>"""


def listed(page: bytes, monkeypatch: pytest.MonkeyPatch) -> dict[str, int | None]:
    monkeypatch.setattr(listings, "read", lambda url: page)
    return list_folder(URL)


def test_pages_hold_the_files_of_their_folder_perhaps_with_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert listed(TABLE, monkeypatch) == {
        "README first.txt": None, "pubmed26n0001.xml.gz": 20 << 20, "pubmed26n0001.xml.gz.md5": None,
        "pubmed26n0002.xml.gz": None,
    }  # fmt: skip
    assert listed(PLAIN, monkeypatch) == {
        "README.txt": 4710, "pubmed26n0001.xml.gz": 19 << 20, "pubmed26n0001.xml.gz.md5": 60,
        "pubmed26n0002.xml.gz": None,
    }  # fmt: skip
    assert listed(b"<A HREF=f>f 5K\n<a name=x>y</a> 6K <a href='g'>g", monkeypatch) == {
        "f": 5 << 10,
        "g": None,
    }
    page = "<a href='http://[x/f'>f</a><a href='//h\u2100/f'>f</a><a href='f'>f</a>"
    assert listed(page.encode(), monkeypatch) == {"f": None}


@pytest.mark.parametrize(("printed", "size"), [
    ("0", 0), ("5", 5), ("5K", 5 * 2**10), ("5m", 5 * 2**20), ("5G", 5 * 2**30), ("1.5T", 3 * 2**39),
    ("5X", None), ("9" * 400, None),
])  # fmt: skip
def test_sizes_are_in_powers_of_1024(printed: str, size: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert listed(f'<a href="f">f</a> {printed}'.encode(), monkeypatch) == {"f": size}


def test_folders_list_themselves_or_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="cannot be listed"):
        listed(b"<html><a href='/'>home</a> please wait</html>", monkeypatch)
    with pytest.raises(PubmillError, match="cannot be listed"):
        listed(b"<html>please wait</html>", monkeypatch)
    mirror = make_mirror(tmp_path)
    found = list_folder("https://ftp.example.org/pubmed/baseline/", str(mirror))
    assert found == {"f.gz": len(BODY), "f.gz.md5": 44}
    with pytest.raises(PubmillError, match="has no folder"):
        list_folder("https://ftp.example.org/pubmed/updatefiles/", str(mirror))


@pytest.mark.parametrize("piece", ["<a href='", "<a href=f></a><"])
def test_an_unfinished_page_is_read_in_time(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for the end of each piece again would take hours."""
    page = f"<a href='f'>f</a> 5K\n{piece * 50_000}<a href='g'>g</a> 6K"
    assert listed(page.encode(), monkeypatch)["g"] == 6 << 10


def test_pubmed_files_by_year_with_gaps_and_missing_md5() -> None:
    numbers = {25: [1], 26: [1, 2, 3, 5, 9, 10]}
    listed = [f"pubmed{year}n{number:04d}.xml.gz" for year in numbers for number in numbers[year]]
    beside = [f"{name}.md5" for name in listed if name != "pubmed26n0005.xml.gz"]
    older, newer = pubmed_years(dict.fromkeys([*listed, *beside, "README.txt", "pubmed26n0004.xml.gz.part"]))
    assert (older.year, older.numbers, older.without_md5) == (25, (1,), ())
    assert newer.ranges() == ["26n0001-26n0003", "26n0005", "26n0009-26n0010"]
    assert newer.gaps() == ["26n0004", "26n0006-26n0008"]
    assert newer.without_md5 == ("pubmed26n0005.xml.gz",)


def test_sources_pubmed_prints_what_a_corpus_spec_takes(tmp_path: Path) -> None:
    for folder, numbers in (("baseline", (1, 2, 4)), ("updatefiles", (5,))):
        path = tmp_path / "ftp.ncbi.nlm.nih.gov" / "pubmed" / folder
        path.mkdir(parents=True)
        for number in numbers:
            (path / f"pubmed26n{number:04d}.xml.gz").write_bytes(b"x" * 500_000)
    said = run_verb("sources", "pubmed", "--mirror", tmp_path).stdout
    assert "  # baseline 2026: 3 files, 1.5 MB\n" in said
    assert "  baseline: [26n0001-26n0002, 26n0004]\n" in said
    assert "  updatefiles: [26n0005]\n" in said
    assert "  # not there: 26n0003\n" in said
    assert "without md5: pubmed26n0005.xml.gz" in said
