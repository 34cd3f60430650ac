"""Answers of language models: reasoning, code fences, JSON and bullets in free strings are read by rules,
which are counted; tokens and cut answers, as servers count them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.formats.json_text import parse_json, parse_row
from pubmill.metrics.records import ASKED_TOKENS

RULES = {
    "reasoning": "begin with reasoning (<think>), which is left out",
    "fence": "have one code fence, of which the content is read",
    "json": "are JSON",
    "bullets": "have bullets or numbers before their lines, which are left out",
    "text": "name mentions by their text, of which every occurrence counts",
    "places": "name a text that occurs several times in the input, of which each counts",
    "cut": "were cut off at the limit of their length",
    "scores": "are read from scores of labels; gold labels beside them are not read",
}
"""Rule -> predicate about the answers to which it applies, as in "3 of 10 answers are JSON"."""
NAMES = ("text", "mention", "entity", "name", "span", "answer", "label", "prediction", "output", "score")
"""Keys of a JSON object that hold an answer; the first that it has."""
TYPES = ("type", "label", "category", "entity_type", "entity_group")
"""Keys of a JSON object that hold the type of a mention."""
LISTS = ("mentions", "entities", "labels", "answers", "predictions")
"""Keys of a JSON object that hold several answers, if it has no other key."""
_REASONING = re.compile(r"\s*<think(ing)?>.*?</think(ing)?>", re.DOTALL)
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_AROUND = re.compile(r"^[\s\"'`*(\[]+|[\s\"'`*.,;:!)\]]+$")
_BULLET = re.compile(r"\s*([-*•]|\d{1,3}[.)])\s+")


class FreeItem(NamedTuple):
    """One of the answers in a free string, and the type that JSON gives it."""

    text: str
    type: str | None = None


class FreeAnswer(NamedTuple):
    """The answers in a free string, and the rules by which they were read."""

    items: list[FreeItem]
    rules: list[str]

    def text(self) -> str:
        return "\n".join(item.text for item in self.items)


def read_answer(answer: str, source: str) -> FreeAnswer:
    """Return the answers in a free string; text that also occurs in the example's `source` stays as it is."""
    text, rules = answer.strip(), []
    if text in source:
        return FreeAnswer([FreeItem(text)] if text else [], [])
    if thought := _REASONING.match(text):
        text = text[thought.end() :].strip()
        rules.append("reasoning")
    if len(fences := _FENCE.findall(text)) == 1:
        text = fences[0].strip()
        rules.append("fence")
    items = _json_items(text)
    if items is not None:
        return FreeAnswer(items, [*rules, "json"])
    lines = [line for line in text.split("\n") if line.strip()]
    bare = [line if line.strip() in source else _BULLET.sub("", line, count=1) for line in lines]
    return FreeAnswer(
        [FreeItem(line.strip()) for line in bare], [*rules, *(["bullets"] if bare != lines else [])]
    )


def _json_items(text: str) -> list[FreeItem] | None:
    """Return the answers in JSON; None if it is none, or of another form."""
    if not text.startswith(("[", "{")):
        return None
    try:
        return list(_items(parse_json(text, "answer", numbers_only=True)))
    except PubmillError:
        return None


def _items(value: Any) -> Iterable[FreeItem]:
    """Yield the answers in a JSON value; a `PubmillError` if it has another form."""
    if isinstance(value, dict) and len(value) == 1 and set(value) <= set(LISTS):
        [value] = value.values()
    if isinstance(value, list):
        for one in value:
            yield _item(one)
    elif isinstance(value, dict) and value and _is_marked(value):  # {label: 0 or 1}
        yield from (FreeItem(label) for label, mark in value.items() if int(mark))
    elif isinstance(value, dict) and value and all(isinstance(one, list) for one in value.values()):
        for kind, texts in value.items():  # {type: [mention, ...]}
            yield from (_item(text)._replace(type=kind) for text in texts)
    else:
        yield _item(value)


def _is_marked(value: Mapping[str, object]) -> bool:
    """Return whether a JSON object has 0 or 1 for each of several labels."""
    marks = all(mark in (0, 1, "0", "1") for mark in value.values())
    return marks and not set(value) & {*NAMES, *TYPES}


def _item(value: Any) -> FreeItem:
    if isinstance(value, dict):
        name = next((key for key in NAMES if key in value), None)
        kind = next((value[key] for key in TYPES if key in value and key != name), None)
        if name and (kind is None or isinstance(kind, str)):
            return _item(value[name])._replace(type=kind)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        return FreeItem(str(value).strip())
    raise PubmillError("another form of JSON")


def plain_answer(text: str) -> str:
    """Return a free string as mappings compare it: without case, quotes and marks around it."""
    return " ".join(_AROUND.sub("", _AROUND.sub("", text)).casefold().split())


def tokens_of(body: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens of a request and of its answer, as the server counts them; 0 if it does not."""
    usage = body.get("usage") or {}
    return usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0


def asked_counts(path: Path) -> dict[str, int]:
    """Return `counts_of` the answers in a file, a JSON line for each."""
    lines = enumerate(path.read_text(encoding="ascii").splitlines(), 1)
    return counts_of([parse_row(line, f"{path}:{number}")["response"]["body"] for number, line in lines])


def counts_of(bodies: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the tokens of answers, read and written, and how many of them were cut off."""
    return {
        **{name: sum(tokens_of(body)[part] for body in bodies) for part, name in enumerate(ASKED_TOKENS)},
        "cut_answers": sum(body["choices"][0].get("finish_reason") == "length" for body in bodies),
    }
