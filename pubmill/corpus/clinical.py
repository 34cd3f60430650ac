"""The clinical notes of MIMIC-III (`NOTEEVENTS.csv.gz`): one gzipped CSV file of two million notes.

A note's paragraphs (separated by blank lines) are its sections; line breaks within a paragraph come from the
page width and become spaces. Its category is its type, without trailing spaces ("Physician "). A note that a
physician has marked as an error (ISERROR is 1) has the flag `error`, and the selection leaves it out as
`error_note`. Dates are shifted by centuries, differently for each patient, so documents have none.

Messages show nothing of a note except its ROW_ID.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from pubmill.corpus.own_texts import paragraphs
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.storage.archives import GZIP_FAULTS, open_content
from pubmill.storage.strict_parsing import whole_number

COLUMNS = ("ROW_ID", "CATEGORY", "ISERROR", "TEXT")
LICENCE = "PhysioNet Credentialed Health Data License"
LONGEST = 16_000_000
"""Most characters of a field. The longest note has about 50 thousand; more means that a quotation mark is
missing, and without a limit the rest of the file would be read as one note."""

_BRACKETS = re.compile(r"\[\*\*((?:(?!\[\*\*).)*?)\*\*\]", re.DOTALL)
_ASIDE = re.compile(r"\([^)]*\)")
_DATE = re.compile(r"(?=\D*\d)[\d\s/-]+")
_WORD = re.compile(r"[^\W\d_]+")


def read_notes(path: Path, brackets: str = "keep") -> Iterator[Document]:
    """Yield every note of NOTEEVENTS.csv(.gz), in constant memory. `brackets` is `keep`, or `normalise` to
    apply `normalised`. Raises `PubmillError` with the line for a file that is truncated or is not such a CSV,
    and with the ROW_ID for an invalid note."""
    line = 0
    former_limit = csv.field_size_limit(LONGEST)
    try:
        with open_content(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as text:
            rows = csv.reader(text, strict=True)
            header = next(rows, [])
            names = [name.strip().upper() for name in header]
            if missing := [name for name in COLUMNS if names.count(name) != 1]:
                raise PubmillError(
                    f"{path}:1: expected each of the columns {', '.join(COLUMNS)} once, as in MIMIC-III "
                    f"1.4's NOTEEVENTS; not so {', '.join(missing)}"
                )
            places = [names.index(name) for name in COLUMNS]
            for row in rows:
                line = rows.line_num
                if len(row) != len(header):
                    raise PubmillError(f"{path}:{line}: expected {len(header)} fields, found {len(row)}")
                identifier, category, is_error, note = (row[place] for place in places)
                if (number := whole_number(identifier)) is None:
                    raise PubmillError(f"{path}:{line}: its ROW_ID is no number")
                if is_error.strip() not in ("", "0", "1"):
                    raise PubmillError(f"{path}:{line}: ROW_ID {number}: ISERROR must be 1 or empty")
                kind = category.strip()
                shown = paragraphs(normalised(note) if brackets == "normalise" else note)
                yield Document(
                    id=f"mimic:{number}",
                    languages=("eng",),
                    types=(kind,) if kind else (),
                    licence=LICENCE,
                    sections=tuple(("", paragraph) for paragraph in shown),
                    flags=("error",) if is_error.strip() == "1" else (),
                )
    except (csv.Error, UnicodeDecodeError) as error:
        raise PubmillError(f"{path}: after line {line}: not the CSV that MIMIC-III has ({error})") from None
    except GZIP_FAULTS:
        raise PubmillError(
            f"{path}: truncated or damaged gzip after line {line}; compare its checksum with PhysioNet's "
            f"SHA256SUMS.txt and fetch it again"
        ) from None
    finally:
        # The limit belongs to the process: other readers of CSV keep theirs.
        csv.field_size_limit(former_limit)


def normalised(text: str) -> str:
    """Replace de-identification brackets by words for what they stand for. `[**Hospital1 18**]` gives
    `hospital`, `[**First Name8 (NamePattern2) **]` `first name`, a day or year (`[**2151-7-16**]`,
    `[**2151**]`) `date`, and a bracket without a name `unknown`."""
    return _BRACKETS.sub(lambda match: _placeholder_kind(match[1]), text)


def _placeholder_kind(inside: str) -> str:
    if _DATE.fullmatch(inside):
        return "date"
    # What follows the last `)` has no asides; searching each of its `(` for an end would take quadratic time.
    head, end, tail = inside.rpartition(")")
    return " ".join(_WORD.findall(_ASIDE.sub(" ", head + end) + tail)).lower() or "unknown"
