"""Answers of language models as JSON of a schema, for servers that enforce one (`response_format`)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pubmill.examples.kinds import (
    Example,
    MentionsExample,
    MultilabelExample,
    RegressionExample,
    RelationsExample,
    SequenceExample,
    SpanExample,
    TokensExample,
)
from pubmill.examples.tagging import Mention, to_mentions

TEXT = {"type": "string"}


def schema_of(kind: str, labels: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of the answers for a kind of dataset; `labels`: types for mentions."""
    named = {"enum": [label for label in labels if label]}
    mention = {"text": TEXT, "type": named} if len(labels) > 1 else {"text": TEXT}
    keys: dict[str, dict[str, Any]] = {
        "tokens": {"mentions": {"type": "array", "items": _object(mention)}},
        "sequence": {"label": named},
        "multilabel": {"labels": {"type": "array", "items": named}},
        "regression": {"score": {"type": "number"}},
        "span": {"answers": {"type": "array", "items": TEXT}},
        "relations": {"relations": {"type": "array", "items": TEXT}},
        "mentions": {"mentions": {"type": "array", "items": _object(mention)}},
    }
    return _object(keys[kind])


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a request that asks a server to enforce a schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def asked_as_json(prompt: str, schema: dict[str, Any]) -> str:
    """Return a prompt that also asks for JSON, since a server shows its model no schema."""
    return f"{prompt}\n\nAnswer with JSON of this schema: {json.dumps(schema)}"


def right_json(example: Example, typed: bool) -> str:
    """Return the answer that an example's gold asks for; `typed`: with the type of each mention."""
    return json.dumps(_right_value(example, typed), ensure_ascii=False)


def _right_value(example: Example, typed: bool) -> Mapping[str, object]:
    match example:
        case TokensExample():
            return _named_mentions(example.words, to_mentions(example.labels), typed)
        case MentionsExample():
            return _named_mentions(example.words, example.spans, typed)
        case RelationsExample():
            return {"relations": [f"{label}: {a} | {b}" for a, b, label, *_ in example.relations]}
        case SequenceExample():
            return {"label": example.label}
        case MultilabelExample():
            return {"labels": list(example.labels)}
        case RegressionExample():
            return {"score": example.score}
        case SpanExample():
            return {"answers": [answer.text for answer in example.answers]}
    raise AssertionError(type(example))


def _named_mentions(
    words: Sequence[str], mentions: Sequence[Mention], typed: bool
) -> dict[str, list[dict[str, str]]]:
    named = [
        {"text": " ".join(words[start:end])} | ({"type": kind} if typed else {})
        for start, end, kind in mentions
    ]
    return {"mentions": named}
