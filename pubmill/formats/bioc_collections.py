"""BioC collections as JSON or XML (Comeau et al. 2013).

Both are read into BioC's JSON form, completed there, and written back. Unknown keys are kept in JSON; in XML,
whose document type fixes its elements, they are errors.

The package `bioc` (2.1, 2023) is not used: its XML reader expands declared entities, accepts annotations
whose text is not at their offsets, drops unknown elements, and names no line of a fault.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import IO, Any

from lxml import etree

from pubmill.errors import PubmillError
from pubmill.formats.documents import Annotated, FileRelation, InputDocument, Passage, Relation, TextMention
from pubmill.formats.json_text import parse_json
from pubmill.formats.offsets import USUAL, Offsets, Piece, TextPlaces, pieces_of, size_of
from pubmill.formats.safe_xml import parse_xml
from pubmill.formats.text_files import check_characters, read_text
from pubmill.storage.strict_parsing import whole_number

Node = dict[str, Any]
_LISTED = ("document", "passage", "sentence", "annotation", "relation", "location", "node")
LISTS = {element: f"{element}s" for element in _LISTED}
"""Element -> key of its list in JSON."""
CONTENTS = {
    "collection": ("source", "date", "key", "infon", "document"),
    "document": ("id", "infon", "passage", "relation"),
    "passage": ("infon", "offset", "text", "annotation", "sentence", "relation"),
    "sentence": ("infon", "offset", "text", "annotation", "relation"),
    "annotation": ("infon", "location", "text"),
    "relation": ("infon", "node"),
    "location": (),
    "node": (),
}
"""Element -> its children, in the order of BioC's document type."""
ATTRIBUTES = {
    "annotation": ("id",),
    "relation": ("id",),
    "location": ("offset", "length"),
    "node": ("refid", "role"),
}
NUMBERS = ("offset", "length")
IDENTIFIERS = ("identifier", "MESH", "concept", "id")
"""Infons that hold the concepts of an annotation; their key differs by corpus."""
ROLES = {"CompositeMention": "whole", "IndividualMention": "part"}
"""BC5CDR's infon `CompositeRole`: a mention of several concepts, and its parts."""
NO_ARGUMENTS = ("type", "relation", "novel", "confidence", "score")
"""Infons of a relation that name none of its concepts."""
_DECLARED = re.compile(r"""<!DOCTYPE\s+collection\s+SYSTEM\s+["'][^"'<>]*["']\s*>""")


class BioCJson:
    """A JSON file with one collection, or a list of collections, as returned by PMC's service."""

    def __init__(self, path: Path) -> None:
        self.path, self.content = path, self._read_content(path)

    def _read_content(self, path: Path) -> Any:
        return parse_json(read_text(path), str(path))

    def documents(self) -> Iterator[InputDocument]:
        yield from documents_of(self.content, str(self.path))

    def write(self, annotated: Iterable[Annotated], output: IO[str]) -> None:
        for one in annotated:
            document = one.document
            kept = {id(relation.source) for relation in one.kept_relations()}
            for holder in _annotation_holders(document.source):
                if "relations" in holder:
                    holder["relations"] = [
                        relation for relation in holder["relations"] if id(relation) in kept
                    ]
            for passage in document.passages if one.mentions is not None else ():
                passage.source["annotations"] = [m.source for m in passage.mentions if one.keeps(m)]
            taken = {
                str(node.get("id"))
                for holder in _annotation_holders(document.source)
                for key in ("annotations", "relations")
                for node in holder.get(key, [])
            }
            letter = "R" if one.mentions is None else "T"
            names = (name for number in count(1) if (name := f"{letter}{number}") not in taken)
            for passage, mentions in zip(document.passages, one.mentions or [], strict=False):
                passage.source["annotations"] += [_mention_node(next(names), mention) for mention in mentions]
            for passage, relations in zip(document.passages, one.relations or [], strict=False):
                made = [_relation_node(next(names), relation) for relation in relations]
                passage.source["relations"] = [*passage.source.get("relations", []), *made]
        self._write_content(output)

    def _write_content(self, output: IO[str]) -> None:
        json.dump(self.content, output, ensure_ascii=False, indent=1)
        output.write("\n")


def read_xml(content: str, where: str) -> Any:
    """Return a BioC collection of XML in BioC's JSON form."""
    root = parse_xml(content, where, doctype=True)
    if root.tag != "collection":
        raise PubmillError(f"{where}: not BioC; expected the root element `collection`")
    return _from_xml(root, Path(where))


