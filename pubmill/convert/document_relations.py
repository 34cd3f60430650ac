"""Converter of documents with relations between their concepts to one example per document.

The options of `pubmill.convert.annotated_texts` say how a file is read. Further ones:

- `pairs`: lists of two of the examples' types; every two concepts of such types are a pair, in this order,
  between which a relation may hold. Of two concepts of one type, the identifier that sorts first is first.
- `labels`: the relation types that are kept, as a list, or a mapping to the examples' labels; others are
  counted as `left_out.relations_of_other_types`.
- `arguments`: `concepts`, as PubTator and BC5CDR relate them; or `mentions`, each a concept of its own, of
  which those of one sentence are pairs (DrugProt).
- `separators`: the characters that separate the concepts of a mention or an argument; `|,;` by default.
- `novelty`: each relation is `Novel` or `No`, by PubTator's fifth column or BioC's infon `novel`.

A relation between types that `pairs` does not list is counted as `left_out.relations_of_other_pairs`;
BioRED's evaluation leaves these out too. A relation whose concepts have no mentions stays, since the official
evaluations count it as missed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Literal

from pubmill.convert.annotated_relations import Pairs, concepts_of
from pubmill.convert.annotated_texts import AnnotatedText, sentence_ends, texts
from pubmill.convert.source_files import ConverterInput, check_id, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import NOVELTY, Entity, RelationsExample, sorted_lists


class DocumentReading(Pairs):
    """The options (see the module)."""

    arguments: Literal["mentions", "concepts"] = "concepts"
    novelty: bool = False


Types = Mapping[str, Collection[str]]
"""Identifier of a concept -> the types of its mentions, in the text's order."""


def read(source: ConverterInput) -> Iterator[RelationsExample]:
    """Yield the documents of a split with their own ids; a repeated id gets a number (`ID-2`)."""
    reading = source.options_as(DocumentReading)
    ends, met = sentence_ends(source, reading), dict[str, int]()
    for one in texts(source, reading):
        name = check_id(one.document.id, one.document.where)
        met[name] = met.get(name, 0) + 1
        entities = _entities(one, reading)
        yield RelationsExample(
            id=name if met[name] == 1 else f"{name}-{met[name]}",
            document=name,
            text=one_line(one.text),
            entities=entities,
            pairs=_pairs(entities, reading, [*ends(one.text), len(one.text)]),
            relations=_relations(one, reading, entities, source),
        )


def _entities(one: AnnotatedText, reading: DocumentReading) -> list[Entity]:
    """Return the mentions in the text's order, once for each of their concepts."""
    entities = []
    for mention in one.mentions:
        own = [mention.id] if mention.id and reading.arguments == "mentions" else []
        for name in own or concepts_of(mention.concepts, reading.separators):
            entities.append(Entity(start=mention.start, end=mention.end, type=mention.type, id=name))
    return sorted(dict.fromkeys(entities), key=lambda entity: (entity.start, entity.end))


def _pairs(entities: Sequence[Entity], reading: DocumentReading, ends: Sequence[int]) -> list[list[str]]:
    """Return the pairs of concepts, or of mentions of one sentence, by the first mentions of both."""
    if reading.arguments == "concepts":
        groups = [entities]
    else:
        starts = [0, *ends]
        groups = [
            [one for one in entities if start <= one.start and one.end <= end]
            for start, end in zip(starts, ends, strict=False)
        ]
    types = _types(entities)
    pairs = [
        _ordered(first, second, types, reading)
        for group in groups
        for first, second in combinations(dict.fromkeys(str(one.id) for one in group), 2)
    ]
    return [list(pair) for pair in dict.fromkeys(filter(None, pairs))]


def _types(entities: Sequence[Entity]) -> Types:
    types: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for entity in entities:
        types[str(entity.id)][entity.type] = None
    return types


def _ordered(first: str, second: str, types: Types, reading: DocumentReading) -> tuple[str, str] | None:
    """Return two concepts in the order of their pair of types; None if they are no pair."""
    for kind, other in product(types[first], types[second]):
        ordered = reading.ordered(kind, other)
        if ordered is not None:
            swapped = second < first if kind == other else not ordered
            return (second, first) if swapped else (first, second)
    return None


def _relations(
    one: AnnotatedText, reading: DocumentReading, entities: Sequence[Entity], source: ConverterInput
) -> list[list[str]]:
    types = _types(entities)
    relations: list[list[str]] = []
    for relation, label, stated in reading.labelled(one, source.left_out):
        related: Iterable[tuple[str, ...]] = [stated]
        if reading.arguments == "concepts":  # an argument may name several, each of which is related
            related = product(*(concepts_of(name, reading.separators) for name in stated))
        for first, second in related:
            pair: Sequence[str] | None = [first, second]
            if first in types and second in types:
                pair = _ordered(first, second, types, reading)
            elif second < first and reading.arguments == "concepts":
                pair = [second, first]
            if pair is None:
                source.left_out["relations_of_other_pairs"] += 1
                continue
            if reading.novelty and relation.novelty not in NOVELTY:
                raise PubmillError(
                    f"{one.document.where}: the novelty of a relation (PubTator's fifth column, BioC's infon "
                    f"`novel`) must be {' or '.join(NOVELTY)}"
                )
            novelty = [relation.novelty] if reading.novelty and relation.novelty else []
            relations.append([*pair, label, *novelty])
    different = sorted_lists(relations)
    if len(different) < len(relations):
        source.left_out["repeated_relations"] += len(relations) - len(different)
    return different
