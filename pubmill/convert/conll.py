"""CoNLL column files -> tokens examples.

One line a word, `word<TAB>label`; a blank line ends a sentence; a line `-DOCSTART- ID` starts the
document ID and is no word (the form that BLURB's generator writes for JNLPBA). Labels are BIO (IOB2).
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.examples import BIO_LABEL, TokensExample

DOCUMENT_MARK = "-DOCSTART-"
LABELS: dict[str, Callable[[str], str]] = {
    "first_character": lambda label: label[0],
    "as_written": lambda label: label,
}
"""What the option `labels` can say. BLURB keeps the first character (B, I, O): all types become one,
and a B right after an entity of another type stays a B."""


def read(path: Path, split: str, options: Mapping[str, str]) -> Iterator[TokensExample]:
    """Read one split; ids are `SPLIT-000001` and on in the order of the file.

    `options` is `{"labels": "first_character" | "as_written"}`. A `PubmillError` names the file
    and line of anything that isn't in the form above.
    """
    if options.keys() != {"labels"} or options["labels"] not in LABELS:
        raise PubmillError(f"{path}: conll options {dict(options)}: give `labels`, one of {sorted(LABELS)}")
    relabel = LABELS[options["labels"]]
    for number, (document, rows) in enumerate(_sentences(path), 1):
        yield TokensExample(
            id=f"{split}-{number:06d}",
            document=document,
            words=[word for word, _ in rows],
            labels=[relabel(label) for _, label in rows],
        )


def _sentences(path: Path) -> Iterator[tuple[str | None, list[tuple[str, str]]]]:
    """Sentences as (document, [(word, label)]); a sentence also ends at a document mark."""
    document: str | None = None
    rows: list[tuple[str, str]] = []
    for number, line in _lines(path):
        if line and not line.startswith(DOCUMENT_MARK):
            rows.append(_columns(line, f"{path}:{number}"))
            continue
        if rows:
            yield document, rows
            rows = []
        if line:
            document = _document(line, f"{path}:{number}")
    if rows:
        yield document, rows


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines without their end; only line feeds separate them, whatever the words hold."""
    number = 0
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                yield number, line.rstrip("\r\n")
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except UnicodeDecodeError as error:
        raise PubmillError(f"{path}: not UTF-8 somewhere after line {number}: {error.reason}") from None


def _columns(line: str, where: str) -> tuple[str, str]:
    columns = line.split("\t")
    if len(columns) != 2 or not columns[0].strip():
        raise PubmillError(f"{where}: expected `word<TAB>label`, found {line!r}")
    if not BIO_LABEL.fullmatch(columns[1]):
        raise PubmillError(f"{where}: expected a BIO label (O, B, I, B-TYPE or I-TYPE), found {columns[1]!r}")
    return columns[0], columns[1]


def _document(line: str, where: str) -> str:
    columns = line.split(" ")
    if len(columns) != 2 or not columns[1].strip():
        raise PubmillError(f"{where}: expected `{DOCUMENT_MARK} ID`, found {line!r}")
    return columns[1]
