"""Base models, field types and error texts shared by all specs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from pubmill.errors import PubmillError
from pubmill.messages.wording import nearest
from pubmill.recipes.recipe_types import Kind
from pubmill.storage import name_patterns as names


def _check_address(address: str) -> str:
    """Return an address that is safe as a file path: inside the folder and without wildcards."""
    if re.search(r"[?#{}\\]|(^|/)\.\.?(/|$)", address):
        raise ValueError("`?`, `#`, braces, backslashes and the folders `.` and `..` are not allowed here")
    return address


Name = Annotated[str, Field(pattern=f"^{names.SPEC}$")]
LocalKey = Annotated[str, Field(pattern=f"^{names.KEY}$")]
FileName = Annotated[str, Field(pattern=f"^{names.FILE}$")]
FilePattern = Annotated[str, Field(pattern=f"^{names.FILES}$")]
FilePath = Annotated[str, Field(pattern=f"^{names.PATH}$"), AfterValidator(_check_address)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Https = Annotated[str, Field(pattern=f"^{names.URL}$"), AfterValidator(_check_address)]


class Strict(BaseModel):
    """Base of all spec models: unknown keys are errors, and instances cannot change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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

    @model_validator(mode="after")
    def is_whole(self) -> Self:
        if not (self.says or self.program or self.ours):
            raise ValueError(
                "give `says`, the paper's statement, `program`, what the authors' program does, "
                "or `ours`, the reason for a value of our own"
            )
        if self.differs and (self.ours or not (self.says or self.program)):
            raise ValueError(
                "`differs` needs `says` or `program`, the method that the spec differs from, and no `ours`"
            )
        if self.says and not self.section:
            raise ValueError("`says` needs `section`")
        return self


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


def dotted_key(place: tuple[int | str, ...]) -> str:
    """Return a location in a spec as a dotted key, or "the file" for its root."""
    return ".".join(map(str, place)) or "the file"


TYPE_WORDS = {
    "tuple_type": "expected a list",
    "dict_type": "expected keys with values",
    "model_type": "expected keys with values",
    "dataclass_type": "expected keys with values",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "union_tag_not_found": "the key `kind:` is missing",
}
"""Pydantic's errors about types that YAML calls otherwise -> their messages."""


def problem_text(problem: Any, model: Any = None) -> str:
    """Return one of pydantic's errors as a message that includes the value found. `model`: the type of the
    whole spec; without it, no key is suggested for an unknown one."""
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        near = ", ".join(nearest_keys(model, tuple(problem["loc"])))
        return f"unknown key; {f'the nearest: {near}' if near else 'check its spelling, or remove it'}"
    if problem["type"] == "missing":
        return "this key is required and missing"
    if problem["type"] == "string_pattern_mismatch":
        pattern = problem["ctx"]["pattern"].removeprefix("^").removesuffix("$")
        if pattern in names.WORDS:
            return f"expected {names.WORDS[pattern]} (found {problem['input']!r:.120})"
    if problem["type"] == "string_type" and isinstance(problem["input"], int | float | date):
        return f"expected text (found {problem['input']!r:.120}); put it in quotes"
    message = TYPE_WORDS.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
    return f"{message} (found {problem['input']!r:.120})"


SHOWN = 3


def nearest_keys(model: Any, place: tuple[int | str, ...]) -> list[str]:
    """Return the known keys beside an unknown one, the most similar first. `model`: the type of the whole
    spec; `place`: pydantic's location of the unknown key."""
    *above, key = place
    hints = [model]
    for step in above:
        hints = [below for hint in hints for below in _below(hint, step)]
    known = {name for hint in hints for member in _members(hint) for name in _fields(member)}
    return nearest(str(key), known)[:SHOWN]


def _members(hint: Any) -> Iterator[Any]:
    """Yield the types that a hint allows: the members of a union, without metadata and type aliases."""
    value = getattr(hint, "__value__", hint)  # of a type alias
    if get_origin(value) is Annotated:
        yield from _members(get_args(value)[0])
    elif get_origin(value) in (tuple, list, dict) or not get_args(value):
        yield value
    else:
        for member in get_args(value):
            yield from _members(member)


def _below(hint: Any, step: int | str) -> Iterator[Any]:
    """Yield the types of the value at a step of a location, a key or an index. Pydantic's own steps, such as
    the name of a union's member, leave the type unchanged."""
    for member in _members(hint):
        arguments = get_args(member)
        if get_origin(member) in (tuple, list, dict):
            yield arguments[-1] if get_origin(member) is dict else arguments[0]
        elif fields := _fields(member):
            yield fields.get(str(step), member)


def _fields(kind: Any) -> dict[str, Any]:
    """Return field -> type of a model or dataclass; {} for other types."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {}


INCLUDES = " includes "
"""Separates the line of an `include:` from the line of the key in the included file."""
UNREADABLE = ": not valid YAML"


class SpecFaultsError(PubmillError):
    """All mistakes in the specs of a folder."""

    def __init__(self, folder: Path, mistakes: Iterable[str]) -> None:
        self.lines = _without_repeats(mistakes)
        super().__init__("\n".join([f"{len(self.lines)} mistake(s) in {folder}:", *self.lines]))


def _without_repeats(lines: Iterable[str]) -> list[str]:
    """Return each mistake once: those of an included spec are not repeated for the specs that include it, and
    a file that is not YAML has no others."""
    faults = dict.fromkeys(lines)
    files = {line: line.partition(":")[0] for line in faults}
    unreadable = {files[line] for line in faults if UNREADABLE in line}
    own = (line for line in faults if line.partition(INCLUDES)[2] not in faults)
    return [line for line in own if UNREADABLE in line or files[line] not in unreadable]
