"""Converter of documents with relations (PubTator, BioC, brat) to one example per pair of arguments.

The options of `pubmill.convert.annotated_texts` say how a file is read. Further ones:

- `pairs`: lists of two of the examples' types; every such pair of arguments is an example. Arguments stand in
  the order of their types; those of one type in the text's order.
- `labels`: the relation types that are kept, as a list, or a mapping to the examples' labels; others are
  counted as `left_out.relations_of_other_types`.
- `negative`: the label of a pair without a relation.
- `several`: of a pair with several labels, make an example for `each`, or keep the `first` or the `last`.
- `directed`: whether each pair of mentions is an example in both orders, as a relation has a first argument.
- `arguments`: `mentions`, of one sentence, as brat and BioC's nodes relate them; or `concepts` of a document,
  as PubTator, BC5CDR and BioRED do. An example of two concepts has the whole document and all mentions of
  both; its mentions of one type have the types `TYPE-1` and `TYPE-2`. Dummies then show which concepts are
  meant, as in BioRED's baseline.
- `separators`: the characters that separate the concepts of a mention; `|,;` by default. None (`""`) where
  they also stand inside of an identifier, as in tmVar's.

Relations whose arguments are no pair of examples are counted (`left_out.relations_without_a_pair`), so that a
score over the examples can be compared with one over all relations.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Literal

from pubmill.convert.annotated_texts import AnnotatedText, TextReading, sentence_ends, texts
from pubmill.convert.source_files import ConverterInput, check_id, one_line, renamed
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.formats.documents import FileRelation
from pubmill.messages.quotations import show

NO_CONCEPTS = ("", "-", "-1")
Pair = tuple[str, ...]
"""The identifiers of two arguments: in order if relations are directed, else sorted."""


class Pairs(TextReading):
    """The options by which pairs and their labels are found (see the module)."""

    pairs: list[tuple[str, str]]
    labels: list[str] | dict[str, str]
    arguments: Literal["mentions", "concepts"] = "mentions"
    separators: str = "|,;"

    def labelled(
        self, one: AnnotatedText, left_out: Counter[str]
    ) -> Iterator[tuple[FileRelation, str, tuple[str, ...]]]:
        """Yield the relations of kept types, each with its label and the two related mentions or concepts."""
        for relation in one.document.relations:
            label = renamed(relation.type, self.labels)
            if label is None:
                left_out["relations_of_other_types"] += 1
                continue
            stated = relation.concepts if self.arguments == "concepts" else relation.arguments
            if len(stated) != 2:
                other = "mentions" if self.arguments == "concepts" else "concepts"
                raise PubmillError(
                    f"{one.document.where}: a relation of type {show(relation.type)} has {len(stated)} "
                    f"{self.arguments}; expected 2. Does the file relate {other} (the option `arguments`)?"
                )
            yield relation, label, stated

    def ordered(self, one: str, other: str) -> bool | None:
        """Return True if two types are a pair in this order, False if only in the other order, else None."""
        if (one, other) in self.pairs:
            return True
        return False if (other, one) in self.pairs else None


class RelationReading(Pairs):
    """The options (see the module)."""

    negative: str
    several: Literal["each", "first", "last"] | None = None
    directed: bool = False


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of one split; ids are `DOCUMENT-1`, `DOCUMENT-2`, ...

    A `PubmillError` names the file, and the line or document, of anything that deviates from the form, and a
    pair with several labels if the option `several` is missing.
    """
    reading = source.options_as(RelationReading)
    ends = sentence_ends(source, reading)
    for one in texts(source, reading):
        stated = defaultdict[Pair, list[str]](list)
        for _, label, arguments in reading.labelled(one, source.left_out):
            stated[_key(arguments, reading)].append(label)
        make = _concept_pairs if reading.arguments == "concepts" else _mention_pairs
        met: set[Pair] = set()
        number = 0
        name = check_id(one.document.id, one.document.where)
        for text, entities in make(one, reading, ends(one.text)):
            pair = _key([str(entity.id) for entity in (entities[0], entities[-1])], reading)
            met.add(pair)
            for label in _chosen(stated.get(pair, []), reading, source, one) or [reading.negative]:
                number += 1
                yield SequenceExample(
                    id=f"{name}-{number}", document=name, text=one_line(text), label=label, entities=entities
                )
        source.left_out["relations_without_a_pair"] += sum(
            len(labels) for pair, labels in stated.items() if pair not in met
        )


def _key(arguments: Sequence[str], reading: RelationReading) -> Pair:
    return tuple(arguments if reading.directed else sorted(arguments))


def _chosen(
    labels: Sequence[str], reading: RelationReading, source: ConverterInput, one: AnnotatedText
) -> list[str]:
    different = list(dict.fromkeys(labels))
    if len(labels) > len(different):
        source.left_out["repeated_relations"] += len(labels) - len(different)
    if len(different) < 2 or reading.several == "each":
        return different
    if reading.several is None:
        raise PubmillError(
            f"{one.document.where}: a pair has the labels {', '.join(map(show, different))}; give the "
            "converter's option `several`: `each`, `first` or `last`"
        )
    source.left_out["further_labels"] += len(different) - 1
    return different[:1] if reading.several == "first" else [labels[-1]]


Found = Iterator[tuple[str, list[Entity]]]
"""Text of an example, and the mentions of its first argument, then those of its second."""


def _mention_pairs(one: AnnotatedText, reading: RelationReading, ends: Sequence[int]) -> Found:
    start = 0
    for end in [*ends, len(one.text)]:
        inside = [
            Entity(start=mention.start - start, end=mention.end - start, type=mention.type, id=mention.id)
            for mention in one.mentions
            if start <= mention.start and mention.end <= end
        ]
        inside.sort(key=lambda entity: (entity.start, entity.end))
        for first, second in permutations(inside, 2) if reading.directed else combinations(inside, 2):
            ordered = reading.ordered(first.type, second.type)
            if ordered or (ordered is False and not reading.directed):
                yield one.text[start:end], [first, second] if ordered else [second, first]
        start = end


def _concept_pairs(one: AnnotatedText, reading: RelationReading, ends: Sequence[int]) -> Found:
    """Yield the pairs of concepts of the document, in the order of their first mentions."""
    mentions: dict[tuple[str, str], list[Entity]] = defaultdict(list)
    for mention in sorted(one.mentions, key=lambda mention: mention.start):
        for concept in concepts_of(mention.concepts, reading.separators):
            entity = Entity(start=mention.start, end=mention.end, type=mention.type, id=concept)
            mentions[concept, mention.type].append(entity)
    for (first, kind), (second, other) in combinations(mentions, 2):
        ordered = reading.ordered(kind, other)
        if ordered is not None and first != second:
            pair = [mentions[first, kind], mentions[second, other]]
            yield one.text, _both(*(pair if ordered else reversed(pair)))


def concepts_of(text: str, separators: str) -> list[str]:
    """Return the different concepts that a mention or an argument names."""
    names = re.split(f"[{re.escape(separators)}]", text) if separators else [text]
    return [name for name in dict.fromkeys(map(str.strip, names)) if name not in NO_CONCEPTS]


def _both(first: Sequence[Entity], second: Sequence[Entity]) -> list[Entity]:
    """Return the first concept's mentions, then the second's, which leave out shared ones if possible."""
    taken = {(one.start, one.end) for one in first}
    rest = [one for one in second if (one.start, one.end) not in taken] or list(second)
    if first[0].type != second[0].type:
        return [*first, *rest]
    return [
        *(replace(one, type=f"{one.type}-1") for one in first),
        *(replace(one, type=f"{one.type}-2") for one in rest),
    ]
