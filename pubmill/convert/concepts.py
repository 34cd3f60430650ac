"""Identifiers and documents for a dataset's sentences, from PubTator files of the same corpus.

The files that papers share contain labelled words without documents and identifiers. A sentence belongs to
the document that contains its text, white space apart: directly after the previous sentence, or else where it
occurs only once, if necessary together with the next one or two sentences. A sentence that is not found
belongs to the document of the nearest found sentences before and after it, if both are from one document. A
mention has the identifiers that its document gives to the same words.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.examples.concept_files import Concepts, ExampleConcepts
from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import to_mentions
from pubmill.formats.pubtator import blocks, title_and_abstract
from pubmill.formats.text_files import read_lines
from pubmill.messages.quotations import show

_BETWEEN = re.compile(r"[|+,;]")
"""What separates identifiers: of several concepts, or of the parts of a composite one."""
_NONE = frozenset({"", "-", "-1"})
_BREAK = "\0"
"""Separator of documents, so that no sentence matches across two."""
_AHEAD = 3
"""Maximum number of consecutive sentences that are searched together, if fewer occur at several places."""


class AnnotatedDocument(NamedTuple):
    """A document of a PubTator file: text, and text of a mention -> identifiers; white space is removed."""

    id: str
    text: str
    identifiers: Mapping[str, frozenset[str]]


def read_documents(path: Path) -> Iterator[AnnotatedDocument]:
    """Yield the documents of a PubTator file. Offsets are not read: some published ones are wrong."""
    for block in blocks(read_lines(path)):
        name, texts = title_and_abstract(block, str(path))
        identifiers: dict[str, frozenset[str]] = {}
        for number, line in block[len(texts) :]:
            columns = line.split("\t")
            if columns[0] != name or len(columns) < 4:
                raise PubmillError(
                    f"{path}:{number}: expected tab-separated columns that begin with {show(name)}'s id"
                )
            if len(columns) > 5 and columns[1].isdecimal():
                words = _without_blanks(columns[3])
                named = frozenset(map(str.strip, _BETWEEN.split(columns[5]))) - _NONE
                identifiers[words] = identifiers.get(words, frozenset()) | named
        yield AnnotatedDocument(name, _without_blanks("".join(texts)), identifiers)


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def concepts_of(
    splits: Mapping[str, Sequence[TokensExample]], documents: Sequence[AnnotatedDocument]
) -> Concepts:
    """Return documents and identifiers of the examples whose documents are found."""
    by_text = {one.text.replace(_BREAK, ""): one for one in documents}
    corpus = _Corpus(list(by_text.values()))
    return {split: dict(corpus.concepts(examples)) for split, examples in splits.items()}


class _Corpus:
    """The texts of documents, in which sentences are searched."""

    def __init__(self, documents: Sequence[AnnotatedDocument]) -> None:
        self._documents = documents
        self._text = _BREAK.join(one.text for one in documents)
        lengths = (len(one.text) + len(_BREAK) for one in documents)
        self._starts = list(accumulate(lengths, initial=0))

    def concepts(self, examples: Sequence[TokensExample]) -> Iterator[tuple[str, ExampleConcepts]]:
        """Yield the ids of the examples whose documents are found, with document and identifiers."""
        for example, owner in zip(examples, self._documents_of(examples), strict=True):
            if owner is not None:
                document = self._documents[owner]
                mentions = ((start, end) for start, end, _ in to_mentions(example.labels))
                identifiers = {
                    span: names
                    for span in mentions
                    if (names := document.identifiers.get("".join(example.words[slice(*span)])))
                }
                yield example.id, ExampleConcepts(document.id, identifiers)

    def _documents_of(self, examples: Sequence[TokensExample]) -> list[int | None]:
        """Return the number of each sentence's document."""
        texts = ["".join(one.words) for one in examples]
        owners: list[int | None] = []
        place: int | None = None
        for number, text in enumerate(texts):
            at = self._place(texts[number : number + _AHEAD], place)
            owners.append(None if at is None else bisect_right(self._starts, at) - 1)
            place = None if at is None else at + len(text)
        return _with_gaps_filled(owners)

    def _place(self, texts: Sequence[str], after: int | None) -> int | None:
        """Return where the first of several sentences is: at `after` if possible, else at its only place."""
        if after is not None:
            start = after + self._text.startswith(_BREAK, after)
            if self._text.startswith(texts[0], start):
                return start
        for number in range(len(texts)):
            joined = "".join(texts[: number + 1])
            first = self._text.find(joined)
            if first < 0:
                return None
            if self._text.find(joined, first + 1) < 0:
                return first
        return None


def _with_gaps_filled(owners: Sequence[int | None]) -> list[int | None]:
    """Return the documents; an unknown one between sentences of one document becomes that document."""
    before, after = accumulate(owners, _latest), accumulate(reversed(owners), _latest)
    return [one if one == other else None for one, other in zip(before, [*after][::-1], strict=True)]


def _latest(known: int | None, one: int | None) -> int | None:
    return known if one is None else one
