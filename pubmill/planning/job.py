"""One job of the graph: the data that plans and lists of required files use."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace


@dataclass(frozen=True)
class Job:
    """A job of a rule; `to_do` is false if its output exists and matches its recipe.

    `cause`: what makes it run, empty if it only follows from other jobs; `local`: on a cluster, too, it runs
    where Snakemake runs.
    """

    rule: str
    wildcards: Mapping[str, str]
    to_do: bool
    cause: str = ""
    local: bool = False

    @property
    def named_wildcards(self) -> SimpleNamespace:
        """The wildcards as a stage takes them: as attributes."""
        return SimpleNamespace(**self.wildcards)
