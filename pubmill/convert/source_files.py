"""Source files and options of converters: text by lines, JSON that a model validates, and the part of the
training data that is held out where a corpus has no dev split.

Messages on JSON name positions and keys, never a value. A repeated key in an object is an error: JSON readers
would silently use its last value.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pubmill import recipes
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SPLITS, Example
from pubmill.formats.json_text import parse_row
from pubmill.formats.text_files import lines as lines  # users' own converters import it from here
from pubmill.messages.quotations import is_identifier, needs_identifiers, quote
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.storage.archives import decode

Options = TypeVar("Options")


class SpecError(PubmillError):
    """A dataset's spec has invalid settings for its converter; `convert` adds the name of the spec."""


@dataclass(frozen=True)
class ConverterInput:
    """The inputs of a converter for one split.

    `inputs` are the dataset's source files by their role in its spec; `left_out` counts by reason (such as
    `cross_sentence_pairs`) the items of the source that the examples leave out.
    """

    split: str
    inputs: Mapping[str, Path]
    options: Mapping[str, Any]
    left_out: Counter[str]

    def input(self, role: str) -> Path:
        """Return the existing file of a role; a `SpecError` for an unknown role lists the known ones."""
        if role not in self.inputs:
            raise SpecError(
                f"the converter needs a source {role!r}; the spec's sources are {', '.join(self.inputs)}"
            )
        if not self.inputs[role].exists():
            raise PubmillError(f"{self.inputs[role]} does not exist")
        return self.inputs[role]

    def of_split(self, role: str | None = None) -> Path:
        """Return the split's own file: the source `SPLIT`, or `SPLIT_ROLE`."""
        return self.input(f"{self.split}_{role}" if role else self.split)

    def check_options(self, *known: str) -> None:
        """Check that all options are known."""
        unknown = sorted(self.options.keys() - set(known))
        if unknown:
            raise SpecError(f"the converter has no options {unknown}; its options are {sorted(known)}")

    def options_as(self, form: type[Options]) -> Options:
        """Return the split's options as a dataclass."""
        try:
            return recipes.build(form, for_split(self.options, self.split), "the converter's options")
        except PubmillError as error:
            raise SpecError(str(error)) from None

    def held_out(self, groups: Collection[str], option: str = "dev") -> set[str]:
        """Return the groups (documents, patients) of the training data that are in the split.

        The option is `{share: 0.1, seed: 1}`; dev is that share of the groups, rounded up: the first ones by
        the SHA-256 of `SEED:GROUP`, so that the split depends only on their names, neither on the order of
        files in a folder nor on a random number generator. The splits of ClinicalBERT and bio-lm depend on
        these and cannot be reproduced. Other forms, and no groups left for train, are errors.
        """
        value: Any = self.options.get(option)
        share = value.get("share") if isinstance(value, Mapping) else None
        is_share = isinstance(share, float) and 0 < share < 1
        if not is_share or value.keys() != {"share", "seed"} or type(value["seed"]) is not int:
            raise SpecError(
                f"the converter's option `{option}` is {value!r}; give the share of the training data that "
                "is held out and a seed, such as {share: 0.1, seed: 1}"
            )
        number, seed = math.ceil(Fraction(str(share)) * len(set(groups))), value["seed"]
        if number >= len(set(groups)):
            raise PubmillError(
                f"of {len(set(groups))} documents or patients {number} would be dev, so none are left for "
                "train; is the archive complete?"
            )
        ordered = sorted(set(groups), key=lambda group: hashlib.sha256(f"{seed}:{group}".encode()).digest())
        return set(ordered[:number] if self.split == "dev" else ordered[number:])


class AllLabels(StrictRecipe):
    """The options of a converter that needs a list of all labels."""

    labels: Annotated[list[str], Field(min_length=1)]


Converter = Callable[[ConverterInput], Iterator[Example]]


def renamed(label: str, names: list[str] | dict[str, str] | None) -> str | None:
    """Return the examples' name of a label or type; None if there is a list or mapping that lacks it."""
    if isinstance(names, dict):
        return names.get(label)
    return label if names is None or label in names else None


def for_split(options: Mapping[str, Any], split: str) -> dict[str, Any]:
    """Return the options of one split: those under its own name (`test: {...}`) override the others."""
    own = options.get(split) or {}
    if not isinstance(own, Mapping):
        raise SpecError(f"the option `{split}` is {own!r}; give the options of that split, by name")
    return {**{name: value for name, value in options.items() if name not in SPLITS}, **own}


def check_id(text: str, where: str) -> str:
    """Return the id of an example or question, after a check that it may be shown.

    Ids occur in messages, tables and predictions, so for a licensed dataset they must be identifiers. A
    `PubmillError` for any other text names its position.
    """
    if needs_identifiers() and not is_identifier(text):
        raise PubmillError(
            f"{where}: expected an id of at most 40 letters, digits and `_.:-`, with a digit, "
            f"found {quote(text)}"
        )
    return text


def one_line(text: str) -> str:
    """Replace each tab, line feed and carriage return by one space, so that offsets stay valid."""
    return text.translate(_BLANKS)


_BLANKS = str.maketrans("\t\n\r", "   ")


def table(
    path: Path, columns: Sequence[str], headings: Sequence[str] | None = None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place of each line after the headings, if there are any, and its cells by column."""
    numbered = lines(path)
    if headings is not None:
        _, line = next(numbered, (1, ""))
        if line.split("\t") != headings:
            raise PubmillError(
                f"{path}:1: expected the headings {'<TAB>'.join(headings)}, found {quote(line)}"
            )
    for number, line in numbered:
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise PubmillError(
                f"{path}:{number}: expected {len(columns)} columns ({', '.join(columns)}), found {len(cells)}"
            )
        yield f"{path}:{number}", dict(zip(columns, cells, strict=True))


class JsonModel(BaseModel):
    """Base class of models of JSON: undeclared keys are ignored, and values of other types are errors."""

    model_config = ConfigDict(strict=True, frozen=True)


Of = TypeVar("Of", bound=JsonModel)


def parse_json(form: type[Of], content: str | bytes, where: str) -> Of:
    """Parse JSON text into the model. Messages name a position (`data.0.title`), never its content."""
    try:
        parsed = form.model_validate_json(content)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))  # the model's own names, and numbers
        raise PubmillError(
            f"{where}: {f'{place}: ' if place else ''}{problem['msg']}; is this the original file?"
        ) from None
    text = content if isinstance(content, str) else decode(content, where)
    parse_row(text, where)  # for repeated keys, which pydantic does not detect
    return parsed
