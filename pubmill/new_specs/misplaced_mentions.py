"""Refusal of documents whose mentions are not at their offsets, with what explains them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.formats.document_files import annotated_documents
from pubmill.formats.documents import InputDocument
from pubmill.formats.offsets import Misplaced, Offsets, explanations, parse_offsets

LEAVE_OUT = "--misplaced leave_out"
TRIED = 20
"""Number of misplaced mentions whose distances from their texts are tried as shifts."""
MOST_RAGGED = 0.5
"""Where files do not state the texts of mentions: largest share that may begin or end inside a word."""


def check_offsets(documents: Sequence[InputDocument], files: Collection[Path], form: str) -> None:
    """Raise a `PubmillError` if mentions differ from the text at their offsets: how many, the first of them,
    and the option that reads all of them, if one does."""
    wrong = [one for document in documents for one in document.misplaced]
    right = sum(len(part.mentions) for one in documents for part in one.passages)
    if not wrong:
        _check_edges(documents, right, files, form)
        return
    found = _explained(files, form, wrong, len(wrong))
    if found is None:
        advice = (
            "No shift, unit or title's length explains more of them. Correct the files; or leave these mentions "
            f"out, which makes the dataset another one than its authors': {LEAVE_OUT}"
        )
    else:
        words, left, offsets = found
        rest = f"All but {left} are" if left else "All are"
        advice = f"{rest} at their places if {offsets.described}: --offsets '{words}' reads them so"
        advice += f", and {LEAVE_OUT} with it leaves out the others" if left else ""
    raise PubmillError(
        f"{len(wrong)} of {len(wrong) + right} mentions differ from the text at their offsets, the first "
        f"{wrong[0].shown}. {advice}"
    )


def _explained(
    files: Collection[Path], form: str, wrong: Sequence[Misplaced], most: int
) -> tuple[str, int, Offsets] | None:
    """Return the option by which the fewest mentions are misplaced, with their number; None if none is better
    than `most`."""
    best = None
    for words in explanations(one.distance for one in wrong[:TRIED]):
        offsets = parse_offsets(words)
        left = _count_misplaced(files, form, replace(offsets, leave_out=True), most)
        if left < most:
            best, most = (words, left, offsets), left
        if not most:
            break
    return best


def _count_misplaced(files: Iterable[Path], form: str, offsets: Offsets, most: int) -> int:
    """Return the number of misplaced mentions by a way to count; at least `most` ends the search."""
    number = 0
    for path in files:
        for document in annotated_documents(path, form, "", offsets):
            number += len(document.misplaced)
            if number >= most:
                return number
    return number


def _check_edges(
    documents: Sequence[InputDocument], number: int, files: Collection[Path], form: str
) -> None:
    """Refuse files that state no texts of mentions if most of these begin or end inside a word or with white
    space: then their offsets count in another way."""
    ragged = _ragged(documents)
    if form != "doccano" or len(ragged) <= MOST_RAGGED * number:
        return
    ways = {}
    for words in explanations([-2, 2]):
        read = [
            one
            for path in files
            for one in annotated_documents(path, form, "", replace(parse_offsets(words), leave_out=True))
        ]
        ways[words] = len(_ragged(read)) + sum(len(one.misplaced) for one in read)
    words = min(ways, key=lambda one: ways[one])
    advice = "Correct the files"
    if ways[words] < len(ragged) / 2:
        described = parse_offsets(words).described
        advice = f"They do so in {ways[words]} cases if {described}: --offsets '{words}' reads them so"
    raise PubmillError(
        f"{len(ragged)} of {number} mentions begin or end inside a word or with white space, the first in "
        f"{ragged[0]}, so their offsets seem to count in another way. {advice}"
    )


def _ragged(documents: Iterable[InputDocument]) -> list[str]:
    """Return the places of mentions with an edge inside a word or at white space."""
    found = []
    for document in documents:
        for part in document.passages:
            for one in part.mentions:
                start, end = one.start - part.offset, one.end - part.offset
                edges = ((start - 1, start), (end - 1, end))
                inside = any(
                    0 <= left and right < len(part.text) and (part.text[left] + part.text[right]).isalnum()
                    for left, right in edges
                )
                if inside or one.text != one.text.strip():
                    found.append(f"{document.where}, {one.start} to {one.end}")
    return found
