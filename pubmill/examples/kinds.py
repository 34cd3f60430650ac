"""Example classes of all datasets, and the reader and writer of their files.

One split is one file of gzipped JSON lines, `datasets/DATASET/{train,dev,test}.jsonl.gz`. Messages
about a malformed line never quote its text, because text of licensed datasets must not reach a log.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

from pydantic import TypeAdapter, ValidationError

from pubmill.errors import PubmillError
from pubmill.recipes.recipe_types import FORBID_UNKNOWN
from pubmill.storage.checksums import check_examples
from pubmill.storage.files import read_jsonl_gz, write_jsonl_gz

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
"""All splits that a dataset may have, in the order in which they are shown."""
BIO_LABEL = re.compile(r"O|[BI](-\S+)?")
"""A BIO (IOB2) label: `O`, or `B` or `I`, alone or with a type (`B-Disease`)."""


class StrictPart:
    __slots__ = ()
    __pydantic_config__ = FORBID_UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(StrictPart):
    """A mention: characters `start` to `end` (exclusive) of its example's text; `id` is from the source."""

    start: int
    end: int
    type: str
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSentence(StrictPart):
    """A sentence of a document, as a character span of its text, with its own labels."""

    start: int
    end: int
    labels: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(StrictPart):
    """An answer text that is in the context from character `start` on."""

    text: str
    start: int


@dataclass(frozen=True, slots=True, order=True)
class WordSpan(StrictPart):
    """A mention as words `first` to `after` (exclusive) of its sentence."""

    first: int
    after: int
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(StrictPart):
    """Base class of all kinds of examples. `id` is unique in its split; `document` is the source's own
    document identifier (a PMID, a note), None if the source does not mark documents."""

    id: str
    document: str | None

    def fault(self) -> str | None:
        """Return why the example is invalid; None if it is valid."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensExample(Example):
    """One sentence with one BIO label per word. `layers`: name -> one integer per word, as in EBM-NLP."""

    words: list[str]
    labels: list[str]
    layers: dict[str, list[int]] = field(default_factory=dict)

    def fault(self) -> str | None:
        if not is_label_list(self.labels):
            return "labels must be a list of BIO labels"
        if not self.words or len(self.words) != len(self.labels):
            return f"{len(self.words)} words but {len(self.labels)} labels"
        short = any(len(layer) != len(self.words) for layer in self.layers.values())
        return "a layer does not have one integer a word" if short else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceExample(Example):
    """One text, or a pair of texts, with one label. `entities` are mentions in `text`; for a relation, its
    two arguments in the source's order."""

    text: str
    text_pair: str | None = None
    label: str
    entities: list[Entity] = field(default_factory=list)

    def fault(self) -> str | None:
        outside = any(not 0 <= e.start < e.end <= len(self.text) for e in self.entities)
        return "an entity lies outside of the text" if outside else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MultilabelExample(Example):
    """A document with any number of labels, sorted; `sentences` if the source labels sentences."""

    text: str
    labels: list[str]
    sentences: list[LabelledSentence] = field(default_factory=list)

    def fault(self) -> str | None:
        lists = (self.labels, *(sentence.labels for sentence in self.sentences))
        if any(labels != sorted(set(labels)) for labels in lists):
            return "labels must be sorted and unique"
        outside = any(not 0 <= s.start <= s.end <= len(self.text) for s in self.sentences)
        return "a sentence lies outside of the text" if outside else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionExample(Example):
    """A pair of texts with a score; `ratings` are the scores of the annotators, if known."""

    text: str
    text_pair: str
    score: float
    ratings: list[float] = field(default_factory=list)

    def fault(self) -> str | None:
        finite = all(abs(value) <= sys.float_info.max for value in (self.score, *self.ratings))
        return None if finite else "its score or a rating is no finite number"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanExample(Example):
    """A question with its answers in a context; without answers, the context does not contain any.

    `group` identifies the examples of one question with several contexts (BioASQ's snippets). `golds` are the
    experts' answers, synonyms of each other, whether or not this context contains them; empty if the source
    specifies answers only by position. `items`: the gold answers of a list question, each with its synonyms.
    """

    question: str
    context: str
    answers: list[Answer]
    group: str | None = None
    golds: list[str] = field(default_factory=list)
    items: list[list[str]] = field(default_factory=list)

    def fault(self) -> str | None:
        for one in self.answers:
            if not one.text or one.start < 0 or not self.context.startswith(one.text, one.start):
                return "an answer does not match the context at its position"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationsExample(Example):
    """A document with relations between its concepts.

    `entities`: the mentions, each with the `id` of its concept; a mention of two concepts occurs twice. Where
    mentions are related, each has an id of its own. `pairs`: two concepts each, between which a relation may
    hold, in the order in which relations name them. `relations`: sorted; each has two concepts, a label and,
    if the source states it, `Novel` or `No`. A relation whose concepts are no pair cannot be predicted, but
    counts.
    """

    text: str
    entities: list[Entity]
    pairs: list[list[str]]
    relations: list[list[str]]

    def fault(self) -> str | None:
        if any(not 0 <= e.start < e.end <= len(self.text) for e in self.entities):
            return "an entity lies outside of the text"
        known = {entity.id for entity in self.entities}
        if any(len(pair) != 2 or not known.issuperset(pair) for pair in self.pairs):
            return "a pair is not one of two concepts with mentions"
        return None if are_relations(self.relations) else RELATIONS_FAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionsExample(Example):
    """One sentence with mentions that may nest: sorted, each as first word, word after the last, and type."""

    words: list[str]
    mentions: list[WordSpan]

    @property
    def spans(self) -> list[tuple[int, int, str]]:
        """The mentions as (first word, word after the last, type), as in predictions."""
        return [(one.first, one.after, one.type) for one in self.mentions]

    def fault(self) -> str | None:
        if not self.words:
            return "it has no words"
        if self.mentions != sorted(set(self.mentions)):
            return "mentions must be sorted and unique"
        outside = any(not 0 <= one.first < one.after <= len(self.words) for one in self.mentions)
        return "a mention lies outside of the sentence" if outside else None


