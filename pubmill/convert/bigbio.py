"""Examples in the schemas of BigBIO: knowledge bases, questions, entailment, pairs and texts.

The schemas are those of github.com/bigscience-workshop/biomedical (`bigbio/utils/schemas`). Ids and documents
are those of the examples.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import Any

import pyarrow as pa

from pubmill.examples.kinds import MentionsExample, RelationsExample, SequenceExample, TokensExample
from pubmill.examples.tagging import to_mentions

Row = dict[str, object]
"""A row, or a part of one, with the columns of its schema."""
_TEXT = pa.string()
_TEXTS = pa.list_(_TEXT)
_OFFSETS = pa.list_(pa.list_(pa.int32()))
_CONCEPTS = pa.list_(pa.struct([("db_name", _TEXT), ("db_id", _TEXT)]))
_SPAN = [("id", _TEXT), ("type", _TEXT), ("text", _TEXTS), ("offsets", _OFFSETS)]
_TRIGGER = pa.struct([("text", _TEXTS), ("offsets", _OFFSETS)])
_ARGUMENTS = pa.list_(pa.struct([("role", _TEXT), ("ref_id", _TEXT)]))
_IDS = [("id", _TEXT), ("document_id", _TEXT)]
_EVENT = [("id", _TEXT), ("type", _TEXT), ("trigger", _TRIGGER), ("arguments", _ARGUMENTS)]
_RELATION = [*((name, _TEXT) for name in ("id", "type", "arg1_id", "arg2_id")), ("normalized", _CONCEPTS)]
SCHEMAS: dict[str, pa.Schema] = {
    "kb": pa.schema(
        [
            *_IDS,
            ("passages", pa.list_(pa.struct(_SPAN))),
            ("entities", pa.list_(pa.struct([*_SPAN, ("normalized", _CONCEPTS)]))),
            ("events", pa.list_(pa.struct(_EVENT))),
            ("coreferences", pa.list_(pa.struct([("id", _TEXT), ("entity_ids", _TEXTS)]))),
            ("relations", pa.list_(pa.struct(_RELATION))),
        ]
    ),
    "qa": pa.schema(
        [
            ("id", _TEXT), ("question_id", _TEXT), ("document_id", _TEXT), ("question", _TEXT),
            ("type", _TEXT), ("choices", _TEXTS), ("context", _TEXT), ("answer", _TEXTS),
        ]
    ),
    "te": pa.schema([("id", _TEXT), ("premise", _TEXT), ("hypothesis", _TEXT), ("label", _TEXT)]),
    "pairs": pa.schema([*_IDS, ("text_1", _TEXT), ("text_2", _TEXT), ("label", _TEXT)]),
    "text": pa.schema([*_IDS, ("text", _TEXT), ("labels", _TEXTS)]),
}  # fmt: skip
"""Schema -> its columns."""
_OF_TASK = {"relation": "kb", "yes-no": "qa", "inference": "te", "similarity": "pairs"}
_OF_KIND = {
    "tokens": "kb", "span": "qa", "multilabel": "text", "regression": "pairs", "relations": "kb",
    "mentions": "kb",
}  # fmt: skip


def schema_name(kind: str, task: str) -> str:
    """Return the schema of a dataset's kind and task."""
    return _OF_TASK.get(task) or _OF_KIND.get(kind) or "text"


def to_bigbio(
    examples: Sequence[Any], kind: str, task: str, labels: Sequence[str], negative: str | None
) -> pa.Table:
    """Return examples in the schema of their task; `negative`: the label of pairs without a relation."""
    name = schema_name(kind, task)
    if kind in ("tokens", "mentions"):
        rows: Iterator[Row] = _annotated_documents(examples)
    elif kind == "relations":
        rows = map(_related_concepts, examples)
    else:
        rows = (_ROWS[name](one, labels, negative) for one in examples)
    return pa.Table.from_pylist(list(rows), SCHEMAS[name])


def _annotated_documents(examples: Sequence[TokensExample | MentionsExample]) -> Iterator[Row]:
    """Yield a row for each document, or sentence without one, with a passage for each sentence."""
    for name, group in groupby(examples, key=lambda one: one.document or one.id):
        sentences = list(group)
        passages, entities = list[Row](), list[Row]()
        offset = 0
        for one in sentences:
            text = " ".join(one.words)
            passages.append(_span(one.id, "sentence", text, offset))
            entities += _entities(one, text, offset)
            offset += len(text) + 1
        yield _knowledge(sentences[0].id, name, passages, entities, [])


