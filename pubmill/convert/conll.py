"""CoNLL column files -> tokens examples.

One line a word, `word<TAB>label`; a blank line ends a sentence; a line `-DOCSTART- ID` starts the
document ID and is no word (the form that BLURB's generator writes for JNLPBA). Labels are BIO (IOB2).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from pubmill.convert.given import Given, lines, quote
from pubmill.errors import PubmillError
from pubmill.examples import BIO_LABEL, TokensExample

DOCUMENT_MARK = "-DOCSTART-"
LABELS: dict[str, Callable[[str], str]] = {
    "first_character": lambda label: label[0],
    "as_written": lambda label: label,
}
"""What the option `labels` can say. BLURB keeps the first character (B, I, O): all types become one,
and a B right after an entity of another type stays a B."""


def read(given: Given) -> Iterator[TokensExample]:
    """Read one split; ids are `SPLIT-000001` and on in the order of the file.

    The option `labels` is one of `LABELS`. A `PubmillError` names the file and line of anything that
    isn't in the form above.
    """
    given.check_options("labels")
    relabel = given.option("labels", LABELS)
    for number, (document, rows) in enumerate(_sentences(given.of_split()), 1):
        yield TokensExample(
            id=f"{given.split}-{number:06d}",
            document=document,
            words=[word for word, _ in rows],
            labels=[relabel(label) for _, label in rows],
        )


def _sentences(path: Path) -> Iterator[tuple[str | None, list[tuple[str, str]]]]:
    """Sentences as (document, [(word, label)]); a sentence also ends at a document mark."""
    document: str | None = None
    rows: list[tuple[str, str]] = []
    for number, line in lines(path):
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


def _columns(line: str, where: str) -> tuple[str, str]:
    columns = line.split("\t")
    if len(columns) != 2 or not columns[0].strip():
        raise PubmillError(f"{where}: expected `word<TAB>label`, found {quote(line)}")
    if not BIO_LABEL.fullmatch(columns[1]):
        raise PubmillError(
            f"{where}: expected a BIO label (O, B, I, B-TYPE or I-TYPE), found {quote(columns[1])}"
        )
    return columns[0], columns[1]


def _document(line: str, where: str) -> str:
    columns = line.split(" ")
    if len(columns) != 2 or not columns[1].strip():
        raise PubmillError(f"{where}: expected `{DOCUMENT_MARK} ID`, found {quote(line)}")
    return columns[1]
