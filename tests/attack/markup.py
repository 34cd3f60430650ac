"""Made-up XML that is written in every way that XML allows, and damaged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from tests.world.dice import Dice

PIECES = b"<!-- --> <![CDATA[ ]]> &who; <b> </b> <b/> <x:y/> &#0;".split()
"""What damage inserts."""


@dataclass
class Node:
    """An element; text among its children is not escaped yet."""

    tag: str
    attributes: list[tuple[str, str]]
    children: list["Node | str"]
    raw: str = ""
    """Instead of an element, markup as it is."""

    def nodes(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.nodes()

    def copy(self) -> "Node":
        children = [child.copy() if isinstance(child, Node) else child for child in self.children]
        return Node(self.tag, list(self.attributes), children, self.raw)


def markup(text: str) -> Node:
    return Node("", [], [], text)


def hidden(text: str, dice: Dice) -> Node:
    """A comment, processing instruction or CDATA section that holds markup."""
    return markup(dice.pick(("<!-- %s -->", "<?x %s?>", "<![CDATA[%s]]>", "<!--%s-->")) % text)


def hostile(root: Node, dice: Dice, names: Sequence[str], inside: Sequence[str]) -> None:
    """Change one thing: elements of `names`, or comments and the like that hold one of `inside`."""
    elements = [node for node in root.nodes() if not node.raw]
    node, other = dice.pick(elements), dice.pick(elements)
    at = dice.below(len(node.children) + 1)
    match dice.below(12):
        case 0 | 1 | 2:
            node.children.insert(at, hidden(dice.pick(inside), dice))
        case 3:
            node.children.insert(at, Node(dice.pick(names), [], []))
        case 4:
            node.children.insert(at, other.copy())
        case 5:
            node.children.insert(at, Node(node.tag, [], list(node.children)))
        case 6:
            node.children = node.children[:at]
        case 7:
            node.children.reverse()
        case 8:
            node.attributes.insert(0, dice.pick((("xmlns", "urn:x"), ("xmlns", ""), ("xmlns:mml", "urn:y"))))
        case 9:
            node.attributes.append((dice.pick(("Added", "xml:lang", "Label", "Version", "mml:a")), "1 < 2"))
            node.attributes = list(dict(node.attributes).items())
        case 10:
            node.tag = dice.pick(names)
        case _:
            node.children.insert(at, dice.pick((" ", "text", "7", "\u00a0", "9" * 20)))


def serialised(node: Node, dice: Dice) -> str:
    """The element as XML, most often as plainly as possible."""
    if node.raw:
        return node.raw
    odd = dice.chance(0.005)
    attributes = "".join(attribute(name, value, dice, odd) for name, value in node.attributes)
    if not node.children and dice.chance(0.5):
        return f"<{node.tag}{attributes}{dice.pick(('', ' ')) if odd else ''}/>"
    inner = "".join(
        escaped(child, dice) if isinstance(child, str) else serialised(child, dice) for child in node.children
    )
    start, end = (dice.pick(("", " ", "\n")) if odd else "" for _ in range(2))
    return f"<{node.tag}{attributes}{start}>{inner}</{node.tag}{end}>"


def attribute(name: str, value: str, dice: Dice, odd: bool) -> str:
    value = value.replace("&", "&amp;").replace("<", "&lt;")
    if not odd:
        return f' {name}="{value}"'
    quote, blank = dice.pick("\"'"), dice.pick(("", " ", "\n"))
    return f"{dice.pick((' ', '  ', chr(10)))}{name}{blank}={blank}{quote}{value}{quote}"


def escaped(text: str, dice: Dice) -> str:
    """Text with what must be escaped, and now and then one character more."""
    made = text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")
    if text and "&" not in made and dice.chance(0.01):
        at = dice.below(len(text))
        code = dice.pick((f"&#{ord(text[at])};", f"&#x{ord(text[at]):x};", "&quot;", "&#13;"))
        return made[:at] + code + made[at + 1 :]
    return made


def is_malformed(content: bytes) -> bool:
    """Whether libxml2 refuses it, which wants more of names and addresses of namespaces than expat does."""
    try:
        etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return True
    return False


def damaged(content: bytes, dice: Dice) -> bytes:
    """A piece removed, doubled or replaced, at the borders of tags or anywhere."""
    borders = [at for at, byte in enumerate(content) if byte in b"<>"]
    begin, end = sorted(dice.pick(borders) if dice.chance(0.5) else dice.below(len(content)) for _ in "12")
    match dice.below(4):
        case 0:
            return content[:begin] + content[end:]
        case 1:
            return content[:end] + content[begin:end] + content[end:]
        case 2:
            return content[:begin] + bytes([dice.below(256)]) + content[begin + 1 :]
        case _:
            return content[:begin] + dice.pick(PIECES) + content[begin:]
