"""CoNLL columns in any tag scheme: a word and its label on each line, a blank line after each sentence."""

import re
from collections.abc import Iterator, Sequence

from pubmill.errors import PubmillError
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.messages.quotations import quote
from pubmill.predictions.rows import PredictionRow

ID = re.compile(r"# ?id ?= ?(\S+)")
"""Comment with the id of the sentence that follows, as in CoNLL-U."""
MARKS = ("-DOCSTART-", "###MEDLINE:")
LABEL = re.compile(r"O|[BIELSUWM](-\S+)?")
"""A label of IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BMEWO or IO."""
MISSING = "_"
"""Stands for the labels in the files of `pubmill inputs`."""
_OF_TAGGING = {"E": "L", "S": "U", "W": "U", "M": "I"}
_BIO = re.compile(r"O|[BI](-\S+)?")


def is_conll(lines: Sequence[str]) -> bool:
    """Return whether lines look like CoNLL columns: labels, or the inputs' `_`, in the last column."""
    rows = [line for line in lines if line and not _is_mark(line)]
    cells = [_columns(line) for line in rows]
    last = [columns[-1] for columns in cells if len(columns) > 1]
    labelled = sum(label == MISSING or LABEL.fullmatch(label) is not None for label in last)
    return bool(rows) and labelled >= max(1, len(rows) - 1) and not rows[0].startswith(("{", "[", "<"))


def read(lines: Sequence[str], where: str) -> Iterator[PredictionRow]:
    """Yield a row of BIO labels for each sentence."""
    name: str | None = None
    words: list[str] = []
    labels: list[str] = []
    start = 1
    for number, line in enumerate([*lines, ""], 1):
        named = ID.fullmatch(line)
        if line and not named and not _is_mark(line):
            start = start if words else number
            word, label = _parse(line, f"{where}:{number}")
            words.append(word)
            labels.append(label)
            continue
        if words:
            place = f"{where}:{start}"
            yield PredictionRow(where=place, id=name, key="labels", value=as_bio(labels), words=words)
            words, labels, name = [], [], None
        if named:
            if name is not None:
                raise PubmillError(f"{where}:{number}: no sentence follows the id before this one")
            name = named[1]
    if name is not None:
        raise PubmillError(f"{where}: no sentence follows the last id; is the file complete?")


def as_bio(labels: list[str]) -> list[str]:
    """Return labels of any scheme in BIO; BIO labels stay as they are."""
    if all(map(_BIO.fullmatch, labels)):
        return labels
    mentions = to_mentions([_OF_TAGGING.get(label[0], label[0]) + label[1:] for label in labels])
    return to_labels(mentions, len(labels), "bio")


def _is_mark(line: str) -> bool:
    return line.startswith(MARKS) or ID.fullmatch(line) is not None


def _columns(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else line.split()


def _parse(line: str, place: str) -> tuple[str, str]:
    columns = _columns(line)
    if len(columns) < 2 or not columns[0]:
        raise PubmillError(f"{place}: expected a word and its label, found {quote(line)}")
    if columns[-1] == MISSING:
        raise PubmillError(f"{place}: no label, only the {MISSING} of the inputs")
    if not LABEL.fullmatch(columns[-1]):
        raise PubmillError(
            f"{place}: expected a label of IOB, IOE, IOBES, BILOU or IO in the last column, "
            f"found {quote(columns[-1])}"
        )
    return columns[0], columns[-1]
