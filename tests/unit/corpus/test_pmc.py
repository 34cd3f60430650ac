"""PMC's bucket and packages: selection and checks of articles, and malicious archives."""

import gzip
import hashlib
import io
import json
import re
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from pubmill.corpus import packages, pmc
from pubmill.corpus.articles import read_articles
from pubmill.corpus.packages import package_order, read_fetched, read_members, read_package
from pubmill.corpus.pmc import count_by_shard, fetch_shard, read_plan
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.specs import PmcPackagesSource
from pubmill.storage import archives, sources
from pubmill.storage.files import read_json
from pubmill.storage.network import GoneError
from tests.bucket import DAY, URL, Bucket, xml

LIST = "Article File,Article Citation,AccessionID,LastUpdated (YYYY-MM-DD HH:MM:SS),PMID,License,Retracted\n"
ROW = "PMC000xxxxxx/PMC7.xml,T,PMC7,2024-12-18 00:00:00,1,CC BY-NC,yes\n"
NAME = "oa_comm_xml.PMC000xxxxxx.baseline.2024-12-18"


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    made = Bucket(tmp_path)
    for pmcid, version in ((123, 1), (123, 9), (123, 10), (19_999, 1), (20_000, 2)):
        made.article(pmcid, version)
    return made


def test_plan_has_the_latest_version_by_number(bucket: Bucket, tmp_path: Path) -> None:
    plan = tmp_path / "plan.parquet"
    assert bucket.plan(plan) == 3
    assert [(one.pmcid, one.version) for one in read_plan(plan, "PMC0000xxxxx")] == [
        (123, 10), (19_999, 1), (20_000, 2),
    ]  # fmt: skip
    assert [one.name for one in read_plan(plan, "PMC00001xxxx")] == ["PMC19999.1"]
    assert count_by_shard(plan, 5) == {"PMC00000xxxx": 1, "PMC00001xxxx": 1, "PMC00002xxxx": 1}


def test_inventory_must_be_whole(bucket: Bucket, tmp_path: Path) -> None:
    plan = tmp_path / "plan.parquet"
    with pytest.raises(PubmillError, match="not the expected file"):
        bucket.plan(plan, MD5checksum="0" * 32)
    bucket.rows = {"": '"b","other/key","2026-08-31T23:00:00.000Z","e"'}
    with pytest.raises(PubmillError, match="names no metadata"):
        bucket.plan(plan)
    bucket.rows = {"": '"b","metadata/PMC1.1.json","yesterday","e"'}
    with pytest.raises(PubmillError, match="inventory of 2026-09-02 .* cannot be read"):
        bucket.plan(plan)
    for wrong in ({"fileFormat": "ORC"}, {"fileSchema": "Bucket, Key"}):
        bucket.inventory()
        manifest = bucket.root / pmc.INVENTORY / f"{DAY}T01-00Z" / "manifest.json"
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | wrong))
        with pytest.raises(
            PubmillError, match="expected the manifest of an inventory in CSV with the columns"
        ):
            pmc.write_plan(plan, URL, DAY, str(bucket.mirror))
    assert not plan.exists()
    with pytest.raises(PubmillError, match="plan.parquet does not exist"):
        read_plan(plan, "PMC00001xxxx")
    with pytest.raises(PubmillError, match="named like PMC00123xxxx"):
        pmc.shard_bounds("PMCxxxx1")


def fetch(bucket: Bucket, tmp_path: Path, shard: str = "PMC0000xxxxx") -> Path:
    plan, archive = tmp_path / "plan.parquet", tmp_path / "out" / f"{shard}.tar.gz"
    bucket.plan(plan)
    fetch_shard(archive, plan, shard, URL, str(bucket.mirror))
    return archive


def test_articles_with_what_the_bucket_says(bucket: Bucket, tmp_path: Path) -> None:
    bucket.article(7, license_code="TDM", is_retracted=True, is_manuscript=True, pmid="15693962")
    bucket.article(8, xml_url=None, license_code=None, is_historical_ocr=True, pmid=77)
    archive = fetch(bucket, tmp_path)
    documents = list(read_articles(archive, read_fetched(archive), "pubmill", (), Counter()))
    assert [(d.id, d.version, d.licence, d.flags, d.body) for d in documents] == [
        ("pmc:7", 1, "TDM", ("retracted", "manuscript"), (("", "Text."),)),
        ("pmc:8", 1, "", ("ocr",), ()),
        ("pmc:123", 10, "CC BY", (), (("", "Text."),)),
        ("pmc:19999", 1, "CC BY", (), (("", "Text."),)),
        ("pmc:20000", 2, "CC BY", (), (("", "Text."),)),
    ]
    assert {document.date for document in documents} == {"2026-08-31"}
    assert [document.pmid for document in documents] == ["15693962", "77", "", "", ""]
    record = read_json(archive.with_name(f"{archive.name}.source.json"))
    assert (record["articles"], record["without_xml"], record["gone"]) == (5, ["PMC8.1"], [])
    assert sorted(path.name for path in archive.parent.iterdir()) == [
        archive.name, f"{archive.name}.kept", f"{archive.name}.source.json",
    ]  # fmt: skip