class BioCXml(BioCJson):
    """An XML file with a collection; a declared document type is kept but never read."""

    def _read_content(self, path: Path) -> Any:
        content = read_text(path)
        self.declared = _DECLARED.search(content)
        return read_xml(content, str(path))

    def _write_content(self, output: IO[str]) -> None:
        root = to_xml("collection", self.content)
        etree.indent(root)
        head = ['<?xml version="1.0" encoding="UTF-8"?>']
        if self.declared:
            head.append(self.declared[0])
        output.write("\n".join([*head, etree.tostring(root, encoding="unicode"), ""]))


def _from_xml(element: etree._Element, path: Path) -> Node:
    tag, where = str(element.tag), f"{path}:{element.sourceline}"
    attributes = ((str(name), str(value)) for name, value in element.attrib.items())
    made: Node = {name: _parse_number(name, value, where) for name, value in attributes}
    if made.keys() - set(ATTRIBUTES.get(tag, ())):
        raise PubmillError(f"{where}: BioC's `{tag}` has no such attributes")
    if any(text and text.strip() for text in (element.text, *(child.tail for child in element))):
        raise PubmillError(f"{where}: BioC's `{tag}` contains elements only, but there is text between them")
    for child in element:
        if not isinstance(child.tag, str) or child.tag not in CONTENTS[tag]:
            raise PubmillError(
                f"{path}:{child.sourceline}: unknown element; "
                f"BioC's `{tag}` contains {', '.join(CONTENTS[tag])}"
            )
        if child.tag in LISTS:
            made.setdefault(LISTS[child.tag], []).append(_from_xml(child, path))
            continue
        place, is_infon = f"{path}:{child.sourceline}", child.tag == "infon"
        holder = made.setdefault("infons", {}) if is_infon else made
        key = child.get("key", "") if is_infon else child.tag
        if len(child) or set(child.attrib) != ({"key"} if is_infon else set()) or key in holder:
            raise PubmillError(
                f"{place}: `{child.tag}` must contain only text, and occur once (an infon once a `key`)"
            )
        holder[key] = _parse_number(child.tag, child.text or "", place)
    return made


def _parse_number(name: str, value: str, where: str) -> str | int:
    if name not in NUMBERS:
        return value
    if (number := whole_number(value.strip())) is None:
        raise PubmillError(f"{where}: {name} must be a number of characters")
    return number


def to_xml(tag: str, node: Node) -> etree._Element:
    """Return an element of BioC's JSON form as XML."""
    element = etree.Element(tag, {name: str(node[name]) for name in ATTRIBUTES.get(tag, ()) if name in node})
    for name in CONTENTS[tag]:
        if name in LISTS:
            element.extend(to_xml(name, child) for child in node.get(LISTS[name], []))
        elif name == "infon":
            for key, value in node.get("infons", {}).items():
                etree.SubElement(element, name, key=key).text = value
        elif name in node:
            etree.SubElement(element, name).text = str(node[name])
    return element


def documents_of(content: Any, where: str, offsets: Offsets = USUAL) -> Iterator[InputDocument]:
    """Yield the documents of a collection, or of a list of collections, in BioC's JSON form."""
    for collection in content if isinstance(content, list) else [content]:
        for number, document in enumerate(_child_nodes(collection, "documents", where, True), 1):
            yield _parse_document(document, f"{where}: document {number}", offsets)


def _child_nodes(node: Any, key: str, where: str, needed: bool = False) -> list[Node]:
    nodes = node.get(key, None if needed else []) if isinstance(node, dict) else None
    if not isinstance(nodes, list) or not all(isinstance(item, dict) for item in nodes):
        raise PubmillError(f"{where}: BioC needs a list of objects `{key}` here")
    return nodes


def _parse_document(node: Node, where: str, offsets: Offsets) -> InputDocument:
    name = node.get("id")
    if not isinstance(name, str | int):
        raise PubmillError(f"{where}: a document needs an `id`")
    holders: list[tuple[str, Node]] = []
    for number, passage in enumerate(_child_nodes(node, "passages", where, True), 1):
        place = f"{where} ({name}), passage {number}"
        holders += [(place, one) for one in _child_nodes(passage, "sentences", place) or [passage]]
    pieces = _pieces([_parse_text(holder, place) for place, holder in holders], offsets)
    places, passages = TextPlaces(pieces, offsets), list[Passage]()
    for number, (piece, (place, holder)) in enumerate(zip(pieces, holders, strict=True)):
        nodes = _child_nodes(holder, "annotations", place)
        parsed = [_parse_mention(one, piece, number, places, place) for one in nodes]
        mentions = [mention for mention in parsed if mention]
        passages.append(Passage(text=piece.text, offset=piece.start, mentions=mentions, source=holder))
    relations = []
    for holder in _annotation_holders(node):
        _child_nodes(holder, "annotations", where)  # check also those that are only written back
        relations += [_parse_relation(one, where) for one in _child_nodes(holder, "relations", where)]
    return InputDocument(
        id=str(name), where=where, passages=passages, relations=relations, source=node,
        misplaced=tuple(places.misplaced),
    )  # fmt: skip


