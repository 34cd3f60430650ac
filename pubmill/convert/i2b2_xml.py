"""Converters of the i2b2 corpora of 2012 (temporal relations: EVENT and TIMEX3) and 2014 (de-identification,
i2b2/UTHealth) to tokens examples.

Sources of 2012: `train` (2012-07-15.original-annotation.release.tar.gz) and `test`
(2012-08-08.test-data.event-timex-groundtruth.tar.gz), with a file `NUMBER.xml` for each note; of 2014:
`train_set1`, `train_set2` and `test` (the PHI gold archives), with a file `PATIENT-RECORD.xml` for each
record. dev is a part of train (`held_out`), in 2012 by documents, in 2014 by patients, so that no patient is
in both (as in ClinicalBERT and bio-lm).

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

TYPES_2012 = {
    "EVENT": frozenset({"CLINICAL_DEPT", "EVIDENTIAL", "OCCURRENCE", "PROBLEM", "TEST", "TREATMENT"}),
    "TIMEX3": frozenset({"DATE", "DURATION", "FREQUENCY", "TIME"}),
}
OTHERS_2012 = frozenset({"SECTIME", "TLINK"})
CATEGORIES_2014 = ("NAME", "PROFESSION", "LOCATION", "AGE", "DATE", "CONTACT", "ID", "OTHER", "PHI")
"""Names of the annotations. `PHI` is used for some annotations of all types; only their type is reliable."""
TYPES_2014 = frozenset(
    "PATIENT DOCTOR USERNAME PROFESSION ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP "
    "LOCATION-OTHER AGE DATE PHONE FAX EMAIL URL IPADDRESS SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE "
    "VEHICLE DEVICE BIOID IDNUM OTHER".split()
)
"""The types of the annotation guidelines (Stubbs and Uzuner 2015); 23 of them occur."""
_NAME_2012, _NAME_2014 = re.compile(r"([0-9]+)\.xml"), re.compile(r"([0-9]+-[0-9]+)\.xml")
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


def temporal(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield the examples of one split.

    Options: `tags`, which of EVENT and TIMEX3 are mentions; `dev` (`held_out`); `differing`. `left_out`
    counts annotations with other names by their names, and those with an empty type (which ClinicalBERT and
    bio-lm skip, too) as `mentions_without_type`.
    """
    source.check_options("tags", "dev", "differing")
    tags = source.options.get("tags")
    if not isinstance(tags, list) or not tags or not set(map(str, tags)) <= TYPES_2012.keys():
        raise SpecError(f"the converter's option `tags` is {tags!r}; give a list of {sorted(TYPES_2012)}")
    found = notes(source.input("test" if source.split == "test" else "train"), _NAME_2012)
    types = {name: TYPES_2012[name] for name in tags}
    known = Tags(types, OTHERS_2012 | TYPES_2012.keys() - types.keys(), "type", untyped=True)
    yield from examples(source, found, known)


def deidentification(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield the examples of one split; options: `dev` (`held_out`) and `differing`."""
    source.check_options("dev", "differing")
    found: dict[str, Note] = {}
    for role in ("test",) if source.split == "test" else ("train_set1", "train_set2"):
        found |= notes(source.input(role), _NAME_2014)
    known = Tags(dict.fromkeys(CATEGORIES_2014, TYPES_2014), frozenset(), "TYPE", untyped=False)
    yield from examples(source, found, known, group=lambda document: document.partition("-")[0])


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
        root = parse_xml(decode(content, where), where, _escape_ampersands)
        texts, tags = root.findall("TEXT"), root.findall("TAGS")
        if len(texts) != 1 or len(tags) != 1 or len(texts[0]) or not texts[0].text:
            raise PubmillError(
                f"{where}: expected one <TEXT> with the note and one <TAGS> with its annotations"
            )
        by_document[match[1]] = Note(match[1], where, texts[0].text, list(tags[0]))
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
