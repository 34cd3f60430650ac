"""Base models, field types and error texts shared by all specs."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pubmill.storage import name_patterns as names


def _stays_below(address: str) -> str:
    """Return an address that is safe as a file path: inside the folder and without wildcards."""
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
    """Base of all spec models: unknown keys are errors, and instances cannot change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Spec(Strict):
    """Base of the specs that have a file of their own."""

    name: Name
    label: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()


def dotted_key(place: tuple[int | str, ...]) -> str:
    """Return a location in a spec as a dotted key, or "the file" for its root."""
    return ".".join(map(str, place)) or "the file"


def problem_text(problem: Any) -> str:
    """Return one of pydantic's errors as a message that includes the value found."""
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return "unknown key; check its spelling, or remove it"
    if problem["type"] == "missing":
        return "this key is required and missing"
    return f"{problem['msg'].removeprefix('Value error, ')} (found {problem['input']!r:.120})"
