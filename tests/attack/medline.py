"""PubMed files of any form that XML allows, read by pubmill and by a plain tree of the whole file.

A file has citations as NLM writes them, some of them changed: comments, processing instructions, CDATA and
namespaces anywhere, references to characters, attributes in another order or quoted otherwise, blanks in
tags, empty, nested, doubled, moved and missing elements, and now and then damage that makes it malformed.
The plain reading is the standard library's parser (expat) and its search functions.
"""

import gzip
import re
from pathlib import Path
from xml.etree import ElementTree

from pubmill.corpus import medline
from pubmill.corpus.medline import read_medline
from pubmill.corpus.medline_bytes import day, year
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from tests.attack import attack
from tests.attack.markup import Node, damaged, hostile, is_malformed, serialised
from tests.world.dice import Dice

Reading = list[Document] | None
"""The rows of a file; None where it is refused."""

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "pubmed.dtd">\n'
MATHML = ' xmlns:mml="http://www.w3.org/1998/Math/MathML"'
NAMES = (
    "PubmedArticle", "MedlineCitation", "PMID", "Article", "Journal", "PubDate", "ArticleTitle", "Pagination",
    "Abstract", "AbstractText", "CopyrightInformation", "Language", "PublicationTypeList", "DateRevised",
    "CommentsCorrections", "AuthorList", "OtherAbstract", "DeleteCitation", "b",
)  # fmt: skip
HIDDEN = (
    "</Pagination><Abstract><AbstractText>FAKE</AbstractText></Abstract><AuthorList>", "</PubmedArticle>",
    "<PubmedArticle><MedlineCitation><PMID>9</PMID>", "</AbstractText>", "</Abstract>", "<PMID>8</PMID>",
    "plain",
    "</MedlineCitation>", "<Article>", "</ArticleTitle>", "",
)  # fmt: skip


class RefusedError(Exception):
    """The plain reading finds no citation where one is required, or two where one is allowed."""


def one(parent: ElementTree.Element, name: str, required: bool = False) -> ElementTree.Element | None:
    found = parent.findall(name)
    if len(found) > 1 or (required and not found):
        raise RefusedError(name)
    return found[0] if found else None


def required(parent: ElementTree.Element, name: str) -> ElementTree.Element:
    found = one(parent, name, required=True)
    assert found is not None
    return found


def text(element: ElementTree.Element | None) -> str:
    return "" if element is None else re.sub("[ \t\r\n]+", " ", "".join(element.itertext())).strip(" ")


def identity(pmid: ElementTree.Element) -> tuple[str, int]:
    number, version = (pmid.text or "").strip(), pmid.get("Version", "1")
    if not (re.fullmatch("[0-9]{1,18}", number) and re.fullmatch("[0-9]{1,9}", version)):
        raise RefusedError(number)
    return str(int(number)), int(version)


def document(citation: ElementTree.Element) -> Document:
    number, version = identity(required(citation, "PMID"))
    article = required(citation, "Article")
    revised, journal = citation.find("DateRevised"), one(article, "Journal")
    wanted = ("ArticleTitle", "Abstract", "PublicationTypeList")
    title, abstract, types = (one(article, name) for name in wanted)
    parts = {} if revised is None else {part.tag: part.text for part in revised}
    dated = [] if journal is None else journal.iter("PubDate")
    dates = [piece for date in dated for piece in date.itertext()]
    texts = [] if abstract is None else abstract.findall("AbstractText")
    return Document(
        id=f"pmid:{number}", version=version, pmid=number,
        date=day(*(parts.get(name) for name in ("Year", "Month", "Day"))),
        published=next(filter(None, map(year, dates)), ""),
        languages=tuple(" ".join(text(code) for code in article.findall("Language")).lower().split()),
        types=() if types is None else tuple(text(kind) for kind in types),
        licence="" if abstract is None else " ".join(map(text, abstract.findall("CopyrightInformation"))),
        title=text(title),
        sections=tuple((part.get("Label", "").strip(), text(part)) for part in texts if text(part)),
    )  # fmt: skip


def rows(child: ElementTree.Element) -> list[Document]:
    if child.tag == "PubmedArticle":
        return [document(required(child, "MedlineCitation"))]
    if child.tag == "MedlineCitation":
        return [document(child)]
    if child.tag == "PubmedBookArticle":
        number, version = identity(required(required(child, "BookDocument"), "PMID"))
        return [Document(id=f"pmid:{number}", version=version, pmid=number, flags=("book",))]
    if child.tag != "DeleteCitation":
        raise RefusedError(child.tag)
    named = [identity(pmid) for pmid in child.findall("PMID")]
    return [Document(id=f"pmid:{number}", version=version, deleted=True) for number, version in named]


def plain(whole: bytes) -> Reading:
    """The rows by the plainest reading: the whole tree."""
    try:
        return [row for child in ElementTree.fromstring(whole) for row in rows(child)]
    except (ElementTree.ParseError, RefusedError):
        return None


def read(path: Path) -> Reading:
    try:
        return list(read_medline(path))
    except PubmillError as error:
        assert "\n" not in str(error)
        return None


def date(name: str, dice: Dice) -> Node:
    parts = [("Year", 1990, 2026), ("Month", 1, 12), ("Day", 1, 28)]
    return Node(name, [], [Node(part, [], [f"{dice.between(low, high):02}"]) for part, low, high in parts])


