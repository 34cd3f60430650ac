"""Types and settings shared by all recipes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

Precision = Literal["auto", "float32", "bfloat16", "float16"]
Kind = Literal["tokens", "sequence", "multilabel", "regression", "span", "relations", "mentions"]
"""Kinds of examples (`pubmill.examples.kinds`)."""

FORBID_UNKNOWN = {"extra": "forbid"}
OMIT_DEFAULT = {"omit_default": True}
"""Metadata of a field that is not written while it has its default, so that adding the field changes no
recipe that exists already."""


class StrictRecipe:
    """A recipe that specs embed: pydantic refuses unknown keys."""

    __pydantic_config__ = FORBID_UNKNOWN


@dataclass(frozen=True)
class PartialRecipe:
    """Values of some keys of a recipe; others have their default, or are decided by a search."""

    recipe: type[Any]
    values: Mapping[str, Any]

    def __post_init__(self) -> None:
        unknown = sorted(self.values.keys() - {one.name for one in fields(self.recipe)})
        if unknown:
            raise ValueError(f"{self.recipe.__name__} has no keys {', '.join(unknown)}")