class Brought(list[str]):
    """Keys, and how many may be downloaded."""

    limit = 100


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> Brought:
    """Record the downloads from now on, in order."""
    found, bring = Brought(), sources.bring

    def bring_and_say(url: str, *rest: Any) -> None:
        if not url.startswith(f"{URL}/{pmc.INVENTORY}"):
            if len(found) == found.limit:
                raise PubmillError("no more")
            found.append(url.removeprefix(f"{URL}/"))
        bring(url, *rest)

    monkeypatch.setattr(pmc, "CONNECTIONS", 1)
    monkeypatch.setattr(pmc, "bring", bring_and_say)
    return found


def test_an_interrupted_fetch_goes_on(bucket: Bucket, tmp_path: Path, brought: Brought) -> None:
    brought.limit = 3
    with pytest.raises(PubmillError, match="no more"):
        fetch(bucket, tmp_path)
    brought.limit = 100
    archive = fetch(bucket, tmp_path)
    assert len(brought) == len(set(brought)) == 6
    undisturbed = fetch(bucket, tmp_path / "again")
    assert archive.read_bytes() == undisturbed.read_bytes()


def test_of_a_new_inventory_only_what_changed_is_brought(
    bucket: Bucket, tmp_path: Path, brought: Brought
) -> None:
    bucket.article(5)
    bucket.article(6)
    archive = fetch(bucket, tmp_path)
    assert len(brought) == 10
    archive.unlink()  # as Snakemake does
    brought.clear()
    bucket.article(6, license_code="CC0")
    bucket.article(123, 11)
    bucket.article(19_999, content=xml(19_999, "Other text."))
    del bucket.rows["metadata/PMC5.1.json"]
    assert fetch(bucket, tmp_path) == archive
    assert brought == [
        "metadata/PMC6.1.json", "metadata/PMC123.11.json", "PMC123.11/PMC123.11.xml",
        "metadata/PMC19999.1.json", "PMC19999.1/PMC19999.1.xml",
    ]  # fmt: skip
    brought.clear()
    assert archive.read_bytes() == fetch(bucket, tmp_path / "anew").read_bytes()
    brought.clear()
    assert fetch(bucket, tmp_path) == archive and brought == []


def test_a_changed_article_is_refused(bucket: Bucket, tmp_path: Path) -> None:
    (bucket.root / "PMC123.10/PMC123.10.xml").write_bytes(xml(123, "Changed."))
    with pytest.raises(PubmillError, match=r"PMC123.10.xml: not the expected file"):
        fetch(bucket, tmp_path)
    assert not (tmp_path / "out" / "PMC0000xxxxx.tar.gz").exists()


def test_articles_that_are_gone_are_recorded(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring = sources.bring

    def missing(url: str, *rest: Any) -> None:
        if "PMC19999" in url:
            raise GoneError(f"{url}: gone")
        bring(url, *rest)

    monkeypatch.setattr(pmc, "bring", missing)
    with pytest.raises(PubmillError, match="1 of the 3 articles .* are gone, the first PMC19999.1"):
        fetch(bucket, tmp_path)
    monkeypatch.setattr(pmc, "GONE_LIMIT", 1 / 3)
    archive = fetch(bucket, tmp_path)
    assert read_json(archive.with_name(f"{archive.name}.source.json"))["gone"] == ["PMC19999.1"]
    assert len(list(read_fetched(archive))) == 2


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"xml_url": "https://evil.org/x.xml"}, "expected `xml_url` as s3"),
        ({"xml_url": "s3://b/../../x.xml?md5=" + "0" * 32}, "expected `xml_url` as s3"),
        ({"pmcid": "PMC9"}, "describes PMC9"),
        ({"pmcid": None}, "`pmcid` such as"),
        ({"version": "a"}, "whole number as `version`"),
    ],
)
def test_wrong_metadata(bucket: Bucket, tmp_path: Path, said: dict[str, Any], words: str) -> None:
    bucket.article(5, **said)
    with pytest.raises(PubmillError, match=words):
        fetch(bucket, tmp_path)


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


