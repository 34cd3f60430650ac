"""What of a new text is read at once, and its words."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pubmill.prediction.documents import Document

Span = tuple[int, int]
Split = Callable[[str], list[str]]
"""A splitter: the sentences of a line, in order, without the white space around them."""

WORD = re.compile(r"\w+|[^\w\s]")
"""Letters and digits together, and every other character by itself: so are the words of the
MTL-Bioinformatics-2016 files (all of NCBI-disease's and BC5-chem's). JNLPBA's `IL-2`, one word there, is
three here."""
_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A sentence, or a line: its text, where it begins in its document, and in which passage it stands."""

    passage: int
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def units(document: Document, split: Split | None) -> Iterator[Unit]:
    """The lines of each passage, or the sentences that `split` finds in them; none without a word."""
    for number, passage in enumerate(document.passages):
        for line in _LINE.finditer(passage.text):
            for start, end in _sentences(line[0], split):
                if WORD.search(line[0], start, end):
                    begin = passage.offset + line.start() + start
                    yield Unit(passage=number, start=begin, text=line[0][start:end])


def _sentences(line: str, split: Split | None) -> Iterator[Span]:
    if split is None:
        yield 0, len(line)
        return
    done = 0
    for sentence in split(line):
        start = line.index(sentence, done)
        done = start + len(sentence)
        yield start, done


def words(text: str) -> list[Span]:
    """Characters of each word of a text."""
    return [match.span() for match in WORD.finditer(text)]


def load_splitter(archive: Path | None) -> Split | None:
    """NLTK's Punkt with the tables of `punkt_tab.zip`; None without an archive."""
    if archive is None:
        return None
    from pubmill.annotation.sentences import (
        SentenceSplitter,  # only here: without it, NLTK needn't be installed
    )

    return SentenceSplitter(archive).split
