"""A user's own texts: JSON lines and plain text, UTF-8, gzipped or not.

Each line of JSON is an object with the keys:

- `abstract` or `text` (exactly one of them): an abstract, one paragraph; or any other text, whose paragraphs
  (separated by blank lines) are its sections. May be empty, and is then rejected later
  (`no_abstract`).
- `title`, `licence` or `license`: text.
- `pmid`: at most 18 digits; the row's id is then `pmid:N`, so that duplicates between PubMed and this source
  are recognised.
- `id`: the user's own id; the row's id is then `SOURCE:ID`. With neither, the id is `text:` and the first 16
  hex digits of the SHA-256 of title, line feed and text, so that equal texts are one document.
- `lang` or `language`: one or more codes of two or three letters, separated by spaces or commas.
- `date`: YYYY, YYYY-MM or YYYY-MM-DD.

All other keys and empty lines are ignored.

A document of plain text is a file, a line, or a block between blank lines. Its id is `SOURCE:FILE`, with
`:LINE` of its first line if a file has several documents. If a document is a whole file, its paragraphs
(separated by blank lines) are its sections.
"""

import codecs
import datetime
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from pubmill.corpus.gzipped import read_lines
from pubmill.corpus.shards import PMID_DIGITS, Document, single_spaced
from pubmill.errors import PubmillError
from pubmill.storage.strict_parsing import unique_keys

Division = Literal["file", "line", "blank-line"]
LONGEST = 64_000_000
"""Most bytes of one document, so that a wrong `documents:` cannot fill the memory."""


def read_plain_text(path: Path, source: str, documents: Division, language: str = "") -> Iterator[Document]:
    """Yield the documents of a text file; all get the code `language`. Raises `PubmillError` with file and
    line for bytes that are not UTF-8, and for a document of more than `LONGEST` bytes. One document is in
    memory at a time."""
    name = path.name.removesuffix(".gz").removesuffix(".txt")
    for number, text in _split_documents(_read_lines(path), documents, path):
        if texts := paragraphs(text):
            yield Document(
                id=f"{source}:{name}" + ("" if documents == "file" else f":{number}"),
                languages=(language,) if language else (),
                sections=tuple(("", paragraph) for paragraph in texts),
            )


