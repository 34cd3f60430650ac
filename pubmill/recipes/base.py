"""Types and settings shared by all recipes."""

from typing import Literal

Precision = Literal["auto", "float32", "bfloat16"]
Kind = Literal["tokens", "sequence", "multilabel", "regression", "span"]
"""Kinds of examples (`pubmill.annotation.examples`)."""

FORBID_UNKNOWN = {"extra": "forbid"}  # read by pydantic when a spec embeds a recipe

OMIT_DEFAULT = {"omit_default": True}
"""Metadata of a field that is not written while it has its default, so that adding the field changes no
recipe that exists already."""
