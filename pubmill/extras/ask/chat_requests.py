"""Chat requests for the examples of a dataset: its prompt, after worked examples of its training split.
Answers may be asked for as JSON of a schema, for servers that enforce one (`response_format`)."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.examples.kinds import Example
from pubmill.examples.prompts import Wording, prompt_of, right_answer
from pubmill.examples.tagging import Mention, to_mentions
from pubmill.extras.ask.ask_recipes import Asking

TEXT = {"type": "string"}


def requests_for(
    examples: Sequence[Example], train: Sequence[Example], wording: Wording, asking: Asking, schema: Any
) -> dict[str, dict[str, Any]]:
    """Return id -> chat request for some examples; all have the same worked examples. `schema`: that of the
    answers, if they are asked for as JSON."""
    if asking.shots > len(train):
        raise PubmillError(f"--shots {asking.shots}: the training split has {len(train)} examples")
    shots = random.Random(asking.seed).sample(list(train), asking.shots)
    typed, schema = bool(wording.words["types"]), schema if asking.structured else None
    before = []
    for shot in shots:
        answer = right_json(shot, typed) if schema else right_answer(shot, typed)
        before += [_question(shot, wording, schema), {"role": "assistant", "content": answer}]
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    settings = {
        "temperature": asking.temperature,
        "seed": asking.seed,
        "max_tokens": asking.length,
        **({"response_format": form} if schema else {}),
        **({"logprobs": True} if asking.logprobs else {}),
    }
    return {
        one.id: {"model": asking.model, "messages": [*before, _question(one, wording, schema)], **settings}
        for one in examples
    }


def _question(example: Any, wording: Wording, schema: Any) -> dict[str, str]:
    """Return the message with an example's prompt, and the schema, since a server shows its model none."""
    asked = f"\n\nAnswer with JSON of this schema: {json.dumps(schema)}" if schema else ""
    return {"role": "user", "content": f"{prompt_of(example, wording)}{asked}"}


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


def right_json(example: Example, typed: bool) -> str:
    """Return the answer that an example's gold asks for; `typed`: with the type of each mention."""
    value: Mapping[str, object]
    match example:
        case kinds.TokensExample():
            value = _named_mentions(example.words, to_mentions(example.labels), typed)
        case kinds.MentionsExample():
            value = _named_mentions(example.words, example.spans, typed)
        case kinds.RelationsExample():
            value = {"relations": [f"{label}: {a} | {b}" for a, b, label, *_ in example.relations]}
        case kinds.SequenceExample():
            value = {"label": example.label}
        case kinds.MultilabelExample():
            value = {"labels": list(example.labels)}
        case kinds.RegressionExample():
            value = {"score": example.score}
        case kinds.SpanExample():
            value = {"answers": [answer.text for answer in example.answers]}
        case _:
            raise AssertionError(type(example))
    return json.dumps(value, ensure_ascii=False)


def _named_mentions(words: Sequence[str], mentions: Sequence[Mention], typed: bool) -> dict[str, object]:
    named = [
        {"text": " ".join(words[start:end])} | ({"type": kind} if typed else {})
        for start, end, kind in mentions
    ]
    return {"mentions": named}