def _split_documents(
    lines: Iterable[tuple[int, str]], documents: Division, path: Path
) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, text) of each document."""
    begun, size, gathered = 1, 0, list[str]()
    for number, line in lines:
        blank = not line.strip()
        if documents == "line" or (documents == "blank-line" and blank):
            yield begun, "".join(gathered)
            begun, size, gathered = number, 0, []
        if not gathered and not blank:
            begun = number
        size += len(line)
        if size > LONGEST:
            raise PubmillError(
                f"{path}:{number}: the document that begins on line {begun} has more than {LONGEST:,} "
                f"characters; is `documents: {documents}` how the file is divided?"
            )
        if gathered or not blank:
            gathered.append(line)
    yield begun, "".join(gathered)


def _read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines with their ends, without a byte order mark."""
    for number, line in read_lines(path, LONGEST):
        try:
            yield number, (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode()
        except UnicodeDecodeError as error:
            raise PubmillError(
                f"{path}:{number}: not UTF-8 (byte {error.start + 1} of the line); convert the file, for "
                f"example with `iconv -f latin1 -t utf-8`"
            ) from None


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which blank lines separate; other line breaks become spaces. NUL
    characters, which some exports leave, become spaces too. Empty paragraphs are left out."""
    parts = (single_spaced(part) for part in _BLANK_LINES.split(text.replace("\0", " ")))
    return [part for part in parts if part.strip()]


# ISO 639-1 codes to PubMed's three-letter codes (ISO 639-2/B), for the more common languages in PubMed.
LANGUAGES = {
    "af": "afr", "ar": "ara", "bg": "bul", "bs": "bos", "ca": "cat", "cs": "cze", "da": "dan",
    "de": "ger", "el": "gre", "en": "eng", "es": "spa", "et": "est", "eu": "baq", "fa": "per",
    "fi": "fin", "fr": "fre", "he": "heb", "hr": "hrv", "hu": "hun", "hy": "arm", "is": "ice",
    "it": "ita", "ja": "jpn", "ka": "geo", "ko": "kor", "la": "lat", "lt": "lit", "lv": "lav",
    "mk": "mac", "nl": "dut", "no": "nor", "pl": "pol", "pt": "por", "ro": "rum", "ru": "rus",
    "sk": "slo", "sl": "slv", "sq": "alb", "sr": "srp", "sv": "swe", "th": "tha", "tr": "tur",
    "uk": "ukr", "vi": "vie", "zh": "chi",
}  # fmt: skip

_DATE = re.compile(r"(\d{4})(-\d\d(-\d\d)?)?")
_BLANK_LINES = re.compile(r"(?>\r\n?|\n)[^\S\r\n]*(?>\r\n?|\n)\s*")


def read_text(path: Path, source: str, language: str = "") -> Iterator[Document]:
    """Yield every line of a JSON-lines file as a document. `language` applies to lines that state none.
    Raises `PubmillError` with file and line for lines in another form than that described above."""
    for number, line in read_lines(path, LONGEST):
        if line.strip():
            yield _parse_document(line, source, language, f"{path}:{number}")


def _parse_document(line: bytes, source: str, language: str, where: str) -> Document:
    row = _parse_row(line, where)
    title = _spaced(row, where, "title")
    texts = [_spaced(row, where, "abstract")]
    if "text" in row:
        texts = paragraphs(_text_value(row, "text", where))
    date = _spaced(row, where, "date")
    codes = re.split(r"[\s,;]+", (_spaced(row, where, "lang", "language") or language).lower())
    identifier = _document_id(row, source, title, "\n".join(texts), where)
    return Document(
        id=identifier,
        pmid=identifier.removeprefix("pmid:") if identifier.startswith("pmid:") else "",
        date=_check_date(date, where),
        published=date[:4],
        languages=tuple(LANGUAGES.get(code, code) for code in codes if code),
        licence=_spaced(row, where, "licence", "license"),
        title=title,
        sections=tuple(("", paragraph) for paragraph in texts if paragraph),
    )


def _parse_row(line: bytes, where: str) -> dict[str, object]:
    try:
        row = json.loads(line, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:  # also for invalid UTF-8 and numbers that are too long
        raise PubmillError(f"{where}: not valid JSON: {error}") from None
    texts = [row[key] for key in ("abstract", "text") if key in row] if isinstance(row, dict) else []
    if not isinstance(row, dict) or len(texts) != 1 or not isinstance(texts[0], str):
        raise PubmillError(f'{where}: expected a JSON object with the text under "abstract" or "text"')
    return row


def _spaced(row: Mapping[str, object], where: str, *keys: str) -> str:
    """Return the first value under these keys that has text, single-spaced; "" if none has."""
    return next(filter(None, (single_spaced(_text_value(row, key, where)) for key in keys)), "")


def _text_value(row: Mapping[str, object], key: str, where: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise PubmillError(f'{where}: "{key}" must be text, found {type(value).__name__}')
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PubmillError(f'{where}: "{key}" holds half of a surrogate pair') from None
    return value


def _document_id(row: Mapping[str, object], source: str, title: str, text: str, where: str) -> str:
    identifiers = {key: row[key] for key in ("pmid", "id") if row.get(key) not in (None, "")}
    for key, value in identifiers.items():
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise PubmillError(f'{where}: "{key}" must be text or a whole number, found {value!r:.60}')
        name = (_text_value(row, key, where) if isinstance(value, str) else str(value)).strip()
        if key == "id":
            return f"{source}:{name}"
        if not (name.isascii() and name.isdigit() and len(name) <= PMID_DIGITS):
            raise PubmillError(
                f'{where}: "pmid" must be a number of at most {PMID_DIGITS} digits, found {name[:40]!r}'
            )
        return f"pmid:{int(name)}"
    return "text:" + hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16]


def _check_date(date: str, where: str) -> str:
    if not date:
        return ""
    try:
        if not _DATE.fullmatch(date):
            raise ValueError
        datetime.date.fromisoformat((date + "-01-01")[:10])
    except ValueError:
        raise PubmillError(
            f'{where}: "date" must be YYYY, YYYY-MM or YYYY-MM-DD, found {date!r:.60}'
        ) from None
    return date
