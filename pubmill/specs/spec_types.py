"""Base models, field types and error texts shared by all specs."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from pubmill.errors import PubmillError
from pubmill.recipes.recipe_types import Kind, Name
from pubmill.storage import name_patterns as names


def _check_address(address: str) -> str:
    """Return an address that is safe as a file path: inside the folder and without wildcards."""
    if re.search(r"[?#{}\\]|(^|/)\.\.?(/|$)", address):
        raise ValueError("`?`, `#`, braces, backslashes and the folders `.` and `..` are not allowed here")
    return address


FileName = Annotated[str, Field(pattern=f"^{names.FILE}$")]
FilePattern = Annotated[str, Field(pattern=f"^{names.FILES}$")]
FilePath = Annotated[str, Field(pattern=f"^{names.PATH}$"), AfterValidator(_check_address)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Https = Annotated[str, Field(pattern=f"^{names.URL}$"), AfterValidator(_check_address)]


class Strict(BaseModel):
    """Base of all spec models: unknown keys are errors, and instances cannot change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def has_no_faults(self) -> Self:
        if faults := list(self.faults()):
            raise ValueError("; ".join(faults))
        return self

    def faults(self) -> Iterable[str]:
        """Return what is wrong with values of which each is right alone."""
        return ()


Text = Annotated[str, Field(min_length=1)]
ProgramText = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+@[0-9a-f]{7,40} [^:]+: .+")]
"""`OWNER/NAME@COMMIT FILE: what the program does`; several files separated by commas."""
Standing = Literal["as printed", "as the program", "ours", "differs"]


class Effect(Strict):
    """How far a choice moves scores.

    - `points`: the largest change of a score, in points (0 to 100).
    - `source`: who measured it, on what, and where it is printed.
    - `datasets`: the only datasets that it is known for, named as those of a statement; null: all.
    """

    points: Annotated[float, Field(ge=0)]
    source: Text
    datasets: tuple[Name, ...] | None = None


class Statement(Strict):
    """What a paper and its authors' program say about some values of a spec, and why the spec differs.

    - `says`, `section`: the paper's statement in short, and where it is.
    - `program`: what the authors' program does, where the paper is silent or vague: `OWNER/NAME@COMMIT FILE:
      text`.
    - `ours`: why the spec has this value, where neither the paper nor a public program decides it.
    - `differs`: why the spec does not do what the paper or the program does.
    - `does`: what happens here, if the value alone does not show it.
    - `datasets`, `models`: the only ones that it is about, each with its variants (`ddi`) or as one of them
      (`ddi@blue`); null: all.
    - `kinds`, `settings`: the only kinds of examples, and settings of protocols; null: all.
    - `columns`: the only columns of a table, by key; none: cells that have no runs here; null: all.
    - `uses`: keys of the fine-tuning recipe (`dummies`); only runs that have a value there and use it.
    - `effect`: how far it moves scores, where that was measured or printed.
    """

    section: Text | None = None
    says: Text | None = None
    program: ProgramText | None = None
    differs: Text | None = None
    ours: Text | None = None
    does: Text | None = None
    datasets: tuple[Name, ...] | None = None
    kinds: tuple[Kind, ...] | None = None
    models: tuple[Name, ...] | None = None
    settings: tuple[str, ...] | None = None
    columns: tuple[Name, ...] | None = None
    uses: tuple[str, ...] = ()
    effect: Effect | None = None

    @property
    def standing(self) -> Standing:
        if self.ours:
            return "ours"
        if self.differs:
            return "differs"
        return "as the program" if self.program else "as printed"

    def faults(self) -> Iterator[str]:
        if not (self.says or self.program or self.ours):
            yield (
                "give `says`, the paper's statement, `program`, what the authors' program does, "
                "or `ours`, the reason for a value of our own"
            )
        elif self.differs and (self.ours or not (self.says or self.program)):
            yield "`differs` needs `says` or `program`, the method that the spec differs from, and no `ours`"
        if self.says and not self.section:
            yield "`says` needs `section`"


def names_one(name: str, among: tuple[str, ...] | None) -> bool:
    """Return whether a name, or what it is a variant of, is among some names; True if these are None."""
    return among is None or name in among or name.partition("@")[0] in among


class Spec(Strict):
    """Base of the specs that have a file of their own.

    `paper`: the paper that the spec repeats. `method`: statements about the spec's values, by their keys:
    `hyperparameters.warmup`, several separated by commas; a key covers everything below it.

    - `name`: the file's name.
    - `label`: the name in tables and pages; empty: `name`.
    - `citation`: where the values come from: paper, section, table.
    - `notes`: remarks, shown on pages.
    """

    name: Name
    label: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    paper: Name | None = None
    method: dict[str, Statement] = {}


INCLUDES = " includes "
"""Separates the line of an `include:` from the line of the key in the included file."""
UNREADABLE = ": not valid YAML"


class SpecFaultsError(PubmillError):
    """All mistakes in the specs of a folder, each once: those of an included spec are not repeated for the
    specs that include it, and a file that is not YAML has no others."""

    def __init__(self, folder: Path, mistakes: Iterable[str]) -> None:
        files = {line: line.partition(":")[0].strip("'") for line in mistakes}
        unreadable = {file for line, file in files.items() if UNREADABLE in line}
        own = [line for line in files if line.partition(INCLUDES)[2] not in files]
        self.lines = [line for line in own if UNREADABLE in line or files[line] not in unreadable]
        self.files = {files[line] for line in self.lines}
        super().__init__("\n".join([f"{len(self.lines)} mistake(s) in {folder}:", *self.lines]))