def _parse_text(node: Node, where: str) -> tuple[int, str]:
    offset, text = node.get("offset"), node.get("text", "")
    if isinstance(offset, bool) or not isinstance(offset, int) or not isinstance(text, str):
        raise PubmillError(f"{where}: needs an `offset`, a number, and a `text`")
    return offset, check_characters(text, where)


def _pieces(texts: Sequence[tuple[int, str]], offsets: Offsets) -> list[Piece]:
    """Return the passages with their places in the file's count and in characters."""
    if offsets.separator is not None:
        return pieces_of([text for _, text in texts], offsets)
    pieces, difference = list[Piece](), 0
    for offset, text in texts:
        pieces.append(Piece(offset, offset - difference, text))
        difference += size_of(text, offsets.unit) - len(text)
    return pieces


def _parse_mention(
    node: Node, piece: Piece, number: int, places: TextPlaces, where: str
) -> TextMention | None:
    """Read an annotation of the text with this number; None if it is left out. If it has several locations,
    the mention covers the first to the last character."""
    name, infons, content = node.get("id"), node.get("infons", {}), node.get("text")
    place = f"{where}, annotation {name if isinstance(name, str | int) else ''}"
    located = [(one.get("offset"), one.get("length")) for one in _child_nodes(node, "locations", place, True)]
    spans = [(start, start + length) for start, length in located if type(start) is type(length) is int]
    of = infons.get("type", "") if isinstance(infons, dict) else None
    if not spans or len(spans) != len(located) or not isinstance(of, str):
        raise PubmillError(
            f"{place}: needs locations, each with offset and length, and a type among its infons"
        )
    placed = [one for span in spans if (one := places.span(*span, piece=number))]
    start, end = min((one[0] for one in placed), default=0), max((one[1] for one in placed), default=0)
    inside = piece.text[start - piece.start : end - piece.start] if len(placed) == len(spans) else ""
    if not inside or (len(located) == 1 and isinstance(content, str) and content != inside):
        stated = content if isinstance(content, str) else ""
        shift = piece.stated
        fault = (
            "its text differs from the text at its offset; offsets must count characters, not bytes, from "
            "the start of the document"
        )
        places.leave_out(place, stated, piece.text, spans[0][0] - shift, spans[0][1] - shift, fault)
        return None
    name = None if name is None else str(name)
    return TextMention(
        start=start, end=end, type=of, text=inside, id=name, source=node,
        spans=tuple(sorted(placed)) if len(placed) > 1 else (),
        concepts=next((str(infons[key]) for key in IDENTIFIERS if infons.get(key) is not None), ""),
        role=ROLES.get(infons.get("CompositeRole"), ""),
    )  # fmt: skip


def _parse_relation(node: Node, where: str) -> FileRelation:
    name, given = node.get("id"), node.get("infons", {})
    infons = given if isinstance(given, dict) else {}
    arguments = tuple(str(one.get("refid")) for one in _child_nodes(node, "nodes", where))
    # BC5CDR and BioRED relate concepts, by infons of any key
    concepts = () if arguments else tuple(str(infons[key]) for key in infons if key not in NO_ARGUMENTS)
    return FileRelation(
        type=str(infons.get("type", infons.get("relation", ""))),
        arguments=arguments,
        source=node,
        id=None if name is None else str(name),
        concepts=concepts,
        novelty=str(infons["novel"]) if "novel" in infons else None,
    )


def _annotation_holders(document: Node) -> Iterator[Node]:
    """Yield the nodes that can contain annotations and relations: document, passages and sentences."""
    yield document
    for passage in document["passages"]:
        yield passage
        yield from passage.get("sentences", [])


def _mention_node(name: str, mention: TextMention) -> Node:
    return {
        "id": name,
        "infons": _infons(mention),
        "text": mention.text,
        "locations": [{"offset": mention.start, "length": mention.end - mention.start}],
    }


def _relation_node(name: str, relation: Relation) -> Node:
    nodes = [{"refid": mention.id or "", "role": mention.type} for mention in relation.arguments]
    return {"id": name, "infons": _infons(relation), "nodes": nodes}


def _infons(made: TextMention | Relation) -> Node:
    infons = {"type": made.type}
    return infons if made.confidence is None else {**infons, "confidence": f"{made.confidence:g}"}