def _entities(one: TokensExample | MentionsExample, text: str, offset: int) -> Iterator[Row]:
    starts = list(accumulate((len(word) + 1 for word in one.words), initial=0))
    mentions = one.spans if isinstance(one, MentionsExample) else to_mentions(one.labels)
    for number, (first, after, kind) in enumerate(mentions, 1):
        start, end = starts[first], starts[after] - 1
        span = _span(f"{one.id}_T{number}", kind or "mention", text[start:end], offset + start)
        yield {**span, "normalized": []}


def _relation(one: SequenceExample, labels: Sequence[str], negative: str | None) -> Row:
    """Return a text with its two mentions and, unless there is none, their relation."""
    mentions = {"arg1_id": f"{one.id}_T1", "arg2_id": f"{one.id}_T2"}
    relation: Row = {"id": f"{one.id}_R1", "type": one.label, **mentions, "normalized": []}
    return _text_with_entities(one, [relation] if one.label != negative and len(one.entities) > 1 else [])


def _related_concepts(one: RelationsExample) -> Row:
    """Return a document with its mentions and relations, each between the first mentions of its two concepts.
    Relations of a concept without mentions are left out, because the schema relates mentions."""
    first: dict[str | None, str] = {}
    for number, entity in enumerate(one.entities, 1):
        first.setdefault(entity.id, f"{one.id}_T{number}")
    relations: list[Row] = [
        {"id": f"{one.id}_R{n}", "type": label, "arg1_id": first[a], "arg2_id": first[b], "normalized": []}
        for n, (a, b, label, *_) in enumerate(one.relations, 1)
        if a in first and b in first
    ]
    return _text_with_entities(one, relations)


def _text_with_entities(one: SequenceExample | RelationsExample, relations: list[Row]) -> Row:
    entities: list[Row] = [
        {
            **_span(f"{one.id}_T{number}", entity.type, one.text[entity.start : entity.end], entity.start),
            "normalized": [{"db_name": "source", "db_id": entity.id}] if entity.id else [],
        }
        for number, entity in enumerate(one.entities, 1)
    ]
    passages = [_span(f"{one.id}_P1", "text", one.text, 0)]
    return _knowledge(one.id, one.document or one.id, passages, entities, relations)


def _span(name: str, kind: str, text: str, start: int) -> Row:
    return {"id": name, "type": kind, "text": [text], "offsets": [[start, start + len(text)]]}


def _knowledge(
    name: str, document: str, passages: list[Row], entities: list[Row], relations: list[Row]
) -> Row:
    parts = {"passages": passages, "entities": entities, "relations": relations}
    return {"id": name, "document_id": document, **parts, "events": [], "coreferences": []}


def _question(one: Any, labels: Sequence[str], negative: str | None) -> Row:
    ids = {"id": one.id, "question_id": getattr(one, "group", None) or one.id, "document_id": one.document}
    if isinstance(one, SequenceExample):
        asked = {"question": one.text, "context": one.text_pair, "type": "yesno"}
        return {**ids, **asked, "choices": list(labels), "answer": [one.label]}
    answers = one.golds or [answer.text for answer in one.answers]
    asked = {"question": one.question, "context": one.context, "type": "list" if one.items else "factoid"}
    return {**ids, **asked, "choices": [], "answer": list(dict.fromkeys(answers))}


def _text(one: Any, labels: Sequence[str], negative: str | None) -> Row:
    own = [one.label] if isinstance(one, SequenceExample) else one.labels
    return {**_ids(one), "text": one.text, "labels": own}


def _ids(one: Any) -> Row:
    return {"id": one.id, "document_id": one.document or one.id}


_ROWS: dict[str, Callable[[Any, Sequence[str], str | None], Row]] = {
    "kb": _relation,
    "qa": _question,
    "te": lambda one, *_: {
        "id": one.id,
        "premise": one.text,
        "hypothesis": one.text_pair,
        "label": one.label,
    },
    "pairs": lambda one, *_: {
        **_ids(one),
        "text_1": one.text,
        "text_2": one.text_pair,
        "label": f"{one.score:g}",
    },
    "text": _text,
}
