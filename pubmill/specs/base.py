"""What all specs share."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pubmill.storage import name_patterns as names


def _stays_below(address: str) -> str:
    """An address whose path becomes a file's: it may not leave the folder, nor hold wildcards."""
    if re.search(r"[?#{}\\]|(^|/)\.\.?(/|$)", address):
        raise ValueError("`?`, `#`, braces, backslashes and the folders `.` and `..` are not allowed here")
    return address


Name = Annotated[str, Field(pattern=f"^{names.SPEC}$")]
LocalKey = Annotated[str, Field(pattern=f"^{names.KEY}$")]
FileName = Annotated[str, Field(pattern=f"^{names.FILE}$")]
FilePattern = Annotated[str, Field(pattern=f"^{names.FILES}$")]
FilePath = Annotated[str, Field(pattern=f"^{names.PATH}$"), AfterValidator(_stays_below)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Https = Annotated[str, Field(pattern=f"^{names.URL}$"), AfterValidator(_stays_below)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Spec(Strict):
    name: Name
    label: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()


def shown(place: tuple[int | str, ...]) -> str:
    return ".".join(map(str, place)) or "the file"


def told(problem: Any) -> str:
    """One of pydantic's problems in words, with what was found."""
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return "unknown key; check its spelling, or remove it"
    if problem["type"] == "missing":
        return "this key is required and missing"
    return f"{problem['msg'].removeprefix('Value error, ')} (found {problem['input']!r:.120})"
