"""Predictions as a file states them, before they are compared with a dataset's examples."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Key = Literal["labels", "label", "score", "answers", "mentions", "output", "prediction"]
"""Content of a prediction. `labels`: BIO labels or labels of a document; `label`: one; `score`: a number;
`answers`: ranked answers; `mentions`: character spans or texts; `output`: free string of a language model;
`prediction`: content that depends on the type of its value and on the dataset's kind."""


class NamedMention(NamedTuple):
    """A predicted mention by its text: every occurrence in the example's text."""

    text: str
    type: str


class PredictedSpan(NamedTuple):
    """A predicted mention: characters `start` to `end` (exclusive) of the row's text."""

    start: int
    end: int
    type: str


class LabelledPiece(NamedTuple):
    """A piece of a word with its label and the number of its token, as transformers' pipeline has them
    without aggregation."""

    span: PredictedSpan
    token: int


SomeMention = PredictedSpan | LabelledPiece | NamedMention


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionRow:
    """A prediction. `where`: file and line; `id`: None where the form has none.

    `dataset`: the name that the file states, if any. `words` and `texts` are the inputs that the file
    repeats; they must be those of the example. `text` is the one in which spans count characters; None: the
    words joined by blanks. `beside`: further keys of pubmill's own predictions. `rule`: of those in
    `free_answers`, the one by which the file's form was read.
    """

    where: str
    id: str | None
    key: Key
    value: Any
    dataset: str | None = None
    words: list[str] | None = None
    texts: tuple[str, ...] = ()
    text: str | None = None
    beside: dict[str, Any] = field(default_factory=dict)
    rule: str | None = None
