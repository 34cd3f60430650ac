"""JSON files of a known form, checked against it before anything is made of them.

Messages name places and keys (`show`), never a value. A key that stands twice in an object is an error:
JSON's readers would take the last of them and drop the other without a word.
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

_GZIP = b"\x1f\x8b"


class Form(BaseModel):
    """A part of a file: the keys that are needed. Others are allowed, but no value is made to fit."""

    model_config = ConfigDict(strict=True, frozen=True)


Of = TypeVar("Of", bound=Form)


def read(form: type[Of], path: Path) -> Of:
    """Read a file, gzipped or not, of the form; a `PubmillError` tells the first place that differs."""
    return parse(form, _content(path), str(path))


def read_object(path: Path) -> dict[str, Any]:
    """Read a file, gzipped or not, that holds one object of any form."""
    return parse_object(_content(path), str(path))


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            with gzip.open(path) as packed:
                content = packed.read(LARGEST_MEMBER + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise PubmillError(f"{path}: not a whole gzip file: {error}; fetch it again") from None
    if len(content) > LARGEST_MEMBER:
        raise PubmillError(
            f"{path}: more than {LARGEST_MEMBER:,} bytes; no file of a known dataset comes near"
        )
    return content


def parse(form: type[Of], content: bytes, where: str) -> Of:
    """Read JSON text of the form. Messages name a place (`data.0.title`), never what stands there."""
    try:
        found = form.model_validate_json(content)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))  # the form's own names, and numbers
        raise PubmillError(
            f"{where}: {f'{place}: ' if place else ''}{problem['msg']}; is this the original file?"
        ) from None
    parse_object(content, where)  # for keys that stand twice, which pydantic doesn't see
    return found


def parse_object(content: bytes, where: str) -> dict[str, Any]:
    """Read JSON text that is an object, of any form."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for number, key in enumerate(keys) if key in keys[:number])
            raise PubmillError(f"{where}: the key {show(twice)} stands twice in one object")
        return made

    try:
        found = json.loads(decode(content, where), object_pairs_hook=once)
    except json.JSONDecodeError as error:
        # The decoder's message names a place and what was expected there, never what was found.
        raise PubmillError(
            f"{where}: not valid JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from None
    except (RecursionError, ValueError):
        raise PubmillError(f"{where}: nested too deeply, or a number too long, to be read") from None
    if not isinstance(found, dict):
        raise PubmillError(f"{where}: expected an object in JSON, found {type(found).__name__}")
    return found
