"""Parse recipes from JSON and report every unknown, missing or wrong key."""

import json
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pubmill.errors import PubmillError

Recipe = TypeVar("Recipe")


def build(recipe: type[Recipe], values: dict[str, Any], where: str) -> Recipe:
    """Build a recipe from parsed JSON; errors name `where` and the unknown, missing or wrong keys."""
    if not is_dataclass(recipe):
        raise TypeError(f"{recipe} is not a recipe")
    hints = get_type_hints(recipe)
    known = {one.name: one for one in fields(recipe)}
    unknown = sorted(values.keys() - known.keys())
    needed = {
        name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING
    }
    missing = sorted(needed - values.keys())
    if unknown or missing:
        raise PubmillError(
            f"{where}: {recipe.__name__} has unknown keys {unknown} and lacks {missing}; "
            f"its keys are {sorted(known)}"
        )
    made = {}
    for name, value in values.items():
        hint = hints[name]
        nested = next((kind for kind in (hint, *get_args(hint)) if is_dataclass(kind)), None)
        if isinstance(nested, type) and isinstance(value, dict):
            made[name] = build(nested, value, f"{where}.{name}")
        elif fits(value, hint):
            made[name] = value
        else:
            raise PubmillError(f"{where}: {name} must be {_type_name(hint)}, found {value!r}")
    try:
        return recipe(**made)
    except ValueError as error:
        raise PubmillError(f"{where}: {error}") from None


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value read from JSON has the type that a recipe's field declares."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in arguments
    if origin in (Union, UnionType):
        return any(fits(value, argument) for argument in arguments)
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    if origin is list:
        return isinstance(value, list) and all(fits(item, arguments[0]) for item in value)
    return hint is Any or isinstance(value, origin or hint)


def _type_name(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    return getattr(hint, "__name__", str(hint))


def read(recipe: type[Recipe], argument: str, chosen: dict[str, Any] | None = None) -> Recipe:
    """Read the `--recipe` argument of a program: JSON text, or the path of a JSON file.

    `chosen` holds values that were decided elsewhere (by a search) and override the recipe's.
    """
    text, where = argument, "--recipe"
    if not argument.lstrip().startswith("{"):
        path = Path(argument)
        if not path.is_file():
            raise PubmillError(f"--recipe: {argument} is neither JSON text nor an existing JSON file")
        text, where = path.read_text(), str(path)
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise PubmillError(f"{where}: not valid JSON: {error.msg} at line {error.lineno}") from None
    return build(recipe, {**values, **(chosen or {})}, where)
