"""Damaged PubMed files: a clear error or exactly the content of the whole tree; never other text."""

import gzip
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from pubmill.corpus import medline
from pubmill.corpus.medline import read_medline
from pubmill.errors import PubmillError
from tests.unit.corpus.test_medline import HEAD, articles, citation

DAMAGES = int(os.environ.get("PUBMILL_DAMAGES", "30")) * 20
SEED = os.environ.get("PUBMILL_DAMAGE_SEED", "1")

Reading = list[tuple[str, int, bool, str, list[tuple[str, str]]]]


def article(number: int) -> str:
    return (
        f"<ArticleTitle>Title &lt;{number}&gt; of <i>E. coli</i> <b>K12</b>.</ArticleTitle><Abstract>\n"
        f'<AbstractText Label="AIM" NlmCategory="OBJECTIVE">To see β-catenin {number}.</AbstractText>\n'
        f"<AbstractText><i>x<sub>2</sub></i> <sup>3</sup> &#945; rose by {number} %.</AbstractText>"
        "<CopyrightInformation>© Them</CopyrightInformation></Abstract><Language>eng</Language>"
    )


SOUND = (
    HEAD + "<PubmedArticleSet>\n" + articles(*(citation(n, article(n)) for n in range(1, 6)))
    + "<DeleteCitation><PMID Version='1'>9</PMID></DeleteCitation>\n</PubmedArticleSet>\n"
).encode()  # fmt: skip


def whole_tree(content: bytes) -> Reading:
    """Read the file in the simplest way: one strict parse and XPath."""
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
    )
    root: Any = etree.fromstring(content, parser)

    def text(element: etree._Element) -> str:
        return " ".join(word for word in str(element.xpath("normalize-space()")).split(" "))

    found: Reading = []
    for one in root.xpath("PubmedArticle/MedlineCitation | MedlineCitation | DeleteCitation/PMID"):
        pmid = one if one.tag == "PMID" else one.find("PMID")
        titles = [text(title) for title in one.findall("Article/ArticleTitle")]
        parts = one.findall("Article/Abstract/AbstractText")
        sections = [((part.get("Label") or "").strip(), text(part)) for part in parts if text(part)]
        version = int(pmid.get("Version", "1"))
        found.append(
            (f"pmid:{int(pmid.text)}", version, one.tag == "PMID", "".join(titles), sections)
        )  # fmt: skip
    return found


def ours(path: Path) -> Reading:
    return [
        (row.id, row.version, row.deleted, row.title, list(row.sections)) for row in read_medline(path)
    ]  # fmt: skip


def never_other_text(path: Path, content: bytes) -> bool:
    """Return whether the file was read, after a check that it was read correctly."""
    path.write_bytes(gzip.compress(content, 1, mtime=0))
    try:
        found = ours(path)
    except PubmillError as caught:
        assert path.name in str(caught)
        return False
    assert found == whole_tree(content)  # which fails, too, where the XML is not well-formed
    return True


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Bytes flipped, a piece removed, doubled, moved or cut off: at random, or at the borders of tags."""
    borders = [at for at, byte in enumerate(content) if byte in b"<>"]
    ends = sorted(draw.choice([draw.randrange(len(content)), draw.choice(borders)]) for _ in range(2))
    begin, end = ends
    piece = content[begin:end]
    match draw.randrange(6):
        case 0:
            at = draw.randrange(len(content))
            return content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
        case 1:
            return content[:begin] + content[end:]
        case 2:
            return content[:end] + piece + content[end:]
        case 3:
            return content[:end]
        case 4:
            rest = content[:begin] + content[end:]
            at = draw.randrange(len(rest))
            return rest[:at] + piece + rest[at:]
        case _:
            markup = draw.choice([b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&amp;", b"<b>", b"</b>", b"<b/>"])
            return content[:begin] + markup + content[begin:]


def test_the_sound_file_is_read(tmp_path: Path) -> None:
    assert never_other_text(tmp_path / "pubmed26n0001.xml.gz", SOUND)
    assert len(ours(tmp_path / "pubmed26n0001.xml.gz")) == 6


@pytest.mark.parametrize("block", [97, 1 << 17])
def test_random_damage_never_gives_other_text(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medline, "BLOCK", block)
    draw = random.Random(f"{SEED} {block}")
    path = tmp_path / "pubmed26n0001.xml.gz"
    read = [never_other_text(path, damaged(SOUND, draw)) for _ in range(DAMAGES)]
    assert any(read) and not all(read)


@settings(max_examples=60)
@given(data=st.data())
def test_damage_to_the_packed_file_never_gives_other_text(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    packed = bytearray(gzip.compress(SOUND, mtime=0))
    at = data.draw(st.integers(10, len(packed) - 1))  # the header's fields are no content
    packed[at] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("x") / "pubmed26n0001.xml.gz"
    path.write_bytes(packed)
    try:
        found = ours(path)
    except PubmillError as caught:
        assert path.name in str(caught)
    else:
        assert found == whole_tree(SOUND)


@pytest.mark.parametrize("tag", ["ArticleTitle", "Abstract"])
def test_what_can_stand_only_once_is_not_joined(tmp_path: Path, tag: str) -> None:
    begin, end = SOUND.index(f"<{tag}>".encode()), SOUND.index(f"</{tag}>".encode()) + len(tag) + 3
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(SOUND[:end] + SOUND[begin:end] + SOUND[end:]))
    with pytest.raises(PubmillError, match=f"<Article> with <{tag}> more than once. Last PMID read: 1"):
        ours(path)
