"""Types and settings shared by all recipes."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, dataclass_transform

from pydantic import ConfigDict, Field

from pubmill.storage import name_patterns as names

Precision = Literal["auto", "float32", "bfloat16", "float16"]
Kind = Literal["tokens", "sequence", "multilabel", "regression", "span", "relations", "mentions"]
"""Kinds of examples (`pubmill.examples.kinds`)."""
Name = Annotated[str, Field(pattern=f"^{names.SPEC}$")]
"""Name of a spec."""
Size = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(gt=0)]
PositiveFloat = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
LocalKey = Annotated[str, Field(pattern=f"^{names.KEY}$")]
"""Key of a folder in `local_files`."""


FORBID_UNKNOWN: ConfigDict = {"extra": "forbid"}


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class StrictRecipe:
    """Base of all recipes: a subclass is a frozen dataclass with keyword arguments, and pydantic refuses
    unknown keys."""

    __pydantic_config__: ClassVar[ConfigDict] = FORBID_UNKNOWN

    def __init_subclass__(cls) -> None:
        """Make the subclass a dataclass."""
        dataclass(frozen=True, kw_only=True)(cls)
