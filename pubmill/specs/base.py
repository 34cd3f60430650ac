"""What all specs share."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*(@[a-z0-9-]+)?$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Https = Annotated[str, Field(pattern=r"^https://[^\s?#]+$")]


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
