"""Readers of JSON files, which validate them against a model.

Messages name positions and keys (`show`), never a value. A repeated key in an object is an error: JSON
readers would silently use its last value.
"""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pubmill.errors import PubmillError
from pubmill.formats.json_text import parse_row
from pubmill.formats.text_files import read_text
from pubmill.storage.archives import decode


class JsonModel(BaseModel):
    """Base class for parts of a file: required keys. Other keys are allowed, but values are not converted."""

    model_config = ConfigDict(strict=True, frozen=True)


Of = TypeVar("Of", bound=JsonModel)


def read(form: type[Of], path: Path) -> Of:
    """Read a file, gzipped or not; a `PubmillError` names the first position that does not match."""
    return parse(form, read_text(path), str(path))


def read_object(path: Path) -> dict[str, Any]:
    """Read a file, gzipped or not, that contains one object of any form."""
    return parse_row(read_text(path), str(path))


def parse(form: type[Of], content: str | bytes, where: str) -> Of:
    """Parse JSON text into the model. Messages name a position (`data.0.title`), never its content."""
    try:
        parsed = form.model_validate_json(content)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))  # the model's own names, and numbers
        raise PubmillError(
            f"{where}: {f'{place}: ' if place else ''}{problem['msg']}; is this the original file?"
        ) from None
    parse_object(content, where)  # for repeated keys, which pydantic does not detect
    return parsed


def parse_object(content: str | bytes, where: str) -> dict[str, Any]:
    """Parse JSON text that is an object of any form."""
    return parse_row(content if isinstance(content, str) else decode(content, where), where)
