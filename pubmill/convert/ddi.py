"""Converter of the DDI corpus (SemEval-2013, task 9) from XML to one example per pair of drugs.

An archive contains one XML file per document:

    <document id="DDI-DrugBank.d1">
      <sentence id="DDI-DrugBank.d1.s0" text="...">
        <entity id="DDI-DrugBank.d1.s0.e0" charOffset="0-8" type="drug" text="..."/>
        <pair id="DDI-DrugBank.d1.s0.p0" e1="...e0" e2="...e1" ddi="true" type="effect"/>

Offsets include the last character; a mention in pieces has one range per piece, `a-b;c-d`. Lists define the
splits, with one file name per line (BLURB's; the corpus itself has no dev split).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from pubmill.convert.source_files import ConverterInput, SpecError, lines, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.formats.safe_xml import parse_xml
from pubmill.messages.quotations import quote
from pubmill.storage.archives import decode, members

TYPES = frozenset({"drug", "brand", "group", "drug_n"})
INTERACTIONS = frozenset({"advise", "effect", "int", "mechanism"})
NEGATIVE = "DDI-false"

_RANGES = re.compile(r"[0-9]{1,9}-[0-9]{1,9}(;[0-9]{1,9}-[0-9]{1,9})*")


@dataclass(frozen=True)
class _DdiSentence:
    """A sentence, its XML element, and its location."""

    document: str
    id: str
    text: str
    element: etree._Element
    where: str

    def place(self, element: etree._Element) -> str:
        return f"{self.where}:{element.sourceline}"


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of one split: all pairs of the listed files, in order, with the pairs' ids.

    Sources: `archive`, and the lists `SPLIT_files`. Options: `folders`, the archive's folder for the first
    part of a listed name; `displaced`, the ids of the sentences whose offsets are known not to match their
    text; `pieces`, how to read a mention in pieces (`mentions_in_pieces`): with `span` from its first to its
    last character, including the words between, as in BLURB; with `first` only its first piece, as in BLUE.
    In a displaced sentence a mention is the text at its offsets, as in BLURB, not the text stated in the
    corpus (`texts_of_displaced_mentions`). A pair with an interaction but without a type has no label and is
    left out (`interactions_without_type`). All three are counted in `left_out`.

    A `PubmillError` names the file and line of anything that deviates from the form above: offsets outside of
    the text or, except in displaced sentences, at another text; repeated or unknown ids; a listed file that
    the archive lacks.
    """
    source.check_options("folders", "displaced", "pieces")
    if not isinstance(source.options.get("displaced", []), list):
        raise SpecError("the converter's option `displaced` is not a list of sentence ids")
    last = source.option("pieces", _LAST_PIECE)
    source.left_out.update(mentions_in_pieces=0, texts_of_displaced_mentions=0, interactions_without_type=0)
    seen: set[str] = set()
    for sentence in _sentences(source):
        entities = _entities(source, sentence, last)
        for pair in sentence.element.iterchildren("pair"):
            example = _example(source, sentence, entities, pair)
            if example and example.id in seen:
                raise PubmillError(f"{sentence.place(pair)}: a second pair {example.id}")
            if example:
                seen.add(example.id)
                yield example


_LAST_PIECE = {"span": -1, "first": 0}
"""Value of the option `pieces` -> the index of the piece with which a mention ends."""


def _example(
    source: ConverterInput, sentence: _DdiSentence, entities: dict[str, Entity], pair: etree._Element
) -> SequenceExample | None:
    where = sentence.place(pair)
    name = _element_id(pair, sentence.id, where)
    first, second = _attribute(pair, "e1", where), _attribute(pair, "e2", where)
    if first == second or not {first, second} <= entities.keys():
        raise PubmillError(
            f"{where}: the pair {name} has {quote(first)} and {quote(second)}; expected two entities of "
            f"{sentence.id}"
        )
    label = _pair_label(pair, where)
    if label is None:
        source.left_out["interactions_without_type"] += 1
        return None
    return SequenceExample(
        id=name,
        document=sentence.document,
        text=one_line(sentence.text),
        label=label,
        entities=[entities[first], entities[second]],
    )


def _pair_label(pair: etree._Element, where: str) -> str | None:
    match pair.get("ddi"), pair.get("type"):
        case "false", None:
            return NEGATIVE
        case "true", None:
            return None
        case "true", str(kind) if kind in INTERACTIONS:
            return f"DDI-{kind}"
    raise PubmillError(
        f'{where}: expected ddi="false", or ddi="true" with a type among {", ".join(sorted(INTERACTIONS))}; '
        f"found ddi={quote(pair.get('ddi', ''))} type={quote(pair.get('type', ''))}"
    )


