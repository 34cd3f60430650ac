"""Refusal of documents whose mentions are not at their offsets, with what explains them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.formats.document_files import annotated_documents
from pubmill.formats.documents import InputDocument
from pubmill.formats.offsets import Offsets, explanations, parse_offsets

LEAVE_OUT = "--misplaced leave_out"
UNSTATED = ("spans",)
"""Forms that need not state the texts of mentions."""
TRIED = 20
"""Number of misplaced mentions whose distances from their texts are tried as shifts."""
MOST_RAGGED = 0.5
"""Where texts are not stated: largest share of mentions that may begin or end inside a word."""


def check_offsets(documents: Sequence[InputDocument], files: Collection[Path], form: str) -> None:
    """Raise a `PubmillError` if mentions differ from the text at their offsets: how many, the first of them,
    and the option that reads all or most of them, if one does."""
    wrong = [one for document in documents for one in document.misplaced]
    right = sum(len(part.mentions) for one in documents for part in one.passages)
    ragged = [place for one in documents for place in _ragged(one, form)]
    if not wrong and len(ragged) <= MOST_RAGGED * right:
        return
    if wrong:
        fault = (
            f"{len(wrong)} of {len(wrong) + right} mentions differ from the text at their offsets, the first "
        )
        fault += wrong[0].shown
    else:
        fault = (
            f"{len(ragged)} of {right} mentions begin or end inside a word or with white space, the first "
        )
        fault += f"{ragged[0]}; so their offsets seem to count in another way"
    distances = [one.distance for one in wrong[:TRIED]]
    raise PubmillError(f"{fault}. {_advice(files, form, distances, len(wrong) + len(ragged))}")


def _advice(files: Collection[Path], form: str, distances: Sequence[int | None], doubtful: int) -> str:
    """Return what to do: the option by which the fewest mentions are doubtful, if less than half are."""
    best: tuple[str, Offsets] | None = None
    most = (doubtful + 1) // 2
    for words in explanations(distances):
        offsets = parse_offsets(words)
        left = _count_doubtful(files, form, replace(offsets, leave_out=True), most)
        if left < most:
            best, most = (words, offsets), left
        if not most:
            break
    if best is None:
        return (
            "No shift, unit or title's length explains most of them. Correct the files; or leave misplaced "
            f"mentions out, which makes the dataset another one than its authors': {LEAVE_OUT}"
        )
    words, offsets = best
    named = f"All but {most} are" if most else "All are"
    others = f"; with {LEAVE_OUT} too, what is still misplaced is left out" if most else ""
    return f"{named} at their places if {offsets.described}: --offsets '{words}' reads them so{others}"


def _count_doubtful(files: Iterable[Path], form: str, offsets: Offsets, most: int) -> int:
    """Return the number of doubtful mentions by a way to count; the search ends at `most`."""
    number = 0
    for path in files:
        for document in annotated_documents(path, form, "", offsets):
            number += len(document.misplaced) + len(_ragged(document, form))
            if number >= most:
                return number
    return number


def _ragged(document: InputDocument, form: str) -> list[str]:
    """Return the places of mentions with an edge inside a word or at white space, if the form states no
    texts."""
    found = []
    for part in document.passages if form in UNSTATED else ():
        for one in part.mentions:
            start, end = one.start - part.offset, one.end - part.offset
            inside = any(_is_word(part.text[edge - 1 : edge + 1]) for edge in (start, end) if edge)
            if inside or one.text != one.text.strip():
                found.append(f"{document.where}, {one.start} to {one.end}")
    return found


def _is_word(pair: str) -> bool:
    """Return whether two characters are of one word; other scripts may write words without blanks."""
    return len(pair) == 2 and pair.isascii() and pair.isalnum()
