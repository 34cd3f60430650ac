"""What pydantic found wrong, in the words of YAML and JSON."""

from datetime import date
from typing import Any

from pydantic import TypeAdapter

from pubmill.messages.wording import nearest
from pubmill.storage import name_patterns as names


def dotted_key(place: tuple[int | str, ...]) -> str:
    """Return a location in a spec as a dotted key, or "the file" for its root."""
    return ".".join(map(str, place)) or "the file"


TYPE_WORDS = {
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "string_type": "expected text",
    "dict_type": "expected keys with values",
    "model_type": "expected keys with values",
    "dataclass_type": "expected keys with values",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "union_tag_not_found": "the key `kind:` is missing",
}
"""Pydantic's errors about types that YAML calls otherwise -> their messages."""


def problem_text(problem: Any, model: Any = None) -> str:
    """Return one of pydantic's errors as a message that includes the value found. `model`: the type of the
    whole spec; without it, no key is suggested for an unknown one."""
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        near = ", ".join(nearest_keys(model, tuple(problem["loc"])))
        return f"unknown key; {f'the nearest: {near}' if near else 'check its spelling, or remove it'}"
    if problem["type"] == "missing":
        return "this key is required and missing"
    if problem["type"] == "string_pattern_mismatch":
        pattern = problem["ctx"]["pattern"].removeprefix("^").removesuffix("$")
        if pattern in names.WORDS:
            return f"expected {names.WORDS[pattern]} (found {problem['input']!r:.120})"
    if problem["type"] == "string_type" and isinstance(problem["input"], int | float | date):
        return f"expected text (found {problem['input']!r:.120}); put it in quotes"
    message = TYPE_WORDS.get(problem["type"]) or problem["msg"].removeprefix("Value error, ").replace(
        "Input should be", "expected"
    )
    return f"{message} (found {problem['input']!r:.120})"


SHOWN = 3
Schema = dict[str, Any]
"""A JSON Schema."""


def nearest_keys(model: Any, place: tuple[int | str, ...]) -> list[str]:
    """Return the known keys beside an unknown one, the most similar first. `model`: the type of the whole
    spec; `place`: pydantic's location of the unknown key."""
    *above, key = place
    whole = TypeAdapter(model).json_schema()
    beside = _members(whole, whole)
    for step in above:
        inner = [below for one in beside for below in _inner(one, step)]
        beside = [member for one in inner for member in _members(one, whole)]
    named = [{*one.get("properties", ()), *one.get("propertyNames", {}).get("enum", ())} for one in beside]
    return nearest(str(key), set[str]().union(*named))[:SHOWN]


def _members(schema: Schema, whole: Schema) -> list[Schema]:
    """Return the schemas that a schema stands for: those of a union, or the one that it refers to."""
    if "$ref" in schema:
        return _members(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    union = schema.get("anyOf") or schema.get("oneOf")
    return [member for one in union for member in _members(one, whole)] if union else [schema]


def _inner(schema: Schema, step: int | str) -> list[Schema]:
    """Return the schemas of the value at a step of a location, a key or an index. Pydantic's own steps, such
    as the name of a union's member, leave the schema unchanged."""
    values = [schema.get("items"), schema.get("additionalProperties")]
    values += schema.get("patternProperties", {}).values()
    of_all = [one for one in values if isinstance(one, dict)]
    return of_all or [schema.get("properties", {}).get(str(step), schema)]
