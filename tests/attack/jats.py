"""Articles of PMC of any form that XML allows, read by pubmill and by a plain tree of the whole article.

An article has sections, lists, figures, tables, formulas and footnotes, many of them inside of sentences
without a blank around them; comments, processing instructions and CDATA that hold tags, above all in and
around `back`; attributes quoted otherwise, blanks in tags, and now and then damage. The plain reading is the
standard library's parser (expat) and one class that walks the tree: it collects the words of each section.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from pubmill.corpus.jats import LEAVABLE, NEVER, JatsReader
from pubmill.corpus.mathml import MATHML_TEXT
from pubmill.corpus.shards import Document, Sections
from pubmill.errors import PubmillError
from tests.articles import INLINE, PARTING, USUAL
from tests.attack import attack
from tests.attack.markup import Node, damaged, hidden, is_malformed, markup, serialised
from tests.world.dice import Dice

Words = dict[str, Counter[str]]
"""The words of an article by the label of their section."""
Reading = tuple[str, Words, Words] | None
"""Title, abstract and body; None where the article is refused."""

SPACES = [
    ("xmlns:mml", "http://www.w3.org/1998/Math/MathML"),
    ("xmlns:xlink", "http://www.w3.org/1999/xlink"),
]
FORMULA = (
    "<inline-formula><alternatives>\n <tex-math>$z$</tex-math>\n <mml:math>\n  <mml:mi>z</mml:mi>\n"
    "  <mml:mtext>if</mml:mtext>\n<mml:mspace/>\n<mml:mi>x</mml:mi> </mml:math>\n</alternatives>"
    "</inline-formula>"
)
HIDDEN = (
    "</back>", "<back>", "</back><floats-group><p>FAKE</p></floats-group>", "</back><floats-group><?x ",
    "</p>", "<sec><p>FAKE</p></sec>", "</body>", "plain",
)  # fmt: skip


TEXTLESS = "sec body floats-group list fig boxed-text supplementary-material table-wrap".split()
"""JATS allows no text in these, so no CDATA."""


class Walk:
    """Collects the words of one part of an article."""

    def __init__(self, left_out: set[str]) -> None:
        self.left_out = left_out
        self.words: Words = defaultdict(Counter)

    def section(self, element: ElementTree.Element, label: str) -> None:
        named = [child for child in element if child.tag == "title"] if element.tag == "sec" else []
        title = " ".join(heading(named[0]).split(" ")) if named else ""
        label = " > ".join(filter(None, (label, title)))
        self.words[label].update(self.flow(element, label).split())

    def flow(self, element: ElementTree.Element, label: str) -> str:
        text = shown(element, element.text)
        for child in element:
            tail = shown(element, child.tail)
            text += self.piece(child, element, label)
            text += f" {tail}" if child.tag == "fn" and tail[:1].isalnum() else tail
        return text

    def piece(self, child: ElementTree.Element, parent: ElementTree.Element, label: str) -> str:
        inside = child.tag in INLINE or child.tag.startswith("{")
        edge = "" if inside and child.tag not in PARTING else " "
        if child.tag in (*NEVER, *self.left_out) or (child.tag == "title" and parent.tag == "sec"):
            return edge
        if child.tag == "sec":
            self.section(child, label)
            return edge
        if child.tag == "fn":
            self.words[label].update(self.flow(child, label).split())
            return edge
        return f"{edge}{self.flow(child, label)}{edge}"


def shown(element: ElementTree.Element, text: str | None) -> str:
    """Text inside an element, or none if it is the layout of a formula."""
    formula = element.tag == "alternatives" or element.tag.startswith("{http://www.w3.org/1998/Math")
    layout = formula and element.tag not in MATHML_TEXT and not (text or "").strip(" \n\r\t")
    return "" if layout else text or ""


def heading(title: ElementTree.Element) -> str:
    """A title on one line, without signs that refer to notes."""

    def inner(element: ElementTree.Element) -> str:
        text = element.text or ""
        for child in element:
            tail = child.tail or ""
            if child.tag == "break":
                text += f" {inner(child)} "
            elif child.tag == "xref":
                text += named if any(map(str.isalnum, named := inner(child))) else ""
            elif child.tag not in ("fn", *NEVER):
                text += inner(child)
            text += f" {tail}" if child.tag == "fn" and tail[:1].isalnum() else tail
        return text

    return re.sub("[ \n\r\t]+", " ", inner(title)).strip(" ")


def plain(data: bytes, leave_out: tuple[str, ...]) -> Reading:
    """Title, abstract and body by the plainest reading: the whole tree."""
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError:
        return None
    meta = root.find("front/article-meta")
    if root.tag != "article" or meta is None:
        return None
    numbers = [one.text or "" for one in meta.findall("article-id") if one.get("pub-id-type") == "pmc"]
    if any(number.strip() != "PMC7" for number in numbers):
        return None
    left_out = {tag for name in leave_out for tag in LEAVABLE.get(name, ())}
    abstract, body = Walk(left_out), Walk(left_out)
    for part in meta.findall("abstract"):
        abstract.section(part, "")
    for part in [*root.findall("body"), *root.findall("floats-group")]:
        body.section(part, "")
    group = meta.find("title-group")
    titles = [] if group is None else [heading(title) for title in group.findall("article-title")]
    return " ".join(filter(None, titles)), worded(abstract.words), worded(body.words)


def worded(words: Words) -> Words:
    return {label: count for label, count in words.items() if count}


def counted(sections: Sections) -> Words:
    words: Words = defaultdict(Counter)
    for label, text in sections:
        words[label].update(text.split())
    return worded(words)


def read(data: bytes, leave_out: tuple[str, ...]) -> Reading:
    try:
        found = JatsReader(leave_out)(data, Document("pmc:7"), "PMC7.1.xml")
    except PubmillError as error:
        assert "\n" not in str(error)
        return None
    return found.title, counted(found.sections), counted(found.body)


def text(dice: Dice) -> str:
    texts = ("levels of ", "TP53", " rose", ", so", ". Then ", "α < β", " \n ", "10\u2009%", "(", ") & ")
    return dice.pick(texts)


def inline(dice: Dice, depth: int) -> list[Node | str]:
    pieces: list[Node | str] = []
    for _ in range(dice.between(1, 4)):
        pieces.append(text(dice))
        if dice.chance(0.3):
            tag = dice.pick(("italic", "sub", "sup", "xref", "named-content"))
            pieces.append(Node(tag, [], [text(dice)]))
        if depth and dice.chance(0.25):
            pieces.append(within(dice, depth - 1))
    return pieces


def within(dice: Dice, depth: int) -> Node:
    """Return an element that separates words, or a footnote or formula, inside a sentence."""
    paragraph = Node("p", [], inline(dice, depth))
    return dice.pick((
        Node("fn", [], [paragraph]),
        Node("disp-formula", [("id", "e")], [Node("label", [], ["(1)"]), text(dice)]),
        markup(FORMULA),
        Node("list", [], [Node("list-item", [], [Node("label", [], ["1"]), paragraph])]),
        Node("break", [], []),
        Node("graphic", [("xlink:href", "g")], [Node("alt-text", [], ["no"])]),
        Node("supplementary-material", [], [Node("caption", [], [paragraph])]),
        table(dice, paragraph),
        Node("fig", [], [Node("label", [], ["Fig"]), Node("caption", [], [paragraph])]),
        Node("disp-quote", [], [paragraph]),
        Node("code", [], [text(dice)]),
    ))  # fmt: skip


def table(dice: Dice, note: Node) -> Node:
    cells: list[Node | str] = [
        Node(dice.pick(("td", "th")), [], inline(dice, 0)) for _ in range(dice.between(1, 3))
    ]
    foot = Node("table-wrap-foot", [], [Node("fn", [], [note])])
    return Node("table-wrap", [], [Node("table", [], [Node("tr", [], cells)]), foot])


def section(dice: Dice, depth: int) -> Node:
    middles: tuple[Node | str, ...] = (Node("xref", [], ["*"]), Node("break", [], []), "")
    title: list[Node | str] = [text(dice), dice.pick(middles), text(dice)]
    parts: list[Node | str] = [Node("p", [], inline(dice, 2)) for _ in range(dice.between(0, 2))]
    if dice.chance(0.3):
        parts.append(within(dice, 1))
    if depth and dice.chance(0.4):
        parts.append(section(dice, depth - 1))
    if dice.chance(0.2):
        box = Node("sec", [], [Node("title", [], ["Box"]), Node("p", [], inline(dice, 0))])
        parts.append(Node("boxed-text", [], [box]))
    return Node("sec", [], [*([Node("title", [], title)] if dice.chance(0.8) else []), *parts])


def article(dice: Dice) -> Node:
    meta: list[Node | str] = [
        Node("article-id", [("pub-id-type", "pmc")], ["PMC7"]),
        Node("title-group", [], [Node("article-title", [], inline(dice, 0))]),
        Node("abstract", [], [Node("p", [], inline(dice, 1))]),
    ]
    back = Node("back", [], [Node("ref-list", [], [Node("ref", [], [text(dice)]) for _ in range(2)])])
    parts: list[Node | str] = [
        Node("front", [], [Node("article-meta", [], meta)]),
        Node("body", [], [Node("p", [], inline(dice, 2)), section(dice, 2)]),
    ]
    if dice.chance(0.9):
        parts.append(back)
    if dice.chance(0.4):
        float_ = within(dice, 1) if dice.chance(0.5) else table(dice, Node("p", [], ["n"]))
        parts.append(Node("floats-group", [], [float_]))
    if dice.chance(0.1):
        parts.append(back.copy())
    for _ in range(dice.pick((0, 0, 1, 2, 3))):
        below = [back] if dice.chance(0.4) else [part for part in parts if isinstance(part, Node)]
        spots = [node for part in below for node in part.nodes()]
        spot = dice.pick([node for node in spots if not node.raw and node.tag not in ("table", "tr")])
        made = hidden(dice.pick(HIDDEN), dice)
        if spot.tag not in TEXTLESS or not made.raw.startswith("<![CDATA["):
            spot.children.insert(dice.below(len(spot.children) + 1), made)
    if dice.chance(0.2):
        parts.insert(dice.below(len(parts) + 1), hidden(dice.pick(HIDDEN), dice))
    return Node("article", list(SPACES), parts)


def without_back(data: bytes) -> Iterator[bytes]:
    """Return the article without its possible `back`, where malformed XML goes unnoticed."""
    starts, ends = (list(re.finditer(tag, data)) for tag in (b"<back>", b"</back>"))
    pairs = ((start, end) for start in starts for end in ends if end.start() > start.end())
    return (data[: start.start()] + data[end.end() :] for start, end in pairs)


@attack("jats", cases=5_000, quick=100)
def case(dice: Dice, folder: Path) -> str:
    """Articles with comments, CDATA, formulas, lists, floats and footnotes inside of words, damage: title and
    words of every section are those of a plain tree, or both refuse the article."""
    data = b'<?xml version="1.0"?>\n' + serialised(article(dice), dice).encode()
    if dice.chance(0.1):
        data = damaged(data, dice)
    for leave_out in ((), USUAL):
        found, expected = read(data, leave_out), plain(data, leave_out)
        if expected is None and found is not None:
            expected = next((found for cut in without_back(data) if plain(cut, leave_out) == found), None)
        if found != expected and not (found is None and is_malformed(data)):
            return "refused what the tree accepts" if found is None else "read otherwise than the tree"
    return ""
