"""PubTator files: title and abstract, then tab-separated lines of mentions and of relations.

    PMID|t|TITLE
    PMID|a|ABSTRACT
    PMID <tab> start <tab> end <tab> text <tab> type [<tab> identifier ...]
    PMID <tab> start <tab> end <tab> text <tab> type <tab> - <tab> confidence   (if requested)
    PMID <tab> type of relation <tab> identifier <tab> identifier [...]

Documents are separated by blank lines. Offsets count the characters of the title, one separator, and the
characters of the abstract.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from pubmill.errors import PubmillError
from pubmill.formats.documents import (
    Annotated,
    FileRelation,
    InputDocument,
    Relation,
    TextMention,
    passages_of,
)
from pubmill.formats.offsets import USUAL, Offsets, TextPlaces, pieces_of
from pubmill.formats.text_files import lines
from pubmill.messages.quotations import show
from pubmill.storage.strict_parsing import whole_number

_TEXT = re.compile(r"([^|\t]+)\|([ta])\|(.*)")
Block = list[tuple[int, str]]
"""Numbered lines of one document."""


class PubTator:
    """A PubTator file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def documents(self) -> Iterator[InputDocument]:
        return documents_of(lines(self.path), str(self.path))

    def write(self, annotated: Iterable[Annotated], output: IO[str]) -> None:
        """Write the kept lines of the file with the predicted mentions or relations."""
        for one in annotated:
            texts, mentions = one.document.source
            if one.mentions is not None:
                predicted = [mention for of_passage in one.mentions for mention in of_passage]
                mentions = sorted([*filter(one.keeps, mentions), *predicted], key=lambda m: (m.start, m.end))
            related = [relation for of_passage in one.relations or [] for relation in of_passage]
            rows = [
                *(_mention_line(one.document, mention) for mention in mentions),
                *(relation.source for relation in one.kept_relations()),
                # the format relates concepts, and several mentions can belong to one concept
                *dict.fromkeys(_relation_line(one.document, relation) for relation in related),
            ]
            output.write("\n".join([*texts, *rows]) + "\n\n")


def documents_of(
    numbered: Iterable[tuple[int, str]], where: str, offsets: Offsets = USUAL
) -> Iterator[InputDocument]:
    """Yield the documents of a file's numbered lines."""
    for block in blocks(numbered):
        yield _parse_document(block, where, offsets)


def blocks(numbered: Iterable[tuple[int, str]]) -> Iterator[Block]:
    """Yield the numbered lines of each document."""
    block: Block = []
    for number, line in numbered:
        if line.strip():
            block.append((number, line.rstrip("\r")))
        elif block:
            yield block
            block = []
    if block:
        yield block


def title_and_abstract(block: Block, where: str) -> tuple[str, list[str]]:
    """Return the identifier and the texts of a document: title and, if it has one, abstract."""
    texts = [_TEXT.fullmatch(line) for _, line in block[:2]]
    title = texts[0]
    if not title or title[2] != "t":
        raise PubmillError(f"{where}:{block[0][0]}: a document must begin with `PMID|t|TITLE`")
    pieces = [title[3]]
    if len(texts) == 2 and texts[1] and texts[1][1] == title[1] and texts[1][2] == "a":
        pieces.append(texts[1][3])
    return title[1], pieces


def _parse_document(block: Block, file: str, offsets: Offsets) -> InputDocument:
    name, pieces = title_and_abstract(block, file)
    text, places = "\n".join(pieces), TextPlaces(pieces_of(pieces, offsets), offsets)
    mentions, relations = list[TextMention](), list[FileRelation]()
    for number, line in block[len(pieces) :]:
        columns, where = line.split("\t"), f"{file}:{number}"
        if columns[0] != name or len(columns) < 4:
            raise PubmillError(f"{where}: expected tab-separated columns that begin with {show(name)}'s id")
        if columns[1].isdecimal():
            if mention := _parse_mention(columns, text, places, where, line):
                mentions.append(mention)
        else:
            relations.append(
                FileRelation(
                    type=columns[1], arguments=tuple(columns[2:]), source=line, concepts=tuple(columns[2:4]),
                    novelty=columns[4] if len(columns) == 5 else None,
                )
            )  # fmt: skip
    return InputDocument(
        id=name, where=f"{file}:{block[0][0]}", passages=passages_of(pieces, mentions),
        relations=relations, source=([line for _, line in block[: len(pieces)]], mentions),
        misplaced=tuple(places.misplaced),
    )  # fmt: skip


def _mention_line(document: InputDocument, mention: TextMention) -> str:
    sure = () if mention.confidence is None else ("-", f"{mention.confidence:g}")
    written = (document.id, mention.start, mention.end, mention.text, mention.type, *sure)
    return mention.source or "\t".join(map(str, written))


def _parse_mention(
    columns: list[str], text: str, places: TextPlaces, where: str, line: str
) -> TextMention | None:
    start, end = (whole_number(column) for column in columns[1:3])
    if len(columns) < 5 or start is None or end is None:
        raise PubmillError(f"{where}: a mention has the columns id, start, end, text, type")
    span = places.span(start, end)
    if span is None or text[slice(*span)].replace("\n", " ") != columns[3]:
        fault = (
            "the mention's text differs from the text at its offsets; offsets must count the characters of "
            "the title, one separator, and the abstract"
        )
        places.leave_out(where, columns[3], text, start, end, fault)
        return None
    name = columns[5] if len(columns) > 5 and columns[5] not in ("", "-", "-1") else None
    return TextMention(
        start=span[0],
        end=span[1],
        type=columns[4],
        text=columns[3],
        id=name,
        source=line,
        concepts=name or "",
    )


def _relation_line(document: InputDocument, relation: Relation) -> str:
    if relation.confidence is not None:
        raise PubmillError("PubTator has no place for the confidence of a relation; convert the file to BioC")
    names = [mention.id for mention in relation.arguments]
    if None in names:
        raise PubmillError(
            f"{document.where}: PubTator relates mentions by identifier (sixth column), and a related "
            "mention has none; add one, or use BioC"
        )
    return "\t".join([document.id, relation.type, *map(str, names)])
