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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from pubmill.corpus.shards import PMID_DIGITS, Document, single_spaced
from pubmill.errors import PubmillError
from pubmill.storage.archives import GZIP_FAULTS, open_content
from pubmill.storage.strict_parsing import unique_keys, whole_number

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
    """Yield numbered lines with their ends, without a byte order mark. Raises `PubmillError` for damaged
    data, bytes that are not UTF-8, and a line of more than `LONGEST` bytes."""
    number = 0
    try:
        with open_content(path) as raw:
            while line := raw.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise PubmillError(f"{path}:{number}: a line of more than {LONGEST:,} bytes")
                yield number, (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode()
    except GZIP_FAULTS as error:
        raise PubmillError(f"{path}: truncated or damaged gzip after line {number}: {error}") from None
    except UnicodeDecodeError as error:
        raise PubmillError(
            f"{path}:{number}: not UTF-8 (byte {error.start + 1} of the line); convert the file, for example "
            f"with `iconv -f latin1 -t utf-8`"
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

_KEYS = {key: key in ("pmid", "id") for key in (
    "abstract", "text", "title", "licence", "license", "lang", "language", "date", "pmid", "id",
)}  # fmt: skip
"""Keys of a JSON object -> whether a number is allowed."""
_DATE = re.compile(r"(\d{4})(-\d\d(-\d\d)?)?")
_BLANK_LINES = re.compile(r"(?>\r\n?|\n)[^\S\r\n]*(?>\r\n?|\n)\s*")


def read_text(path: Path, source: str, language: str = "") -> Iterator[Document]:
    """Yield every line of a JSON-lines file as a document. `language` applies to lines that state none.
    Raises `PubmillError` with file and line for lines in another form than that described above."""
    for number, line in _read_lines(path):
        if line.strip():
            yield _parse_document(line, source, language, f"{path}:{number}")


def _parse_document(line: str, source: str, language: str, where: str) -> Document:
    try:
        row = json.loads(line, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:  # also for numbers that are too long
        raise PubmillError(f"{where}: not valid JSON: {error}") from None
    found = [row[key] for key in ("abstract", "text") if key in row] if isinstance(row, dict) else []
    if len(found) != 1 or not isinstance(found[0], str):
        raise PubmillError(f'{where}: expected a JSON object with the text under "abstract" or "text"')
    values = dict[str, str]()
    for key, is_number in _KEYS.items():
        value = row.get(key)
        if is_number and isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str | None):
            expected = "text or a whole number" if is_number else "text"
            raise PubmillError(f'{where}: "{key}" must be {expected}, found {value!r:.60}')
        value = value or ""
        try:
            value.encode()
        except UnicodeEncodeError:
            raise PubmillError(f'{where}: "{key}" holds half of a surrogate pair') from None
        values[key] = value if is_number or key == "text" else single_spaced(value)
    title, date, pmid, own_id = values["title"], values["date"], values["pmid"].strip(), values["id"].strip()
    texts = paragraphs(values["text"]) if "text" in row else [values["abstract"]]
    codes = re.split(r"[\s,;]+", (values["lang"] or values["language"] or language).lower())
    try:
        if date and not _DATE.fullmatch(date):
            raise ValueError
        datetime.date.fromisoformat(((date or "2000") + "-01-01")[:10])
    except ValueError:
        fault = f'"date" must be YYYY, YYYY-MM or YYYY-MM-DD, found {date!r:.60}'
        raise PubmillError(f"{where}: {fault}") from None
    if pmid and whole_number(pmid) is None:
        fault = f'"pmid" must be a number of at most {PMID_DIGITS} digits, found {pmid[:40]!r}'
        raise PubmillError(f"{where}: {fault}")
    pmid = str(int(pmid)) if pmid else ""
    digest = hashlib.sha256("\n".join([title, "\n".join(texts)]).encode()).hexdigest()[:16]
    return Document(
        id=f"pmid:{pmid}" if pmid else f"{source}:{own_id}" if own_id else f"text:{digest}",
        pmid=pmid,
        date=date,
        published=date[:4],
        languages=tuple(LANGUAGES.get(code, code) for code in codes if code),
        licence=values["licence"] or values["license"],
        title=title,
        sections=tuple(("", paragraph) for paragraph in texts if paragraph),
    )
