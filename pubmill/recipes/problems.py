"""What pydantic found wrong, in the words of YAML and JSON."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from datetime import date
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel

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


def nearest_keys(model: Any, place: tuple[int | str, ...]) -> list[str]:
    """Return the known keys beside an unknown one, the most similar first. `model`: the type of the whole
    spec; `place`: pydantic's location of the unknown key."""
    *above, key = place
    hints = [model]
    for step in above:
        hints = [below for hint in hints for below in _below(hint, step)]
    known = {name for hint in hints for member in _members(hint) for name in _fields(member)}
    return nearest(str(key), known)[:SHOWN]


def _members(hint: Any) -> Iterator[Any]:
    """Yield the types that a hint allows: the members of a union, without metadata and type aliases."""
    value = getattr(hint, "__value__", hint)  # of a type alias
    if get_origin(value) is Annotated:
        yield from _members(get_args(value)[0])
    elif get_origin(value) in (tuple, list, dict) or not get_args(value):
        yield value
    else:
        for member in get_args(value):
            yield from _members(member)


def _below(hint: Any, step: int | str) -> Iterator[Any]:
    """Yield the types of the value at a step of a location, a key or an index. Pydantic's own steps, such as
    the name of a union's member, leave the type unchanged."""
    for member in _members(hint):
        arguments = get_args(member)
        if get_origin(member) in (tuple, list, dict):
            yield arguments[-1] if get_origin(member) is dict else arguments[0]
        elif fields := _fields(member):
            yield fields.get(str(step), member)


def _fields(kind: Any) -> dict[str, Any]:
    """Return field -> type of a model or dataclass; {} for other types."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {}
