"""Write recipes as JSON text."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from pubmill.recipes.recipe_types import OMIT_DEFAULT, PartialRecipe


def as_json(recipe: Any) -> str:
    """Return a recipe as JSON text with sorted keys; equal recipes give equal text. `recipe` may also be a
    list or dict of recipes. Fields with `OMIT_DEFAULT` are left out if they have their default."""
    return json.dumps(recipe, sort_keys=True, allow_nan=False, default=_json_fields)


def later_defaults(recipe: type[Any]) -> dict[str, Any]:
    """Return the values of a recipe's fields with `OMIT_DEFAULT`, which `as_values` leaves out."""
    return {one.name: _default(one) for one in fields(recipe) if OMIT_DEFAULT.items() <= one.metadata.items()}


def _json_fields(recipe: Any) -> Mapping[str, Any]:
    """Return the keys and values of a recipe, to be written as a JSON object."""
    if isinstance(recipe, PartialRecipe):
        return dict(recipe.values)
    if not is_dataclass(recipe) or isinstance(recipe, type):
        raise TypeError(f"{type(recipe).__name__} is not part of a recipe")
    values = ((field, getattr(recipe, field.name)) for field in fields(recipe))
    return {
        field.name: value
        for field, value in values
        if not (OMIT_DEFAULT.items() <= field.metadata.items() and value == _default(field))
    }


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def as_values(recipe: Any) -> Any:
    """Return a recipe as parsed JSON, with sorted keys."""
    return json.loads(as_json(recipe))