def test_package(tmp_path: Path) -> None:
    path = package(tmp_path)
    (one,) = read_package(path, tmp_path / f"{NAME}.filelist.csv")
    assert (one.data, one.facts.pmcid, one.facts.date) == (xml(7), 7, "2024-12-18")
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
        return list(read_articles(path, articles, "pubmill", (), Counter(), unreadable))

    with pytest.raises(PubmillError) as caught:
        documents()
    line = f"    unreadable: {{{NAME}: {{PMC8.1: what is wrong with it}}}}"
    assert re.search(r"PMC8\.xml:1: malformed XML", str(caught.value)) and line in str(caught.value).split(
        "\n"
    )
    source = {"name": "p", "kind": "pmc-packages", "url": "https://b.org", "leave_out": [], "packages": ["a"]}
    assert PmcPackagesSource.model_validate(source | yaml.safe_load(line)).unreadable[NAME].keys() == {
        "PMC8.1"
    }

    assert [(one.id, one.pmid, one.flags) for one in documents("PMC8.1")] == [
        ("pmc:7", "1", ("retracted",)), ("pmc:8", "5", ("retracted", "unreadable")),
    ]  # fmt: skip
    with pytest.raises(PubmillError, match="lacks PMC9.2, which the corpus spec calls unreadable"):
        documents("PMC8.1", "PMC9.2")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("", "is not in"),
        (f"{ROW}PMC000xxxxxx/PMC8.xml,T,PMC8,2024,1,CC BY,no\n", "lacks 1 of"),
        ("PMC000xxxxxx/PMC7.xml,T,7,2024,1,CC BY,no\n", "AccessionID"),
        ("PMC000xxxxxx/PMC7.xml,T,PMC7,2024,1,CC BY,maybe\n", "Retracted"),
        (ROW.replace("2024-12-18 00:00:00", "2024"), "and a date, found .*'2024'"),
        (ROW + ROW.replace("CC BY-NC", "CC BY"), r"filelist\.csv:3: 'PMC.*PMC7\.xml' is there twice"),
        (ROW.replace(",yes", ""), r"filelist\.csv:2: .* has other fields than the header"),
        (ROW.replace("yes", "yes,no"), r"filelist\.csv:2: .* has other fields than the header"),
    ],
)  # fmt: skip
def test_package_and_list_must_agree(tmp_path: Path, rows: str, words: str) -> None:
    path = package(tmp_path, rows)
    with pytest.raises(PubmillError, match=words):
        list(read_package(path, tmp_path / f"{NAME}.filelist.csv"))


def test_the_json_of_an_article_has_no_key_twice() -> None:
    with pytest.raises(PubmillError, match="PMC7.1.json: not valid JSON: the key 'pmcid' occurs twice"):
        packages.read_metadata(b'{"pmcid": "PMC7", "pmcid": "PMC8", "version": 1}', "PMC7.1.json")


def test_a_message_quotes_the_beginning_of_an_endless_flag(tmp_path: Path) -> None:
    content = b'{"pmcid": "PMC7", "version": 1, "is_retracted": "' + b"a" * 10_000 + b'"}'
    path = pack(tmp_path / "PMC00000xxxx.tar.gz", member("PMC7.1.json", content))
    with pytest.raises(PubmillError, match=r"`is_retracted` must be true or false, found 'a{59}$"):
        list(read_fetched(path))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (member("../PMC1.xml", b"x"), "outside"),
        (member("/etc/PMC1.xml", b"x"), "outside"),
        (member("a\\..\\PMC1.xml", b"x"), "outside"),
        (member("PMC1.xml", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "link or device"),
        (member("PMC1.xml", type=tarfile.LNKTYPE, linkname="x"), "link or device"),
        (member("PMC1.xml", type=tarfile.CHRTYPE), "link or device"),
    ],
)
def test_harmful_members_are_refused(tmp_path: Path, bad: tuple[tarfile.TarInfo, bytes], words: str) -> None:
    path = pack(tmp_path / "a.tar.gz", member("PMC0.xml", b"y"), bad)
    with pytest.raises(PubmillError, match=words):
        list(read_members(path))
    assert list(tmp_path.iterdir()) == [path]


