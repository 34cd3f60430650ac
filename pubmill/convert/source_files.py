"""Source files of converters."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SPLITS, Example
from pubmill.messages.quotations import is_identifier, quote, withheld

_MARK = b"\xef\xbb\xbf"


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

    def option(self, name: str, allowed: Mapping[str, Any]) -> Any:
        """Return the value in `allowed` for the key in the option `name`."""
        chosen = self.options.get(name)
        if not isinstance(chosen, str) or chosen not in allowed:
            raise SpecError(f"the converter's option `{name}` is {chosen!r}; give one of {sorted(allowed)}")
        return allowed[chosen]

    def check_options(self, *known: str) -> None:
        """Check that all options are known."""
        unknown = sorted(self.options.keys() - set(known))
        if unknown:
            raise SpecError(f"the converter has no options {unknown}; its options are {sorted(known)}")


Converter = Callable[[ConverterInput], Iterator[Example]]


def for_split(options: Mapping[str, Any], split: str) -> dict[str, Any]:
    """Return the options of one split: those under its own name (`test: {...}`) override the others."""
    own = options.get(split) or {}
    if not isinstance(own, Mapping):
        raise SpecError(f"the option `{split}` is {own!r}; give the options of that split, by name")
    return {**{name: value for name, value in options.items() if name not in SPLITS}, **own}


def check_id(text: str, where: str) -> str:
    """Return the id of an example or question, after a check that it may be shown.

    Ids occur in messages, tables and predictions, so for a licensed dataset they must be identifiers; a
    `PubmillError` names the position of others.
    """
    if withheld() and not is_identifier(text):
        raise PubmillError(
            f"{where}: expected an id of at most 40 letters, digits and `_.:-`, with a digit, "
            f"found {quote(text)}"
        )
    return text


def one_line(text: str) -> str:
    """Replace each tab, line feed and carriage return by one space, so that offsets stay valid."""
    return text.translate(_BLANKS)


_BLANKS = str.maketrans("\t\n\r", "   ")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines without their ends; only line feeds separate them."""
    number = 0
    try:
        with path.open("rb") as rows:  # bytes, to know the line that isn't UTF-8
            for number, row in enumerate(rows, 1):
                if number == 1:
                    check_no_mark(row, f"{path}:1")
                yield number, row.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise PubmillError(f"{path}:{number}: not UTF-8: {error.reason}") from None


def check_no_mark(content: bytes, where: str) -> None:
    """Check that a text does not begin with a byte order mark, which would become part of its first word."""
    if content.startswith(_MARK):
        raise PubmillError(
            f"{where}: begins with a byte order mark (EF BB BF), which would be read as part of its text; "
            "save the file as UTF-8 without one"
        )