def prose(dice: Dice) -> list[Node | str]:
    pieces: list[Node | str] = []
    for _ in range(dice.between(1, 3)):
        texts = ("To see ", "β-catenin\n  ", "p < 0.05 & so ", "10\u2009%", " ", "a  > b", "]]")
        pieces.append(dice.pick(texts))
        if dice.chance(0.4):
            inner = Node(dice.pick(("i", "sub", "sup", "b", "mml:math")), [], ["x", Node("sub", [], ["2"])])
            pieces.append(inner)
    return pieces


def abstract(dice: Dice) -> Node:
    label, category = ("Label", " A/B "), ("NlmCategory", "METHODS")
    labels: tuple[list[tuple[str, str]], ...] = ([], [("Label", "AIM")], [label, category], [category])
    parts: list[Node | str] = [
        Node("AbstractText", list(dice.pick(labels)), prose(dice)) for _ in range(dice.between(1, 3))
    ]
    if dice.chance(0.3):
        parts.append(Node("CopyrightInformation", [], prose(dice)))
    return Node("Abstract", [], parts)


def citation(dice: Dice, number: int) -> Node:
    def some(*nodes: Node) -> list[Node | str]:
        return [node for node in nodes if dice.chance(0.6)]

    pmid = Node("PMID", [("Version", str(dice.between(1, 2)))], [str(number)])
    printed = dice.pick((Node("Year", [], ["1998"]), Node("MedlineDate", [], ["1998 Dec-1999 Jan"])))
    volumes = some(Node("Volume", [], ["1"]))
    issue = Node("JournalIssue", [("CitedMedium", "Print")], [*volumes, Node("PubDate", [], [printed])])
    article = Node("Article", [("PubModel", "Print")], [
        Node("Journal", [], [*some(Node("ISSN", [], ["0-0"])), issue, Node("Title", [], ["J & K"])]),
        Node("ArticleTitle", [], prose(dice)),
        *some(Node("Pagination", [], [Node("MedlinePgn", [], ["1-2"])]), abstract(dice)),
        *some(Node("AuthorList", [("CompleteYN", "Y")], [Node("Author", [], [Node("LastName", [], ["A"])])])),
        *[Node("Language", [], [dice.pick(("eng", "Fre"))]) for _ in range(dice.between(1, 2))],
        Node("PublicationTypeList", [], [Node("PublicationType", [("UI", "D1")], ["Review"])]),
        *some(Node("VernacularTitle", [], ["V"])),
    ])  # fmt: skip
    refers = Node("CommentsCorrections", [("RefType", "Cites")], [Node("PMID", [("Version", "1")], ["5"])])
    other = Node("OtherAbstract", [("Language", "fre")], [Node("AbstractText", [], ["Autre."])])
    medline = Node("MedlineCitation", [("Status", "MEDLINE"), ("Owner", "NLM")], [
        pmid, *some(date("DateCompleted", dice), date("DateRevised", dice)), article,
        *some(Node("CommentsCorrectionsList", [], [refers]), other),
    ])  # fmt: skip
    data = Node("PubmedData", [], [Node("ArticleId", [], ["7"])])
    return Node("PubmedArticle", [], [medline, *some(data)])


def between(dice: Dice) -> str:
    """What stands between citations."""
    deleted = "<DeleteCitation><PMID Version='1'>3</PMID></DeleteCitation>"
    book = "<PubmedBookArticle><BookDocument><PMID>4</PMID></BookDocument></PubmedBookArticle>"
    others = (deleted, book, "<!-- </PubmedArticle> -->", "<?x </PubmedArticle> ?>", "text", "<Other/>")
    return dice.pick(others) if dice.chance(0.06) else dice.pick(("\n", "", "  \n "))


def content(dice: Dice) -> bytes:
    pieces = []
    for number in range(dice.between(1, 5)):
        node = citation(dice, number + 1)
        for _ in range(dice.pick((0, 0, 0, 1, 1, 2))):
            hostile(node, dice, NAMES, HIDDEN)
        pieces += [serialised(node, dice), between(dice)]
    made = "".join(pieces).encode()
    return damaged(made, dice) if dice.chance(0.08) else made


@attack("medline", cases=5_000, quick=100)
def case(dice: Dice, folder: Path) -> str:
    """PubMed files with comments, CDATA, namespaces, nesting, blanks, moved elements and damage: every row is
    that of a plain tree, or both refuse the file."""
    root = "MedlineCitationSet" if dice.chance(0.03) else "PubmedArticleSet"
    made = content(dice)
    path = folder / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(f"{HEAD}<{root}>".encode() + made + f"</{root}>\n".encode(), 1))
    sizes = medline.BLOCK, medline.HEAD_LIMIT
    medline.BLOCK = dice.pick((300, 1500, 1 << 17))
    medline.HEAD_LIMIT = len(HEAD) + 40 + dice.below(600)
    try:
        found = read(path)
    finally:
        medline.BLOCK, medline.HEAD_LIMIT = sizes
    whole = f"<{root}{MATHML}>".encode() + made + f"</{root}>".encode()
    expected = plain(whole)
    if found == expected or (found is None and is_malformed(whole)):
        return ""
    if expected is None:
        return "accepted what the tree refuses"
    return "refused what the tree accepts" if found is None else "read otherwise than the tree"