def test_huge_members_and_endless_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_truncated_and_damaged(tmp_path: Path) -> None:
    noise = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(200))
    path = pack(tmp_path / "a.tar.gz", *(member(f"PMC{n}.xml", noise) for n in range(5)))
    whole = path.read_bytes()
    for damaged in (
        whole[:-4],
        whole[: len(whole) // 2],
        b"",
        b"no gzip",
        whole[:-8] + b"\1\2\3\4" + whole[-4:],
    ):
        path.write_bytes(damaged)
        with pytest.raises(PubmillError, match="truncated or damaged|does not"):
            list(read_members(path))
    path.write_bytes(gzip.compress(gzip.decompress(whole)[: 512 * 7]))
    with pytest.raises(PubmillError, match="truncated or damaged"):
        list(read_members(path))
    with pytest.raises(PubmillError, match=r"b.tar.gz does not exist"):
        list(read_members(tmp_path / "b.tar.gz"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (tarfile.TarInfo("PMC0.xml").tobuf(), "breaks off, or a header within it is damaged"),
        (member("PMC0.xml", bytes(512))[0].tobuf() + bytes(512), "breaks off"),
        (bytes(512) + tarfile.TarInfo("PMC0.xml").tobuf() + bytes(1024), "truncated or damaged"),
        (tarfile.TarInfo("PMC0.xml").tobuf() + b"x" * 512 + bytes(1024), "a header within it is damaged"),
        (tarfile.TarInfo("PMC0.xml").tobuf() + bytes(512) + b"more".ljust(512), "something follows its end"),
    ],
)
def test_tars_without_a_whole_end(tmp_path: Path, content: bytes, words: str) -> None:
    """tarfile reads any of these as the end of the archive."""
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(PubmillError, match=words):
        list(read_members(path))


@pytest.mark.parametrize(
    "records",
    [b"6 a=b", b"999999999 path=x\n", b"0 =\n", b"11 size=-5\n", b"30 hdrcharset=\xff\xff\xff\xffxxxxxxxxx\n",
     b"28 GNU.sparse.major=1\n\0\0\0\0\0\0", b"99999999999999999999999 a=b\n"],
)  # fmt: skip
def test_broken_pax_headers(tmp_path: Path, records: bytes) -> None:
    extended = tarfile.TarInfo("x")
    extended.type, extended.size = tarfile.XHDTYPE, len(records)
    path = tmp_path / "a.tar.gz"
    article = member("PMC0.xml", b"y" * 512)
    content = extended.tobuf() + records.ljust(512, b"\0") + article[0].tobuf() + article[1] + bytes(1024)
    path.write_bytes(gzip.compress(content))
    try:
        assert [data for _, data in read_members(path)] == [article[1]]
    except PubmillError as error:
        assert "truncated or damaged archive" in str(error)


def test_headers_upon_headers_and_times_beyond_all_dates(tmp_path: Path) -> None:
    name = tarfile.TarInfo("x")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 1
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress((name.tobuf() + b"x".ljust(512)) * 3_000 + bytes(1024)))
    with pytest.raises(PubmillError, match="truncated or damaged archive"):
        list(read_members(path))
    pack(path, member("PMC7.1.json", b"{}", mtime=10**15))
    with pytest.raises(PubmillError, match="its time 1000000000000000.0 is no date"):
        list(read_fetched(path))


def test_numbers_of_thousands_of_digits(tmp_path: Path) -> None:
    digits = "9" * 5_000
    for value in ({"pmcid": f"PMC{digits}"}, {"pmcid": "PMC7", "version": digits}):
        with pytest.raises(PubmillError) as caught:
            packages.read_metadata(json.dumps(value).encode(), "x")
        assert len(str(caught.value)) < 200
    with pytest.raises(PubmillError, match="not valid JSON"):
        packages.read_metadata(b'{"pmcid": %s}' % digits.encode(), "x")
    path = package(tmp_path, ROW.replace(",PMC7,", f",PMC{digits},"))
    with pytest.raises(PubmillError, match="expected an AccessionID") as caught:
        list(read_package(path, tmp_path / f"{NAME}.filelist.csv"))
    assert len(str(caught.value)) < 400
    path = package(tmp_path, ROW.replace(",1,CC", f",{digits},CC"))
    (article,) = read_package(path, tmp_path / f"{NAME}.filelist.csv")
    assert article.facts.pmid == ""


def test_fetched_archives_hold_pairs(tmp_path: Path) -> None:
    described = json.dumps({
        "pmcid": "PMC7", "version": 1, "is_retracted": False, "is_manuscript": 0, "is_historical_ocr": False,
    }).encode()  # fmt: skip
    for members, words in (
        ([member("PMC7.1.xml", xml(7))], "without its JSON"),
        ([member("other", b"x")], "expected PMC1234.1.json"),
        ([member("PMC7.1.json", b"{")], "not valid JSON"),
        ([member("PMC7.1.json", described)], "`is_manuscript` must be true or false"),
    ):
        with pytest.raises(PubmillError, match=words):
            list(read_fetched(pack(tmp_path / "a.tar.gz", *members)))
