"""Readers of JSON files, which validate them against a model.

Messages name positions and keys (`show`), never a value. A repeated key in an object is an error: JSON
readers would silently use its last value.
"""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pubmill.convert.source_files import show
from pubmill.errors import PubmillError
from pubmill.storage.archives import LARGEST_MEMBER, decode
from pubmill.storage.strict_parsing import RepeatedKeyError, unique_keys

_GZIP = b"\x1f\x8b"


class JsonModel(BaseModel):
    """Base class for parts of a file: required keys. Other keys are allowed, but values are not converted."""

    model_config = ConfigDict(strict=True, frozen=True)


Of = TypeVar("Of", bound=JsonModel)


def read(form: type[Of], path: Path) -> Of:
    """Read a file, gzipped or not; a `PubmillError` names the first position that does not match."""
    return parse(form, _read_content(path), str(path))


def read_object(path: Path) -> dict[str, Any]:
    """Read a file, gzipped or not, that contains one object of any form."""
    return parse_object(_read_content(path), str(path))


def _read_content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            with gzip.open(path) as packed:
                content = packed.read(LARGEST_MEMBER + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise PubmillError(f"{path}: not a complete gzip file: {error}; fetch it again") from None
    if len(content) > LARGEST_MEMBER:
        raise PubmillError(
            f"{path}: more than {LARGEST_MEMBER:,} bytes; files of known datasets are far smaller"
        )
    return content


def parse(form: type[Of], content: bytes, where: str) -> Of:
    """Parse JSON text into the model. Messages name a position (`data.0.title`), never its content."""
    try:
        found = form.model_validate_json(content)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))  # the model's own names, and numbers
        raise PubmillError(
            f"{where}: {f'{place}: ' if place else ''}{problem['msg']}; is this the original file?"
        ) from None
    parse_object(content, where)  # for repeated keys, which pydantic does not detect
    return found


def parse_object(content: bytes, where: str) -> dict[str, Any]:
    """Parse JSON text that is an object of any form."""
    try:
        found = json.loads(decode(content, where), object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        # The decoder's message contains a position and what was expected there, never what was found.
        raise PubmillError(
            f"{where}: not valid JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from None
    except RepeatedKeyError as error:
        raise PubmillError(f"{where}: the key {show(error.key)} occurs twice in one object") from None
    except (RecursionError, ValueError):
        raise PubmillError(f"{where}: nested too deeply, or a number too long, to be read") from None
    if not isinstance(found, dict):
        raise PubmillError(f"{where}: expected an object in JSON, found {type(found).__name__}")
    return found
