"""The few kinds of examples that datasets consist of, and their files. Standard library only.

One split is one file of gzipped JSON lines, `datasets/DATASET/{train,dev,test}.jsonl.gz`. Messages
about a broken line never quote its text: that of licensed datasets must not reach a log.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pubmill.errors import PubmillError
from pubmill.recipes import fits
from pubmill.storage.files import read_jsonl_gz, write_jsonl_gz

SPLITS = ("train", "dev", "test")
"""All splits that a dataset may have, in the order in which they are shown."""
BIO_LABEL = re.compile(r"O|[BI](-\S+)?")
"""A BIO (IOB2) label: `O`, or `B` or `I`, alone or with a type (`B-Disease`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A mention as characters `start` to `end` (exclusive) of its example's text; `id` is the source's."""

    start: int
    end: int
    type: str
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSentence:
    """A sentence of a document as characters of its text, with labels of its own."""

    start: int
    end: int
    labels: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it stands in the context from character `start` on."""

    text: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What all kinds have.

    `id` is unique in its split; `document` is the source's own document identifier (a PMID, a note),
    None where the source doesn't mark documents.
    """

    id: str
    document: str | None

    def fault(self) -> str | None:
        """What keeps the example from being sound, if anything."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensExample(Example):
    """One sentence with one BIO label a word.

    `layers` are further annotations, one integer a word, that the labels were made from.
    """

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
    """One text, or a pair of texts, with one label.

    `entities` are mentions in `text`; for a relation, its two arguments in the source's order.
    """

    text: str
    text_pair: str | None = None
    label: str
    entities: list[Entity] = field(default_factory=list)

    def fault(self) -> str | None:
        outside = any(not 0 <= e.start < e.end <= len(self.text) for e in self.entities)
        return "an entity lies outside of the text" if outside else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MultilabelExample(Example):
    """A document with any number of labels, sorted; `sentences` where the source labels these."""

    text: str
    labels: list[str]
    sentences: list[LabelledSentence] = field(default_factory=list)

    def fault(self) -> str | None:
        if any(
            labels != sorted(set(labels)) for labels in (self.labels, *(s.labels for s in self.sentences))
        ):
            return "labels must be sorted, and each there once"
        outside = any(not 0 <= s.start <= s.end <= len(self.text) for s in self.sentences)
        return "a sentence lies outside of the text" if outside else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionExample(Example):
    """A pair of texts with a score; `ratings` are those of single annotators, where known."""

    text: str
    text_pair: str
    score: float
    ratings: list[float] = field(default_factory=list)

    def fault(self) -> str | None:
        finite = all(abs(value) <= sys.float_info.max for value in (self.score, *self.ratings))
        return None if finite else "its score or a rating is no finite number"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanExample(Example):
    """A question whose answers stand in a context; no answers: it can't be answered from it.

    `group` joins the examples of one question that is asked of several contexts (BioASQ's snippets).
    `golds` are the answers that its experts gave, synonyms of each other, whether or not they stand in
    this context; where the source gives answers by their place alone, there are none.
    """

    question: str
    context: str
    answers: list[Answer]
    group: str | None = None
    golds: list[str] = field(default_factory=list)

    def fault(self) -> str | None:
        wrong = any(
            not a.text or a.start < 0 or not self.context.startswith(a.text, a.start) for a in self.answers
        )
        return "an answer is not what stands in the context at its place" if wrong else None


KINDS: dict[str, type[Example]] = {
    "tokens": TokensExample,
    "sequence": SequenceExample,
    "multilabel": MultilabelExample,
    "regression": RegressionExample,
    "span": SpanExample,
}
"""Kind, as dataset specs name it -> its class."""

Kind = TypeVar("Kind", bound=Example)


def write_examples(path: Path, examples: Iterable[Example], private: bool = False) -> None:
    """Write one split; equal examples give equal bytes. Empty optional fields are left out. Only its owner
    may read a `private` file."""
    written = ""

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal written
        for example in examples:
            written = example.id
            yield as_row(example)

    try:
        write_jsonl_gz(path, rows(), private)
    except UnicodeEncodeError:
        raise PubmillError(
            f"{path}: example {written!a} holds half of a pair of surrogates (as `\\ud83d` alone in JSON), "
            "which is no character; correct it in the source file"
        ) from None


def as_row(example: Any) -> dict[str, Any]:
    """The fields as JSON takes them; not `asdict`, whose deep copies take most of the time."""
    optional = _OPTIONAL[type(example)]
    values = {name: getattr(example, name) for name in _HINTS[type(example)]}
    return {name: _plain(value) for name, value in values.items() if value or name not in optional}


def _plain(value: Any) -> Any:
    return [as_row(item) for item in value] if isinstance(value, list) and _is_nested(value) else value


def _is_nested(value: list[Any]) -> bool:
    return bool(value) and is_dataclass(value[0])


def _optional_fields(kind: type[Any]) -> frozenset[str]:
    """Fields with a default, which is empty or None for all of them."""
    return frozenset(
        f.name for f in fields(kind) if f.default is not MISSING or f.default_factory is not MISSING
    )


_CLASSES = (*KINDS.values(), Entity, LabelledSentence, Answer)
_HINTS: dict[type[Any], dict[str, Any]] = {kind: get_type_hints(kind) for kind in _CLASSES}
_OPTIONAL: dict[type[Any], frozenset[str]] = {kind: _optional_fields(kind) for kind in _CLASSES}


def read_examples(path: Path, kind: type[Kind]) -> Iterator[Kind]:
    """Read one split in its order; a `PubmillError` names the file and line of what is wrong."""
    seen: set[str] = set()
    for number, row in enumerate(read_jsonl_gz(path), 1):
        try:
            example: Kind = _build(kind, row)
            fault = example.fault()
        except _MisshapenError as error:
            fault = str(error)
        if not fault and example.id in seen:
            fault = "its id stands here for the second time"
        if fault:
            name = (
                f" example {row['id']}:" if isinstance(row, dict) and isinstance(row.get("id"), str) else ""
            )
            raise PubmillError(f"{path}:{number}:{name} {fault}; convert the dataset again")
        seen.add(example.id)
        yield example


class _MisshapenError(Exception):
    """A parsed line that isn't of its kind's form."""


def _build(kind: type[Any], row: Any) -> Any:
    hints = _HINTS[kind]
    if not isinstance(row, dict) or not hints.keys() - _OPTIONAL[kind] <= row.keys() <= hints.keys():
        raise _MisshapenError(f"not a {kind.__name__} with the keys {', '.join(hints)}")
    return kind(**{name: _value(hints[name], value, name) for name, value in row.items()})


def _value(hint: Any, value: Any, name: str) -> Any:
    inner = get_args(hint)[0] if get_origin(hint) is list else None
    if is_dataclass(inner) and isinstance(inner, type) and isinstance(value, list):
        return [_build(inner, item) for item in value]
    if get_origin(hint) is dict:
        of = get_args(hint)[1]
        if isinstance(value, dict) and all(fits(item, of) for item in value.values()):
            return value
    elif fits(value, hint):
        return value
    raise _MisshapenError(f"{name} is not of the form that it must have")


def is_label_list(value: Any) -> bool:
    """Whether a parsed JSON value is a list of BIO labels."""
    return isinstance(value, list) and all(
        isinstance(label, str) and BIO_LABEL.fullmatch(label) for label in value
    )
