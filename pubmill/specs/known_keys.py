"""The keys that a spec may have at a location, to suggest one for a misspelt key."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from pubmill.messages.wording import nearest

SHOWN = 3


def nearest_keys(model: Any, place: tuple[int | str, ...]) -> list[str]:
    """Return the known keys beside an unknown one, the most similar first.

    `model`: the type of the whole spec; `place`: pydantic's location of the unknown key.
    """
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
    """Yield the types of what a step leads to. Pydantic's own steps, such as the name of a union's member,
    lead nowhere."""
    for member in _members(hint):
        arguments = get_args(member)
        if get_origin(member) in (tuple, list, dict):
            yield arguments[-1] if get_origin(member) is dict else arguments[0]
        elif fields := _fields(member):
            yield fields.get(str(step), member)


def _fields(kind: Any) -> dict[str, Any]:
    """Return the fields of a model or dataclass with their types; of other types nothing."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {}
