"""Types and settings shared by all recipes."""

from typing import Literal

Precision = Literal["auto", "float32", "bfloat16"]

FORBID_UNKNOWN = {"extra": "forbid"}  # read by pydantic when a spec embeds a recipe
