"""One job of the graph, as plans and lists of required files see it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """A job of a rule; `to_do` is false where its output is there and as its recipe says."""

    rule: str
    wildcards: Mapping[str, str]
    to_do: bool
