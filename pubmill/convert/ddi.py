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
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from lxml import etree

from pubmill.convert.source_files import ConverterInput, lines, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.formats.safe_xml import attribute, parse_xml
from pubmill.messages.quotations import quote
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.storage.archives import decode, members

TYPES = frozenset({"drug", "brand", "group", "drug_n"})
INTERACTIONS = frozenset({"advise", "effect", "int", "mechanism"})
NEGATIVE = "DDI-false"

_RANGES = re.compile(r"[0-9]{1,9}-[0-9]{1,9}(;[0-9]{1,9}-[0-9]{1,9})*")


class DdiReading(StrictRecipe):
    """The options. `folders`: the archive's folder for the first part of a listed name; `displaced`: the ids
    of the sentences whose offsets are known not to match their text; `pieces`: how to read a mention in
    pieces, with `span` from its first to its last character, including the words between, as in BLURB, with
    `first` only its first piece, as in BLUE."""

    folders: dict[str, str]
    pieces: Literal["span", "first"]
    displaced: list[str] = field(default_factory=list)


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of one split: all pairs of the listed files, in order, with the pairs' ids.

    Sources: `archive`, and the lists `SPLIT_files`. In a displaced sentence a mention is the text at its
    offsets, as in BLURB, not the text stated in the corpus (`texts_of_displaced_mentions`). A pair with an
    interaction but without a type has no label and is left out (`interactions_without_type`). Both, and
    `mentions_in_pieces`, are counted in `left_out`.

    A `PubmillError` names the file and line of anything that deviates from the form above: offsets outside of
    the text or, except in displaced sentences, at another text; unknown ids; a listed file that the archive
    lacks.
    """
    reading, left_out = source.options_as(DdiReading), source.left_out
    left_out.update(mentions_in_pieces=0, texts_of_displaced_mentions=0, interactions_without_type=0)
    for document, sentence, place in _sentences(source, reading.folders):
        name, text = _element_id(sentence, document, place), attribute(sentence, "text", place)
        entities = _entities(sentence, name, text, place, source, reading)
        for element in sentence.iterchildren("pair"):
            where, pair = f"{place}:{element.sourceline}", _element_id(element, name, place)
            first, second = attribute(element, "e1", place), attribute(element, "e2", place)
            if first == second or not {first, second} <= entities.keys():
                raise PubmillError(
                    f"{where}: the pair {pair} has {quote(first)} and {quote(second)}; expected two entities "
                    f"of {name}"
                )
            if label := _pair_label(element, where):
                arguments = [entities[first], entities[second]]
                yield SequenceExample(
                    id=pair, document=document, text=one_line(text), label=label, entities=arguments
                )
            else:
                left_out["interactions_without_type"] += 1


def _entities(
    sentence: etree._Element, name: str, text: str, place: str, source: ConverterInput, reading: DdiReading
) -> dict[str, Entity]:
    """Return the entities of the sentence with this id and text by their ids."""
    entities: dict[str, Entity] = {}
    for element in sentence.iterchildren("entity"):
        where, of = f"{place}:{element.sourceline}", attribute(element, "type", place)
        entity = _element_id(element, name, place)
        if entity in entities or of not in TYPES:
            raise PubmillError(
                f"{where}: expected an entity with a new id and a type among "
                f"{', '.join(sorted(TYPES))}; found {entity} of type {quote(of)}"
            )
        ranges = _character_ranges(attribute(element, "charOffset", place), len(text), where)
        source.left_out["mentions_in_pieces"] += len(ranges) > 1
        stated = attribute(element, "text", place)
        inside = "".join(text[start:end] for start, end in ranges)
        # between pieces are spaces
        if inside != stated and (len(ranges) == 1 or "".join(inside.split()) != "".join(stated.split())):
            # displaced ones are shifted, but never longer or shorter
            if name not in reading.displaced or len(inside) != len(stated):
                raise PubmillError(
                    f"{where}: the entity is {quote(stated)}, but at its offsets is {quote(inside)}; is "
                    "this the archive in the spec? (`displaced` lists the sentences known to be damaged)"
                )
            source.left_out["texts_of_displaced_mentions"] += 1
        end = ranges[0 if reading.pieces == "first" else -1][1]
        entities[entity] = Entity(start=ranges[0][0], end=end, type=of, id=entity)
    return entities


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


def _character_ranges(offsets: str, length: int, where: str) -> list[tuple[int, int]]:
    """Return starts and ends (exclusive), in order and without overlap."""
    if _RANGES.fullmatch(offsets):
        pieces = [piece.split("-") for piece in offsets.split(";")]
        ranges = [(int(start), int(end) + 1) for start, end in pieces]
        bounds = [bound for one in ranges for bound in one]
        if bounds == sorted(bounds) and bounds[-1] <= length and all(a < b for a, b in ranges):
            return ranges
    raise PubmillError(
        f"{where}: expected charOffset `first-last`, or several with `;` between, in order and within the "
        f"{length} characters of the sentence; found {quote(offsets)}"
    )


def _sentences(
    source: ConverterInput, folders: Mapping[str, str]
) -> Iterator[tuple[str, etree._Element, str]]:
    """Yield the document's id, the element and the file of each sentence of the listed files."""
    archive, path = source.input("archive"), source.of_split("files")
    listed: dict[str, str] = {}
    for number, line in lines(path):
        folder, _, rest = line.partition("/")
        if folder not in folders or not rest.endswith(".xml"):
            raise PubmillError(
                f"{path}:{number}: expected {' or '.join(folders)}/....xml, found {quote(line)}"
            )
        listed[f"{folders[folder]}/{rest}"] = f"{path}:{number}"
    contents = {name: content for name, content in members(archive) if name in listed}
    for name, where in listed.items():
        if name not in contents:
            raise PubmillError(
                f"{where}: {archive} has no file {name}; do the list and the archive belong to one corpus?"
            )
        place = f"{archive}: {name}"
        root = parse_xml(decode(contents[name], place), place)
        document = attribute(root, "id", place)
        for element in root:
            tags = {child.tag for child in element}
            if element.tag != "sentence" or not tags <= {"entity", "pair"}:
                raise PubmillError(
                    f"{place}:{element.sourceline}: expected <sentence> with <entity> and <pair> in a "
                    f"<document>, found <{element.tag}> with {sorted(tags)}"
                )
            yield document, element, place


def _element_id(element: etree._Element, parent: str, place: str) -> str:
    """Return the element's id, which must begin with that of its parent."""
    name = attribute(element, "id", place)
    if not name.startswith(f"{parent}."):
        raise PubmillError(
            f"{place}:{element.sourceline}: <{element.tag}> has the id {quote(name)}; expected one that "
            f"begins with {parent}."
        )
    return name
