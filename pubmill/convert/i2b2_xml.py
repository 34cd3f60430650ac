"""Reader of annotated notes in the XML of the i2b2 challenges of 2012 and 2014.

`<TEXT><![CDATA[...]]></TEXT>` contains the note, and each child of `<TAGS>` is an annotation with `start`,
`end` and `text`. Offsets count from 0 at the first character of the note, which is often a line feed;
`end` is exclusive. Known irregularities of the releases, and how they are handled:

- annotations with a bare `&`, so that the file isn't well-formed (2012; the bio-lm and BigBIO loaders
  list such files): it is read as `&amp;`, if the file has no other fault;
- entities as plain text within CDATA (`&apos;`, 2012): they are part of the note, offsets count their
  characters, and texts are compared after resolving them on both sides;
- offsets in bytes from the first non-ASCII letter on (2014, 180-03): if a text is not at its character
  offsets but is at these byte offsets of the note in UTF-8, the byte offsets are used.

Any other annotation whose text is not at its offsets is an error, except in documents listed in the option
`differing`: there the offsets are used, and `left_out` counts it as `differing_texts`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.sax.saxutils import unescape

from lxml import etree

from pubmill.convert import words
from pubmill.convert.source_files import ConverterInput, SpecError
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.formats.safe_xml import attribute, parse_xml
from pubmill.messages.quotations import quote
from pubmill.storage.archives import decode, members
from pubmill.storage.strict_parsing import whole_number

_CDATA = re.compile(r"(<!\[CDATA\[.*?\]\]>)", re.DOTALL)
_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)")
_SHOWN = 20
"""Most annotations that one error lists."""


@dataclass(frozen=True)
class Tags:
    """Allowed children of `<TAGS>`.

    `types` maps the names to read to their types; `others` are the names to skip; `attribute` holds the type;
    with `untyped`, the type may be empty and the annotation is then left out.
    """

    types: Mapping[str, frozenset[str]]
    others: frozenset[str]
    attribute: str
    untyped: bool


@dataclass(frozen=True)
class Note:
    """A document, its text, and its annotations."""

    document: str
    where: str
    text: str
    tags: list[etree._Element]


def notes(archive: Path, name: re.Pattern[str]) -> dict[str, Note]:
    """Return all XML files of an archive by document, the first group of `name` in the file's name. Raises a
    `PubmillError` for an XML file of another name, for two of one document, and if there are none."""
    by_document: dict[str, Note] = {}
    for member, content in members(archive):
        path, where = PurePosixPath(member), f"{archive}:{member}"
        if path.suffix != ".xml" or path.name.startswith("."):
            continue
        match = name.fullmatch(path.name)
        if not match:
            raise PubmillError(f"{where}: not the file name of a note; is {archive.name} the right archive?")
        if match[1] in by_document:
            raise PubmillError(f"{where}: a second {path.name}; the first is {by_document[match[1]].where}")
        by_document[match[1]] = _parse_note(match[1], decode(content, where), where)
    if not by_document:
        raise PubmillError(
            f"{archive} has no XML files. Use it as downloaded from the portal; repack an unpacked copy "
            f"with `tar czf {archive.name} FOLDER`"
        )
    return by_document


def examples(
    source: ConverterInput, of_files: Mapping[str, Note], tags: Tags, group: Callable[[str], str] = str
) -> Iterator[TokensExample]:
    """Yield the sentences of a split's notes, `DOCUMENT.LINE`, in the order of the documents' names. dev is a
    part of the groups of the training notes. All annotations are checked before the first sentence."""
    differing = source.options.get("differing", [])
    if not isinstance(differing, list) or not all(isinstance(document, str) for document in differing):
        raise SpecError("the converter's option `differing` must be a list of documents' names (in quotes)")
    bad: list[str] = []
    annotated = []
    kept = {group(document) for document in of_files}
    kept = kept if source.split == "test" else source.held_out(kept)
    for note in (note for document, note in sorted(of_files.items()) if group(document) in kept):
        faults = None if note.document in differing else bad
        annotated.append((note, list(_mentions(note, tags, source.left_out, faults))))
    if bad:
        raise PubmillError(
            f"{len(bad)} annotations whose `text` differs from the note's at `start` to `end`:\n  "
            + "\n  ".join(bad[:_SHOWN] + ["..."] * (len(bad) > _SHOWN))
            + "\nIs this the original release? If it is, name the documents in the option `differing` of the "
            "dataset's spec; such annotations are then taken at their offsets and counted."
        )
    for note, mentions in annotated:
        for sentence in words.sentences(note.text, mentions, source.left_out):
            yield sentence.example(note.document)


def _parse_note(document: str, content: str, where: str) -> Note:
    root = parse_xml(content, where, _escape_ampersands)
    texts, tags = root.findall("TEXT"), root.findall("TAGS")
    if len(texts) != 1 or len(tags) != 1 or len(texts[0]) or not texts[0].text:
        raise PubmillError(f"{where}: expected one <TEXT> with the note and one <TAGS> with its annotations")
    return Note(document, where, texts[0].text, list(tags[0]))


def _escape_ampersands(content: str) -> str:
    """Return the content with `&amp;` for each bare `&` outside of CDATA."""
    pieces = _CDATA.split(content)
    pieces[::2] = [_BARE.sub("&amp;", piece) for piece in pieces[::2]]
    return "".join(pieces)


def _mentions(
    note: Note, tags: Tags, left_out: Counter[str], bad: list[str] | None
) -> Iterator[words.NoteMention]:
    """Yield the mentions to read; count the annotations that are skipped by their name. An annotation whose
    text differs is added to `bad` or, if that is None, counted."""
    for tag in note.tags:
        name, where = str(tag.tag), f"{note.where}:{tag.sourceline}"
        if name in tags.others:
            left_out[name.lower()] += 1
            continue
        if name not in tags.types:
            raise PubmillError(
                f"{where}: unknown annotation {quote(name)}; known are {', '.join(sorted(tags.types))}"
            )
        of = attribute(tag, tags.attribute, note.where)
        if tags.untyped and not of.strip():
            left_out["mentions_without_type"] += 1
            continue
        if of not in (types := tags.types[name]):
            raise PubmillError(
                f"{where}: {name} of unknown type {quote(of)}; known are {', '.join(sorted(types))}"
            )
        start, end, agrees = _annotation_span(note, tag, f"{where}: {name}")
        if not agrees and bad is not None:
            bad.append(f"{where}: {name}")
        elif not agrees:
            left_out["differing_texts"] += 1
        yield words.NoteMention(start, end, of)


def _annotation_span(note: Note, tag: etree._Element, where: str) -> tuple[int, int, bool]:
    """Return an annotation's position in the note, and whether its text is there."""
    start, end = (whole_number(attribute(tag, name, note.where)) for name in ("start", "end"))
    if start is None or end is None:
        raise PubmillError(f"{where}: expected whole numbers for `start` and `end`")
    text = _normalise_text(attribute(tag, "text", note.where))
    for span in ((start, end), _character_offsets(note.text, start, end)):
        if span and span[0] < span[1] <= len(note.text) and _normalise_text(note.text[slice(*span)]) == text:
            return *span, True
    if not start < end <= len(note.text):
        raise PubmillError(
            f"{where} is at {start} to {end}, but the note has {len(note.text)} characters, and an end must "
            "be after its start"
        )
    return start, end, False


def _character_offsets(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Convert byte offsets `start` to `end` to characters; None if they split a character."""
    encoded = text.encode()
    if not start < end <= len(encoded):
        return None
    try:
        first = len(encoded[:start].decode())
        return first, first + len(encoded[start:end].decode())
    except UnicodeDecodeError:
        return None


def _normalise_text(text: str) -> str:
    """Return the text with XML entities resolved and each run of white space as one space."""
    return " ".join(unescape(text, {"&apos;": "'", "&quot;": '"'}).split())
