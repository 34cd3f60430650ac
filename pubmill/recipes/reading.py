"""Parse recipes from JSON and report every unknown, missing or wrong key."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pubmill.errors import PubmillError
from pubmill.storage.strict_parsing import unique_keys

Recipe = TypeVar("Recipe")

STORED = ".recipes"
"""The folder of recipes that are too long for a command; their names are digests of their content."""
WORDS: dict[Any, str] = {
    str: "text", int: "an integer", float: "a number", bool: "true or false", NoneType: "null",
    list: "a list", tuple: "a list", dict: "an object",
}  # fmt: skip
"""Types as error messages name them."""


def read(
    recipe: type[Recipe], argument: str, chosen: dict[str, Any] | None = None, option: str = "--recipe"
) -> Recipe:
    """Read the argument of an option of a program: JSON text, or the path of a JSON file. `chosen` holds
    values that were decided elsewhere (by a search) and override the recipe's."""
    text, where = argument, option
    if not argument.lstrip().startswith("{"):
        text, where = _read_text(Path(argument), option), argument
    values = _parse_json(text, where)
    return build(recipe, values | (chosen or {}) if isinstance(values, dict) else values, where)


def build(recipe: type[Recipe], values: Any, where: str) -> Recipe:
    """Build a recipe from parsed JSON; a `PubmillError` names `where` and every wrong key."""
    faults: list[str] = []
    made = _build_dataclass(recipe, values, "", faults)
    if made is None:
        raise PubmillError("\n  ".join([f"{where}: not a valid {recipe.__name__}:", *faults]))
    return made


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value read from JSON has the declared type, which contains no dataclass or tuple."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return any(value == known and type(value) is type(known) for known in arguments)
    if origin in (Union, UnionType):
        return any(fits(value, argument) for argument in arguments)
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    if origin is list:
        return isinstance(value, list) and all(fits(item, arguments[0]) for item in value)
    return hint is Any or isinstance(value, origin or hint)


def _read_text(path: Path, option: str) -> str:
    try:
        content = path.read_bytes()
        if path.parent.name == STORED and hashlib.sha256(content).hexdigest()[:16] != path.stem:
            raise PubmillError(
                f"{option}: {path} has changed since its run wrote it: its name is not the beginning of its "
                "SHA-256. Delete it and run the same command again, which writes it anew"
            )
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PubmillError(f"{option}: {path} cannot be read: {error}") from None
    except (OSError, ValueError):  # ValueError: a null character
        shown = repr(str(path))[:200]
        raise PubmillError(f"{option}: {shown} is neither JSON text nor a readable JSON file") from None


def _parse_json(text: str, where: str) -> Any:
    """Parse strict JSON: no key twice, no NaN or infinity."""
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise PubmillError(f"{where}: not valid JSON: {error.msg} at line {error.lineno}") from None
    except (ValueError, RecursionError) as error:  # a number too long, or a refusal below
        raise PubmillError(f"{where}: not valid JSON: {error}") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


@cache
def _type_hints(recipe: Any) -> dict[str, Any]:
    return get_type_hints(recipe)


def _build_dataclass(recipe: type[Recipe], values: Any, place: str, faults: list[str]) -> Recipe | None:
    """Build a dataclass from a JSON object; add faults and return None if a key is wrong."""
    if not is_dataclass(recipe):
        raise TypeError(f"{recipe} is not a recipe")
    if not isinstance(values, dict):
        faults.append(f"{place or 'the file'}: expected an object, found {values!r:.100}")
        return None
    before = len(faults)
    known = {one.name: one for one in fields(recipe) if one.init}
    for name in sorted(values.keys() - known.keys()):
        expected = ", ".join(known)
        faults.append(f"{_key_path(place, name)}: unknown key; {recipe.__name__} has the keys {expected}")
    for name, one in known.items():
        if name not in values and one.default is MISSING and one.default_factory is MISSING:
            faults.append(f"{_key_path(place, name)}: missing")
    hints = _type_hints(recipe)
    made = {
        name: _build_value(value, hints[name], _key_path(place, name), faults)
        for name, value in values.items()
        if name in known
    }
    if len(faults) > before:
        return None
    try:
        return recipe(**made)
    except ValueError as error:
        faults.append(f"{place}: {error}" if place else str(error))
        return None


def _build_value(value: Any, hint: Any, place: str, faults: list[str]) -> Any:
    """Return a JSON value as its declared type: objects as dataclasses, lists as lists or tuples."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return _build_dataclass(hint, value, place, faults)
    if origin in (Union, UnionType):
        return _first_fitting(value, arguments, place, faults)
    if origin is dict and isinstance(value, dict) and all(fits(key, arguments[0]) for key in value):
        of = arguments[1]
        return {key: _build_value(one, of, _key_path(place, key), faults) for key, one in value.items()}
    if origin in (list, tuple) and isinstance(value, list):
        same = origin is list or arguments[-1] is Ellipsis
        expected = arguments[:1] * len(value) if same else arguments
        if len(expected) == len(value):
            pairs = enumerate(zip(value, expected, strict=True))
            return origin(_build_value(item, of, _key_path(place, i), faults) for i, (item, of) in pairs)
    elif origin is not dict and fits(value, hint):
        return value
    faults.append(f"{place}: expected {_type_text(hint)}, found {value!r:.100}")
    return None


def _first_fitting(value: Any, hints: tuple[Any, ...], place: str, faults: list[str]) -> Any:
    """Return a value as the first of several types that it fits. Among several dataclasses, an object is read
    as the one whose constant keys (its `kind`) agree."""
    objects = [hint for hint in hints if is_dataclass(hint) and isinstance(hint, type)]
    if isinstance(value, dict) and objects:
        fitting = [hint for hint in objects if len(objects) == 1 or _constants_agree(value, hint)]
        if len(fitting) == 1:
            return _build_dataclass(fitting[0], value, place, faults)
        faults.append(f"{place}: is not one of {', '.join(hint.__name__ for hint in objects)}")
        return None
    if value is None and NoneType in hints:
        return None
    others = [hint for hint in hints if hint not in objects and hint is not NoneType]
    form = (list, tuple) if isinstance(value, list) else (type(value),)
    alike = [hint for hint in others if get_origin(hint) in form]
    if len(alike) == 1:
        return _build_value(value, alike[0], place, faults)
    if any(get_origin(hint) not in (list, tuple, dict) and fits(value, hint) for hint in others):
        return value
    faults.append(f"{place}: expected {' or '.join(map(_type_text, hints))}, found {value!r:.100}")
    return None


def _constants_agree(values: Mapping[str, object], recipe: Any) -> bool:
    """Return whether an object has the values of a dataclass's constant fields, such as `kind`."""
    constants = {
        name: hint
        for name, hint in _type_hints(recipe).items()
        if get_origin(hint) is Literal and len(get_args(hint)) == 1
    }
    return all(name in values and fits(values[name], hint) for name, hint in constants.items())


def _key_path(place: str, key: object) -> str:
    return f"{place}.{key}" if place else str(key)


def _type_text(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if origin in (Union, UnionType):
        return " or ".join(map(_type_text, get_args(hint)))
    if origin is tuple and get_args(hint)[-1] is not Ellipsis:
        return f"a list of {len(get_args(hint))}"
    return WORDS.get(origin or hint, "an object")
