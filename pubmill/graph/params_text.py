"""Text of recipes and of arguments in the params of rules."""

import json
from typing import Any


def as_json(recipe: Any) -> str:
    """Return a recipe as JSON text; equal recipes give equal text."""
    return json.dumps(recipe, sort_keys=True)


def as_arguments(inputs: dict[str, str]) -> list[str]:
    """Return named inputs as a program's arguments."""
    return [word for name, path in inputs.items() for word in (f"--{name}", path)]
