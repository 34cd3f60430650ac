"""PMC's packages and fetched archives: articles, their lists, and malicious archives."""

import gzip
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import pytest
import yaml

from pubmill.corpus import packages
from pubmill.corpus.jats import JatsReader
from pubmill.corpus.packages import package_order, read_fetched, read_members, read_package
from pubmill.corpus.parsing import read_articles
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.specs.corpus_specs import PmcPackagesSource
from pubmill.storage import archives
from tests.bucket import xml

LIST = "Article File,Article Citation,AccessionID,LastUpdated (YYYY-MM-DD HH:MM:SS),PMID,License,Retracted\n"
ROW = "PMC000xxxxxx/PMC7.xml,T,PMC7,2024-12-18 00:00:00,1,CC BY-NC,yes\n"
NAME = "oa_comm_xml.PMC000xxxxxx.baseline.2024-12-18"
DIGITS = "9" * 5_000


def member(name: str, data: bytes = b"", **facts: object) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.size = len(data)
    for key, value in facts.items():
        setattr(made, key, value)
    return made, data


def pack(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for one, data in members:
            archive.addfile(one, io.BytesIO(data))
    return path


def package(folder: Path, rows: str = ROW) -> Path:
    (folder / f"{NAME}.filelist.csv").write_text(LIST + rows)
    folders = member("PMC000xxxxxx", type=tarfile.DIRTYPE)
    return pack(folder / f"{NAME}.tar.gz", folders, member("PMC000xxxxxx/PMC7.xml", xml(7)))


def test_packages_are_read_by_their_lists(tmp_path: Path) -> None:
    digits = "9" * 5_000
    path = package(tmp_path, ROW.replace(",PMC7,", f",PMC{digits},"))
    with pytest.raises(PubmillError, match="expected an AccessionID") as caught:
        list(read_package(path, tmp_path / f"{NAME}.filelist.csv"))
    assert len(str(caught.value)) < 400
    path = package(tmp_path, ROW.replace(",1,CC", f",{digits},CC"))
    (article,) = read_package(path, tmp_path / f"{NAME}.filelist.csv")
    assert article.facts.pmid == ""
    path = package(tmp_path)
    (one,) = read_package(path, tmp_path / f"{NAME}.filelist.csv")
    assert (one.data, one.facts.id, one.facts.date) == (xml(7), "pmc:7", "2024-12-18")
    assert (one.facts.licence, one.facts.flags, one.facts.pmid) == ("CC BY-NC", ("retracted",), "1")
    assert package_order(path) == 20241218
    assert package_order(Path("oa_comm_xml.incr.2024-12-19.tar.gz")) == 20241219
    with pytest.raises(PubmillError, match="named like"):
        package_order(Path("mine.tar.gz"))


def test_an_article_that_cannot_be_read_is_reported_and_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.filelist.csv").write_text(LIST + ROW + ROW.replace("7", "8").replace(",1,", ",5,"))
    damaged = xml(8).replace(b"</p>", b"</q>")
    path = pack(
        tmp_path / f"{NAME}.tar.gz",
        member("PMC000xxxxxx/PMC7.xml", xml(7)),
        member("PMC000xxxxxx/PMC8.xml", damaged),
    )

    def documents(*unreadable: str) -> list[Document]:
        articles = read_package(path, tmp_path / f"{NAME}.filelist.csv")
        return list(read_articles(path, articles, JatsReader(()), unreadable))

    with pytest.raises(PubmillError) as caught:
        documents()
    line = f"    unreadable: {{{NAME}: {{PMC8.1: what is wrong with it}}}}"
    assert re.search(r"PMC8\.xml:1: malformed XML", str(caught.value))
    assert line in str(caught.value).split("\n")
    source = {"name": "p", "kind": "pmc-packages", "url": "https://b.org", "leave_out": [], "packages": ["a"]}
    known = PmcPackagesSource.model_validate(source | yaml.safe_load(line)).unreadable
    assert known[NAME].keys() == {"PMC8.1"}
    assert [(one.id, one.pmid, one.flags) for one in documents("PMC8.1")] == [
        ("pmc:7", "1", ("retracted",)), ("pmc:8", "5", ("retracted", "unreadable")),
    ]  # fmt: skip
    with pytest.raises(PubmillError, match="lacks PMC9.2, which the corpus spec calls unreadable"):
        documents("PMC8.1", "PMC9.2")


@pytest.mark.parametrize(("listed", "words"), [
    *((LIST + rows, words) for rows, words in (
        ("", "is not in"), (f"{ROW}PMC000xxxxxx/PMC8.xml,T,PMC8,2024,1,CC BY,no\n", "lacks 1 of"),
        ("PMC000xxxxxx/PMC7.xml,T,7,2024,1,CC BY,no\n", "AccessionID"),
        ("PMC000xxxxxx/PMC7.xml,T,PMC7,2024,1,CC BY,maybe\n", "Retracted"),
        (ROW.replace("2024-12-18 00:00:00", "2024"), "and a date, found .*'2024'"),
        (ROW + ROW.replace("CC BY-NC", "CC BY"), r"filelist\.csv:3: 'PMC.*PMC7\.xml' is there twice"),
        (ROW.replace(",yes", ""), r"filelist\.csv:2: .* has other fields than the header"),
        (ROW.replace("yes", "yes,no"), r"filelist\.csv:2: .* has other fields than the header"),
    )),
    *((text, f"lacks the column '{lacking}'; expected PMC's file list") for text, lacking in (
        ("", "Article File"), (LIST.replace("License", "Licence"), "License"),
        ("AccessionID\n", "Article File"),
    )),
])  # fmt: skip
def test_package_and_list_must_agree(tmp_path: Path, listed: str, words: str) -> None:
    path = package(tmp_path)
    (tmp_path / f"{NAME}.filelist.csv").write_text(listed)
    with pytest.raises(PubmillError, match=words):
        list(read_package(path, tmp_path / f"{NAME}.filelist.csv"))


@pytest.mark.parametrize(("bad", "words"), [
    (member("../PMC1.xml", b"x"), "outside"), (member("/etc/PMC1.xml", b"x"), "outside"),
    (member("a\\..\\PMC1.xml", b"x"), "outside"),
    (member("PMC1.xml", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "link or device"),
    (member("PMC1.xml", type=tarfile.LNKTYPE, linkname="x"), "link or device"),
    (member("PMC1.xml", type=tarfile.CHRTYPE), "link or device"),
])  # fmt: skip
def test_harmful_members_are_refused(tmp_path: Path, bad: tuple[tarfile.TarInfo, bytes], words: str) -> None:
    path = pack(tmp_path / "a.tar.gz", member("PMC0.xml", b"y"), bad)
    with pytest.raises(PubmillError, match=words):
        list(read_members(path))
    assert list(tmp_path.iterdir()) == [path]


def test_huge_endless_truncated_and_damaged_archives_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "ARTICLE_LIMIT", 1 << 16)
    monkeypatch.setattr(archives, "MOST_PADDING", 1 << 16)
    path = pack(tmp_path / "a.tar.gz", member("PMC0.xml", bytes(1 << 17)))
    with pytest.raises(PubmillError, match="131,072 bytes; expected at most 65,536"):
        list(read_members(path))
    pack(path, member("PMC0.xml", b"x", pax_headers={"comment": "y" * (1 << 20)}))
    with pytest.raises(PubmillError, match=r"a header asks for 1,04\d,\d+ bytes"):
        list(read_members(path))
    pack(path, member("PMC0.xml", b"x"))
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + bytes(1 << 20)))
    with pytest.raises(PubmillError, match="more than 65,536 bytes follow its end"):
        list(read_members(path))
    noise = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(200))
    path = pack(tmp_path / "a.tar.gz", *(member(f"PMC{n}.xml", noise) for n in range(5)))
    whole = path.read_bytes()
    other_sum = whole[:-8] + b"\1\2\3\4" + whole[-4:]
    for damaged in (whole[:-4], whole[: len(whole) // 2], b"", b"no gzip", other_sum):
        path.write_bytes(damaged)
        with pytest.raises(PubmillError, match="truncated or damaged|does not"):
            list(read_members(path))
    path.write_bytes(gzip.compress(gzip.decompress(whole)[: 512 * 7]))
    with pytest.raises(PubmillError, match="truncated or damaged"):
        list(read_members(path))
    with pytest.raises(PubmillError, match=r"b.tar.gz does not exist"):
        list(read_members(tmp_path / "b.tar.gz"))


def fetched(number: int, version: object = 1, **changes: object) -> bytes:
    flags = dict.fromkeys(("is_retracted", "is_manuscript", "is_historical_ocr"), False)
    return json.dumps({"pmcid": f"PMC{number}", "version": version, **flags, **changes}).encode()


@pytest.mark.parametrize(("members", "words"), [
    *(([member("PMC7.1.json", content)], rf"PMC7\.1\.json: .*{words}") for content, words in (
        (b"{", "not valid JSON"), (b'{"pmcid": %s}' % DIGITS.encode(), "not valid JSON"),
        (b'{"pmcid": "PMC7", "pmcid": "PMC8", "version": 1}', "the key 'pmcid' occurs twice"),
        (fetched(7, pmcid=f"PMC{DIGITS}"), "expected an object with a `pmcid`"),
        (fetched(7, DIGITS), "expected a whole number as `version`, found '9{58}"),
        (fetched(7, is_manuscript=0), "`is_manuscript` must be true or false"),
        (fetched(7, is_retracted="a" * 10_000), "`is_retracted` must be true or false, found 'a{59}$"),
    )),
    *(([member("PMC7.1.json", fetched(7)), further], words) for further, words in (
        (member("PMC7.2.xml", xml(7)), "'PMC7.2.xml' comes without its JSON before it"),
        (member("PMC8.1.xml", xml(7)), "'PMC8.1.xml' comes without its JSON before it"),
        (member("other", b"x"), "expected PMC1234.1.json"),
        (member("PMC8.1.json", b"{}", mtime=10**15), "its time 1000000000000000.0 is no date"),
    )),
])  # fmt: skip
def test_fetched_archives_are_checked(
    tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], words: str
) -> None:
    with pytest.raises(PubmillError, match=words):
        list(read_fetched(pack(tmp_path / "a.tar.gz", *members)))


def test_fetched_articles_without_xml_are_yielded_without_text_in_their_order(tmp_path: Path) -> None:
    path = pack(
        tmp_path / "a.tar.gz", member("PMC7.1.json", fetched(7), mtime=86_400),
        member("PMC8.2.json", fetched(8, 2)), member("PMC8.2.xml", xml(8)), member("PMC9.1.json", fetched(9)),
    )  # fmt: skip
    articles = list(read_fetched(path))
    assert [(one.name, one.data) for one in articles] == [
        ("PMC7.1.json", b""), ("PMC8.2.xml", xml(8)), ("PMC9.1.json", b""),
    ]  # fmt: skip
    assert [one.facts[:2] for one in articles] == [("pmc:7", 1), ("pmc:8", 2), ("pmc:9", 1)]
    assert (articles[0].facts.date, articles[1].facts.date) == ("1970-01-02", "1970-01-01")