KINDS: dict[str, type[Example]] = {
    "tokens": TokensExample,
    "sequence": SequenceExample,
    "multilabel": MultilabelExample,
    "regression": RegressionExample,
    "span": SpanExample,
    "relations": RelationsExample,
    "mentions": MentionsExample,
}
"""Kind in dataset specs -> its class."""

Kind = TypeVar("Kind", bound=Example)


def write_examples(path: Path, examples: Iterable[Example], private: bool = False) -> None:
    """Write one split; equal examples give equal bytes. Empty optional fields are left out. Only its owner
    may read a `private` file."""
    written = ""

    def rows() -> Iterator[dict[str, object]]:
        nonlocal written
        for example in examples:
            written = example.id
            yield as_row(example)

    try:
        write_jsonl_gz(path, rows(), private)
    except UnicodeEncodeError:
        raise PubmillError(
            f"{path}: example {written!a} holds half of a pair of surrogates (as `\\ud83d` alone in JSON), "
            "which is not a character; correct it in the source file"
        ) from None


def as_row(example: Any) -> dict[str, object]:
    """Return the fields as JSON values; `asdict` would spend most of the time on deep copies."""
    row: dict[str, object] = {}
    for name, optional in _FIELDS[type(example)].items():
        value = getattr(example, name)
        if value or not optional:
            nested = isinstance(value, list) and value and is_dataclass(value[0])
            row[name] = [as_row(item) for item in value] if nested else value
    return row


_FIELDS: dict[type[Any], dict[str, bool]] = {
    kind: {one.name: (one.default, one.default_factory) != (MISSING, MISSING) for one in fields(kind)}
    for kind in (*KINDS.values(), Entity, LabelledSentence, Answer, WordSpan)
}
"""Class -> field -> whether it is optional; its default is then empty or None."""


def read_examples(path: Path, kind: type[Kind]) -> Iterator[Kind]:
    """Yield the examples of a split in order; a `PubmillError` names the file and line of any fault, and a
    split that isn't the one of which the card.json beside it tells."""
    check_examples(path)
    seen: set[str] = set()
    for number, row in enumerate(read_jsonl_gz(path), 1):
        try:
            example = _valid_example(kind, row)
            if example.id in seen:
                raise ValueError("its id occurs for the second time")
        except ValueError as fault:
            named = isinstance(row, dict) and isinstance(row.get("id"), str)
            name = f" example {row['id']}:" if named else ""
            raise PubmillError(f"{path}:{number}:{name} {fault}; convert the dataset again") from None
        seen.add(example.id)
        yield example


def kept_examples(path: Path, kind: type[Kind]) -> tuple[Kind, ...]:
    """Return the examples of a split; the last split is cached until its file changes or another is read."""
    status, hashable = path.stat(), cast(Any, kind)
    examples: tuple[Kind, ...] = _kept_examples(path, hashable, status.st_size, status.st_mtime_ns)
    return examples


@lru_cache(maxsize=1)
def _kept_examples(path: Path, kind: type[Any], size: int, changed: int) -> tuple[Any, ...]:
    return tuple(read_examples(path, kind))


def from_row(kind: type[Kind], row: Mapping[str, object]) -> Kind:
    """Return the example in a row, such as that of a data frame, in which optional fields may be missing or
    None; a `PubmillError` says what is wrong."""
    given = {name: one for name, one in row.items() if one is not None or not _FIELDS[kind].get(name)}
    try:
        return _valid_example(kind, given)
    except (TypeError, ValueError) as fault:
        raise PubmillError(f"example {row.get('id')!s:.40}: {fault}") from None


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _valid_example(kind: type[Kind], row: Any) -> Kind:
    """Return the example in a row; a ValueError says what is wrong, without text of the row."""
    try:
        example: Kind = _adapter(cast(Any, kind)).validate_json(json.dumps(row), strict=True)
    except ValidationError as error:
        known = _FIELDS[kind]
        needed = {name for name, optional in known.items() if not optional}
        if not isinstance(row, dict) or not needed <= row.keys() <= known.keys():
            raise ValueError(f"not a {kind.__name__} with the keys {', '.join(known)}") from None
        place = error.errors()[0]["loc"]
        raise ValueError(f"{place[0] if place else 'a text'} does not have the expected form") from None
    if fault := example.fault():
        raise ValueError(fault)
    return example


def is_label_list(value: Any) -> bool:
    """Return whether a parsed JSON value is a list of BIO labels."""
    return isinstance(value, list) and all(isinstance(one, str) and BIO_LABEL.fullmatch(one) for one in value)


NOVELTY = ("Novel", "No")
"""Whether a relation is a finding of its document or known before, as BioRED writes it."""
RELATIONS_FAULT = (
    "relations must be sorted and unique lists of two concepts, a label and, if known, Novel or No"
)


def are_relations(value: Any) -> bool:
    """Return whether a parsed JSON value is a sorted list of different relations."""
    return isinstance(value, list) and all(map(_is_relation, value)) and value == sorted_lists(value)


def _is_relation(value: Any) -> bool:
    texts = isinstance(value, list) and all(isinstance(part, str) and part for part in value)
    return texts and (len(value) == 3 or (len(value) == 4 and value[3] in NOVELTY))


def sorted_lists(values: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the different lists in order."""
    return [list(one) for one in sorted(set(map(tuple, values)))]
