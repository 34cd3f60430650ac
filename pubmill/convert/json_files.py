"""JSON files of a known form, checked against it before anything is made of them."""

import gzip
import zlib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pubmill.convert.archives import LARGEST_MEMBER
from pubmill.errors import PubmillError

_GZIP = b"\x1f\x8b"


class Form(BaseModel):
    """A part of a file: the keys that are needed. Others are allowed, but no value is made to fit."""

    model_config = ConfigDict(strict=True, frozen=True)


Of = TypeVar("Of", bound=Form)


def read(form: type[Of], path: Path) -> Of:
    """Read a file, gzipped or not, of the form; a `PubmillError` tells the first place that differs."""
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            with gzip.open(path) as packed:
                content = packed.read(LARGEST_MEMBER + 1)
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise PubmillError(f"{path}: not a whole gzip file: {error}; fetch it again") from None
    if len(content) > LARGEST_MEMBER:
        raise PubmillError(
            f"{path}: more than {LARGEST_MEMBER:,} bytes; no file of a known dataset comes near"
        )
    return parse(form, content, str(path))


def parse(form: type[Of], content: bytes, where: str) -> Of:
    """Read JSON text of the form. Messages name a place (`data.0.title`), never what stands there."""
    try:
        return form.model_validate_json(content)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise PubmillError(
            f"{where}: {f'{place}: ' if place else ''}{problem['msg']}; is this the original file?"
        ) from None
