"""What every converter is given, and how its messages speak of text that must not be shown."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples import Example

SPLITS = ("train", "dev", "test")
_WITHHELD: ContextVar[bool] = ContextVar("withheld", default=False)


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
        """The file of a role; a `PubmillError` names the roles that there are."""
        if role not in self.inputs:
            raise PubmillError(
                f"the converter needs a source {role!r}; the spec's sources are {', '.join(self.inputs)}"
            )
        return self.inputs[role]

    def of_split(self, role: str | None = None) -> Path:
        """The split's own file: the source `SPLIT`, or `SPLIT_ROLE`."""
        return self.input(f"{self.split}_{role}" if role else self.split)

    def option(self, name: str, allowed: Mapping[str, Any]) -> Any:
        """The value in `allowed` that the option `name` chooses."""
        chosen = self.options.get(name)
        if not isinstance(chosen, str) or chosen not in allowed:
            raise PubmillError(
                f"the converter's option `{name}` is {chosen!r}; give one of {sorted(allowed)}"
            )
        return allowed[chosen]

    def check_options(self, *known: str) -> None:
        """That no option is unknown."""
        unknown = sorted(self.options.keys() - set(known))
        if unknown:
            raise PubmillError(f"the converter has no options {unknown}; its options are {sorted(known)}")


Converter = Callable[[Given], Iterator[Example]]


def for_split(options: Mapping[str, Any], split: str) -> dict[str, Any]:
    """The options that hold for one split: those under its own name (`test: {...}`) lie over the others."""
    own = options.get(split) or {}
    if not isinstance(own, Mapping):
        raise PubmillError(f"the option `{split}` is {own!r}; give the options of that split, by name")
    return {**{name: value for name, value in options.items() if name not in SPLITS}, **own}


@contextmanager
def withholding(text: bool) -> Iterator[None]:
    """While the block runs, `quote` shows nothing of the text that it is given, if `text` is true."""
    token = _WITHHELD.set(text)
    try:
        yield
    finally:
        _WITHHELD.reset(token)


def quote(text: str) -> str:
    """A piece of a source file for a message: cut to 80 characters; of a licensed dataset only its length."""
    if _WITHHELD.get():
        return f"<{len(text)} characters, not shown: the dataset's licence forbids it>"
    return repr(text if len(text) <= 80 else text[:80] + "...")


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
                yield number, row.rstrip(b"\r\n").decode()
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except UnicodeDecodeError as error:
        raise PubmillError(f"{path}:{number}: not UTF-8: {error.reason}") from None