def _entities(source: ConverterInput, sentence: _DdiSentence, last: int) -> dict[str, Entity]:
    entities: dict[str, Entity] = {}
    for element in sentence.element.iterchildren("entity"):
        where = sentence.place(element)
        name, kind = _element_id(element, sentence.id, where), _attribute(element, "type", where)
        if name in entities or kind not in TYPES:
            raise PubmillError(
                f"{where}: expected an entity with a new id and a type among "
                f"{', '.join(sorted(TYPES))}; found {name} of type {quote(kind)}"
            )
        ranges = _character_ranges(_attribute(element, "charOffset", where), sentence, where)
        source.left_out["mentions_in_pieces"] += len(ranges) > 1
        _check_text(source, sentence, _attribute(element, "text", where), ranges, where)
        entities[name] = Entity(start=ranges[0][0], end=ranges[last][1], type=kind, id=name)
    return entities


def _character_ranges(offsets: str, sentence: _DdiSentence, where: str) -> list[tuple[int, int]]:
    """Return starts and ends (exclusive), in order and without overlap."""
    if _RANGES.fullmatch(offsets):
        pieces = [piece.split("-") for piece in offsets.split(";")]
        ranges = [(int(start), int(end) + 1) for start, end in pieces]
        bounds = [bound for one in ranges for bound in one]
        if bounds == sorted(bounds) and bounds[-1] <= len(sentence.text) and all(a < b for a, b in ranges):
            return ranges
    raise PubmillError(
        f"{where}: expected charOffset `first-last`, or several with `;` between, in order and within the "
        f"{len(sentence.text)} characters of {sentence.id}; found {quote(offsets)}"
    )


def _check_text(
    source: ConverterInput, sentence: _DdiSentence, text: str, ranges: list[tuple[int, int]], where: str
) -> None:
    """Check that the mention is the text at its offsets; spaces between pieces are ignored."""
    inside = "".join(sentence.text[start:end] for start, end in ranges)
    if inside == text or (len(ranges) > 1 and "".join(inside.split()) == "".join(text.split())):
        return
    displaced = sentence.id in source.options.get("displaced", ())
    if not displaced or len(inside) != len(text):  # shifted, but never longer or shorter
        raise PubmillError(
            f"{where}: the entity is {quote(text)}, but at its offsets is {quote(inside)}; is this the "
            "archive in the spec? (`displaced` lists the sentences that are known to be damaged)"
        )
    source.left_out["texts_of_displaced_mentions"] += 1


def _sentences(source: ConverterInput) -> Iterator[_DdiSentence]:
    archive = source.input("archive")
    listed = _listed_members(source)
    contents = {name: content for name, content in members(archive) if name in listed}
    for name, where in listed.items():
        if name not in contents:
            raise PubmillError(
                f"{where}: {archive} has no file {name}; do the list and the archive belong to one corpus?"
            )
        place = f"{archive}: {name}"
        root = parse_xml(decode(contents[name], place), place)
        if root.tag != "document":
            raise PubmillError(f"{place}:{root.sourceline}: expected a <document>, found <{root.tag}>")
        document = _attribute(root, "id", f"{place}:{root.sourceline}")
        for element in root:
            at = f"{place}:{element.sourceline}"
            tags = {child.tag for child in element}
            if element.tag != "sentence" or not tags <= {"entity", "pair"}:
                raise PubmillError(
                    f"{at}: expected <sentence> with <entity> and <pair> in <{root.tag}>, "
                    f"found <{element.tag}> with {sorted(tags)}"
                )
            text = _attribute(element, "text", at, may_be_empty=True)
            yield _DdiSentence(document, _element_id(element, document, at), text, element, place)


def _listed_members(source: ConverterInput) -> dict[str, str]:
    """Return the names in the archive, in the list's order, and where they are listed."""
    folders = source.options.get("folders")
    if not isinstance(folders, dict) or not folders:
        raise SpecError("the converter's option `folders` is missing; give each listed folder its own")
    path = source.of_split("files")
    listed: dict[str, str] = {}
    for number, line in lines(path):
        where = f"{path}:{number}"
        folder, _, rest = line.partition("/")
        if folder not in folders or not rest.endswith(".xml"):
            raise PubmillError(f"{where}: expected {' or '.join(folders)}/....xml, found {quote(line)}")
        name = f"{folders[folder]}/{rest}"
        if name in listed:
            raise PubmillError(f"{where}: {quote(line)} is listed for the second time")
        listed[name] = where
    return listed


def _attribute(element: etree._Element, name: str, where: str, *, may_be_empty: bool = False) -> str:
    value = element.get(name)
    if value is None or not (value or may_be_empty):
        raise PubmillError(f"{where}: <{element.tag}> has no {name}")
    return str(value)


def _element_id(element: etree._Element, parent: str, where: str) -> str:
    """Return the element's id, which must begin with that of its parent."""
    name = _attribute(element, "id", where)
    if not name.startswith(f"{parent}."):
        raise PubmillError(
            f"{where}: <{element.tag}> has the id {quote(name)}; expected one that begins with {parent}."
        )
    return name
