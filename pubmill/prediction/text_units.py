"""Units of new text (sentences or lines) and their words."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pubmill.formats.documents import InputDocument

Span = tuple[int, int]
Split = Callable[[str], list[str]]
"""Sentence splitter: returns the sentences of a line, in order, without surrounding white space."""

WORD = re.compile(r"\w+|[^\w\s]")
"""A word: a run of letters and digits, or any other single character, as in the MTL-Bioinformatics-2016 files
(all words of NCBI-disease and BC5-chem). In JNLPBA, `IL-2` is one word; here it is three."""
_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A sentence or line: its text, its start in the document, and the index of its passage."""

    passage: int
    start: int
    text: str

    @property
    def end(self) -> int:
        """Its end in the document."""
        return self.start + len(self.text)


def units(document: InputDocument, split: Split | None) -> Iterator[Unit]:
    """Yield the lines of each passage, or their sentences if there is a splitter; only those with a word."""
    for number, passage in enumerate(document.passages):
        for line in _LINE.finditer(passage.text):
            for start, end in _sentence_spans(line[0], split):
                if WORD.search(line[0], start, end):
                    begin = passage.offset + line.start() + start
                    yield Unit(passage=number, start=begin, text=line[0][start:end])


def _sentence_spans(line: str, split: Split | None) -> Iterator[Span]:
    if split is None:
        yield 0, len(line)
        return
    done = 0
    for sentence in split(line):
        start = line.index(sentence, done)
        done = start + len(sentence)
        yield start, done


def words(text: str) -> list[Span]:
    """Return the span of each word in a text."""
    return [match.span() for match in WORD.finditer(text)]


def load_splitter(archive: Path | None) -> Split | None:
    """Return NLTK's Punkt splitter with the tables of `punkt_tab.zip`; None without an archive."""
    if archive is None:
        return None
    from pubmill.examples.sentences import SentenceSplitter  # NLTK is optional

    return SentenceSplitter(archive).split
