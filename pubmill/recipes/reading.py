"""Read recipes from JSON, with every fault named, and write them."""

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from pubmill.errors import PubmillError
from pubmill.recipes.problems import dotted_key, problem_text
from pubmill.storage.files import writing
from pubmill.storage.strict_parsing import unique_keys

Recipe = TypeVar("Recipe")
STORED = ".recipes"
"""The folder of recipes that are too long for a command; their names are digests of their content."""
LONG = 4_000
"""Characters from which a recipe is read from a file: the system refuses arguments of 131,072 bytes."""


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
    try:
        kind: Any = recipe
        made: Recipe = _adapter(kind).validate_json(to_json(values), strict=True)
    except ValidationError as error:
        faults = dict.fromkeys(_fault(one, recipe) for one in error.errors())
        raise PubmillError("\n  ".join([f"{where}: not a valid {recipe.__name__}:", *faults])) from None
    except PydanticSerializationError:
        raise PubmillError(
            f"{where}: a text holds half of a surrogate pair (as `\\ud83d` alone in JSON), which is not a "
            "character; correct it"
        ) from None
    return made


def _fault(problem: Any, recipe: Any) -> str:
    steps = [step for step in problem["loc"] if "[" not in str(step)]  # pydantic's names of union members
    place = f"{dotted_key(tuple(steps))}: " if steps else ""
    if problem["type"] == "value_error":  # of the recipe's own, which names the key
        return f"{place}{problem['ctx']['error']}"
    return f"{place}{problem_text(problem, recipe)}"


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def as_json(recipe: Any) -> str:
    """Return a recipe as JSON text with sorted keys; equal recipes give equal text. `recipe` may also be a
    list or dict of recipes."""
    return json.dumps(to_jsonable_python(recipe), sort_keys=True, allow_nan=False)


class StoredRecipe(str):
    """Recipe text that a command reads from a file, which the run writes before its first job. Snakemake
    compares and stores the text; in a command, the text is formatted as the file's path."""

    path: Path

    def __new__(cls, text: str, folder: Path) -> "StoredRecipe":
        """Add the path, named by the text's digest."""
        made = super().__new__(cls, text)
        made.path = folder / f"{_digest(text.encode())}.json"
        return made

    def __format__(self, form: str) -> str:
        """Return the path."""
        return str(self.path)

    def write(self) -> None:
        """Write the file if it is not there or has changed."""
        if not self.path.is_file() or self.path.read_bytes() != self.encode():
            with writing(self.path) as temporary:
                temporary.write_text(self, encoding="utf-8")


def as_argument(recipe: object, folder: Path) -> str:
    """Return a recipe as a program's argument: its JSON text, or from `LONG` characters on a `StoredRecipe`
    in a folder."""
    text = as_json(recipe)
    return text if len(text) < LONG else StoredRecipe(text, folder)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def as_values(recipe: Any) -> Any:
    """Return a recipe as parsed JSON, with sorted keys."""
    return json.loads(as_json(recipe))


def _read_text(path: Path, option: str) -> str:
    try:
        content = path.read_bytes()
        if path.parent.name == STORED and _digest(content) != path.stem:
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
