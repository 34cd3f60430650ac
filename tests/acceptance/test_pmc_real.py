"""Real articles: pubmill reads all of their text, and every paragraph that pubmed_parser finds."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pubmed_parser
import pytest
from lxml import etree

from pubmill.corpus.jats import LEAVABLE, NEVER, JatsReader
from pubmill.corpus.packages import Article, read_fetched, read_package
from pubmill.corpus.pmc import fetch_shard, read_plan, write_plan
from tests.articles import (
    NOTES,
    USUAL,
    bare,
    body_characters,
    body_words,
    characters,
    characters_below,
    words,
    words_below,
)

BUCKET = "https://pmc-oa-opendata.s3.amazonaws.com"
OA = "ftp.ncbi.nlm.nih.gov/pub/pmc/deprecated/oa_bulk"
PACKAGES = [
    f"{OA}/{kind}/xml/{kind}_xml.PMC000xxxxxx.baseline.2024-12-18" for kind in ("oa_comm", "oa_noncomm")
]


def articles_of(shared: Path, folder: Path) -> Iterator[Article]:
    mirror = shared / "mirror"
    plan = folder / "plan.parquet"
    write_plan(plan, BUCKET, "2026-09-02", str(mirror))
    for digit in range(10):
        archive = folder / f"{digit}.tar.gz"
        shard = f"PMC00{digit}xxxxxx"
        fetch_shard(archive, read_plan(plan, shard), shard, BUCKET, str(mirror))
        yield from read_fetched(archive)
    for name in PACKAGES:
        yield from read_package(mirror / f"{name}.tar.gz", mirror / f"{name}.filelist.csv")


@pytest.fixture(scope="module")
def articles(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Article]:
    return list(articles_of(shared, tmp_path_factory.mktemp("pmc")))


KEPT = {"normal": 6, "executive-summary": 5, "main": 1, "graphical": 1}
NOT_IN_TITLES = "ancestor::fn or ancestor::label or ancestor::xref[" + " or ".join(
    f"@ref-type = '{kind}'" for kind in NOTES
)
NOT_IN_TITLES += "]"


def titles(root: Any) -> Iterator[str]:
    """Return the label of every section, from the simplest possible reader."""
    for section in root.iter("sec"):
        names = []
        for one in [*section.xpath("ancestor::sec"), section]:
            text = "".join(one.xpath(f"title[1]//text()[not({NOT_IN_TITLES})]"))
            names.append(" ".join(text.replace("\u00a0", "\0").split()).replace("\0", "\u00a0"))
        yield " > ".join(filter(None, names))


def tree(article: Article) -> etree._Element:
    return etree.fromstring(article.data, etree.XMLParser(remove_comments=True, remove_pis=True))


@pytest.mark.parametrize("part", ["an eighth", pytest.param("the rest", marks=pytest.mark.weekly)])
def test_characters_and_words_in_are_those_that_come_out(articles: list[Article], part: str) -> None:
    """In one of eight articles, and in all others."""
    assert len(articles) == 2336
    chosen = [one for place, one in enumerate(articles) if (place % 8 == 0) == (part == "an eighth")]
    assert not [wrong for article in chosen for wrong in differences(article)]


def differences(article: Article) -> list[str]:
    """Return where the text that is read differs from that of the simplest possible reader."""
    root, different = tree(article), []
    labels = {bare(label) for label in (*titles(root), "")}
    for leave_out in ((), USUAL):
        document = JatsReader(leave_out)(article.data, article.facts, article.name)
        if characters(document.body) != body_characters(root, leave_out):
            different.append(article.name)
        if words(document.body) != body_words(root, leave_out):
            different.append(f"words of {article.name}")
        different += [f"{article.name}: {label}" for label, _ in document.body if bare(label) not in labels]
    path = "front/article-meta/abstract[not(@abstract-type)]"
    left = [tag for name in USUAL for tag in LEAVABLE.get(name, ())]
    if root.xpath(path):
        below = root, path, [*NEVER, *left], ("sec",)
        if characters(document.sections) != characters_below(*below):
            different.append(f"abstract of {article.name}")
        if words(document.sections) != words_below(*below):
            different.append(f"words of the abstract of {article.name}")
    return different


@pytest.mark.weekly
def test_what_articles_lack(articles: list[Article]) -> None:
    read = JatsReader(USUAL)
    without: Counter[str] = Counter()
    for article in articles:
        document = read(article.data, article.facts, article.name)
        without["abstract"] += not document.sections
        without["body"] += not document.body
        without["title"] += not document.title
        without["year"] += not document.published
        without["licence"] += not document.licence
    assert without == {"abstract": 47, "body": 19, "title": 0, "year": 0, "licence": 0}
    assert read.typed == {f'abstract abstract-type="{kind}"': count for kind, count in KEPT.items()}
    assert sum(count for tag, count in read.left_out.items() if tag.startswith("abstract ")) == 73


def theirs(path: Path, article: Article) -> tuple[dict[str, object] | None, list[str]]:
    path.write_bytes(article.data)
    try:
        metadata = pubmed_parser.parse_pubmed_xml(str(path))
    except KeyError:
        metadata = None
    paragraphs = pubmed_parser.parse_pubmed_paragraph(str(path), all_paragraph=True)
    return metadata, [text for one in paragraphs if (text := bare(one["text"]))]


def within(short: str, long: str) -> bool:
    """Return whether all characters of `short` occur in `long` in the same order."""
    place = 0
    for character in short:
        place = long.find(character, place) + 1
        if not place:
            return False
    return True


@pytest.mark.weekly
def test_every_paragraph_that_pubmed_parser_finds_is_found(articles: list[Article], tmp_path: Path) -> None:
    read, usual = JatsReader(()), JatsReader(USUAL)
    count: Counter[str] = Counter()
    lost = []
    for article in articles:
        metadata, paragraphs = theirs(tmp_path / "article.xml", article)
        document = read(article.data, article.facts, article.name)
        kept = {
            bare(line) for _, text in usual(article.data, article.facts, "").body for line in text.split("\n")
        }
        count["articles that it cannot read"] += metadata is None
        lines = {bare(line) for _, text in document.body for line in text.split("\n")}
        whole = [bare(text) for _, text in document.body]
        for paragraph in paragraphs:
            count["paragraphs"] += 1
            if paragraph in lines:
                count["the same"] += 1
                count["left out by the usual choice"] += paragraph not in kept
            elif any(within(paragraph, line) for line in lines):
                count["cut short by it"] += 1
            elif any(within(paragraph, text) for text in whole):
                count["joined by it around a list or quotation"] += 1
            else:
                lost.append(f"{article.name}: {paragraph[:80]}")
    assert not lost
    assert count == {
        "paragraphs": 94_347, "the same": 91_026, "cut short by it": 3_309,
        "joined by it around a list or quotation": 12, "left out by the usual choice": 8_023,
        "articles that it cannot read": 6,
    }  # fmt: skip
