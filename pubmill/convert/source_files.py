"""What every converter is given, and how its messages speak of text that must not be shown."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.annotation.examples import SPLITS, Example
from pubmill.errors import PubmillError

_WITHHELD: ContextVar[bool] = ContextVar("withheld", default=False)
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9_.:-]{1,40}")
_SHOWN = 80
"""Characters of a source file that a message shows at most in one place."""
_MARK = b"\xef\xbb\xbf"


class SpecError(PubmillError):
    """What a dataset's spec asks of its converter can't be done; `convert` adds which spec it is."""


@dataclass(frozen=True)
class Given:
    """One split to read.

    `inputs` are the dataset's source files by the role that its spec gives them; `left_out` counts,
    by reason (a word like `cross_sentence_pairs`), what the source has and the examples don't.
    """

    split: str
    inputs: Mapping[str, Path]
    options: Mapping[str, Any]
    left_out: Counter[str]

    def input(self, role: str) -> Path:
        """The file of a role, which exists; a `SpecError` names the roles that there are."""
        if role not in self.inputs:
            raise SpecError(
                f"the converter needs a source {role!r}; the spec's sources are {', '.join(self.inputs)}"
            )
        if not self.inputs[role].exists():
            raise PubmillError(f"{self.inputs[role]} does not exist")
        return self.inputs[role]

    def of_split(self, role: str | None = None) -> Path:
        """The split's own file: the source `SPLIT`, or `SPLIT_ROLE`."""
        return self.input(f"{self.split}_{role}" if role else self.split)

    def option(self, name: str, allowed: Mapping[str, Any]) -> Any:
        """The value in `allowed` that the option `name` chooses."""
        chosen = self.options.get(name)
        if not isinstance(chosen, str) or chosen not in allowed:
            raise SpecError(f"the converter's option `{name}` is {chosen!r}; give one of {sorted(allowed)}")
        return allowed[chosen]

    def check_options(self, *known: str) -> None:
        """That no option is unknown."""
        unknown = sorted(self.options.keys() - set(known))
        if unknown:
            raise SpecError(f"the converter has no options {unknown}; its options are {sorted(known)}")


Converter = Callable[[Given], Iterator[Example]]


def for_split(options: Mapping[str, Any], split: str) -> dict[str, Any]:
    """The options that hold for one split: those under its own name (`test: {...}`) lie over the others."""
    own = options.get(split) or {}
    if not isinstance(own, Mapping):
        raise SpecError(f"the option `{split}` is {own!r}; give the options of that split, by name")
    return {**{name: value for name, value in options.items() if name not in SPLITS}, **own}


@contextmanager
def withholding(text: bool) -> Iterator[None]:
    """While the block runs, `quote` and `show` tell nothing that may be text, if `text` is true."""
    token = _WITHHELD.set(text)
    try:
        yield
    finally:
        _WITHHELD.reset(token)


def withheld() -> bool:
    """Whether the dataset that is read isn't public."""
    return _WITHHELD.get()


def quote(text: str) -> str:
    """A piece of a source file for a message: cut to 80 characters; of a licensed dataset only its length."""
    return _unshown(text) if withheld() else repr(_cut(text))


def show(text: str) -> str:
    """An identifier, type or key that a source file gives, for a message: as it stands, cut to 80 characters.

    In a damaged file anything can stand in its place, so of a licensed dataset only what is plainly an
    identifier (`is_identifier`) is shown, and of the rest its length.
    """
    return _unshown(text) if withheld() and not is_identifier(text) else _cut(text)


def is_identifier(text: str) -> bool:
    """Whether it can't be prose: at most 40 letters (of ASCII), digits and `_.:-`, a digit among them."""
    return _IDENTIFIER.fullmatch(text) is not None


def check_id(text: str, where: str) -> str:
    """The id of an example or question, to be shown from here on; of a licensed dataset it must be an
    identifier, as ids reach messages, tables and predictions. A `PubmillError` tells where it isn't."""
    if withheld() and not is_identifier(text):
        raise PubmillError(
            f"{where}: expected an id of at most 40 letters, digits and `_.:-`, with a digit, "
            f"found {quote(text)}"
        )
    return text


def _unshown(text: str) -> str:
    return f"<{len(text)} characters, not shown: the dataset's licence forbids it>"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def one_line(text: str) -> str:
    """The text with one blank for each tab, line feed and carriage return, so that offsets still hold."""
    return text.translate(_BLANKS)


_BLANKS = str.maketrans("\t\n\r", "   ")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines without their end; only line feeds separate them, whatever the text holds."""
    number = 0
    try:
        with path.open("rb") as rows:  # bytes, so that the line that isn't UTF-8 is known
            for number, row in enumerate(rows, 1):
                if number == 1:
                    check_no_mark(row, f"{path}:1")
                yield number, row.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise PubmillError(f"{path}:{number}: not UTF-8: {error.reason}") from None


def check_no_mark(content: bytes, where: str) -> None:
    """That a text doesn't begin with a byte order mark, which would become part of its first word."""
    if content.startswith(_MARK):
        raise PubmillError(
            f"{where}: begins with a byte order mark (EF BB BF), which would be read as part of its text; "
            "save the file as UTF-8 without one"
        )
