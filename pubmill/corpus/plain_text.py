"""A user's own plain text: a document is a file, a line, or a block between blank lines.

UTF-8, gzipped or not. A document's id is `SOURCE:FILE`, with `:LINE` of its first line if a file has several
documents. If a document is a whole file, its paragraphs (separated by blank lines) are its sections.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from pubmill.corpus.gzipped import read_lines
from pubmill.corpus.shards import Document, single_spaced
from pubmill.errors import PubmillError

Division = Literal["file", "line", "blank-line"]
LONGEST = 64_000_000
"""Most bytes of one document, so that a wrong `documents:` cannot fill the memory."""


def read_plain_text(path: Path, source: str, documents: Division, language: str = "") -> Iterator[Document]:
    """Yield the documents of a text file; all get the code `language`.

    Raises `PubmillError` with file and line for bytes that are not UTF-8, and for a document of more than
    `LONGEST` bytes. Only one document is in memory at a time.
    """
    name = path.name.removesuffix(".gz").removesuffix(".txt")
    for number, text in _split_documents(_read_lines(path), documents, path):
        texts = paragraphs(text)
        if texts:
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


_BLANK_LINES = re.compile(r"(?>\r\n?|\n)[^\S\r\n]*(?>\r\n?|\n)\s*")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which blank lines separate; other line breaks become spaces. NUL
    characters, which some exports leave, become spaces too. Empty paragraphs are left out."""
    parts = (single_spaced(part) for part in _BLANK_LINES.split(text.replace("\0", " ")))
    return [part for part in parts if part.strip()]
