"""Documents of a dataset's sentences, from PubTator files of the same corpus.

The files that papers share contain labelled words without documents. A sentence belongs to
the document that contains its text, white space apart: directly after the previous sentence, or else where it
occurs only once, if necessary together with the next one or two sentences. A sentence that is not found
belongs to the document of the nearest found sentences before and after it, if both are from one document.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.formats.pubtator import blocks, title_and_abstract
from pubmill.formats.text_files import lines
from pubmill.messages.quotations import show

_BREAK = "\0"
"""Separator of documents, so that no sentence matches across two."""
_AHEAD = 3
"""Maximum number of consecutive sentences that are searched together, if fewer occur at several places."""


def read_documents(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids of the documents of a PubTator file and their texts without white space. Annotations are
    not read: some published ones are wrong."""
    for block in blocks(lines(path)):
        name, texts = title_and_abstract(block, str(path))
        for number, line in block[len(texts) :]:
            if not line.startswith(f"{name}\t"):
                raise PubmillError(
                    f"{path}:{number}: expected tab-separated columns that begin with {show(name)}'s id"
                )
        yield name, "".join("".join(texts).split())


def documents_of(examples: Sequence[TokensExample], documents: Sequence[tuple[str, str]]) -> list[str | None]:
    """Return the id of each sentence's document, among ids and texts; None where it is not found."""
    names = {text.replace(_BREAK, ""): name for name, text in documents}
    corpus = _BREAK.join(names)
    starts = list(accumulate((len(text) + len(_BREAK) for text in names), initial=0))
    texts = ["".join(one.words) for one in examples]
    owners: list[int | None] = []
    place: int | None = None
    for number, text in enumerate(texts):
        at = _place(corpus, texts[number : number + _AHEAD], place)
        owners.append(None if at is None else bisect_right(starts, at) - 1)
        place = None if at is None else at + len(text)
    # an unknown document between sentences of one document is that document
    before, after = accumulate(owners, _latest), accumulate(reversed(owners), _latest)
    agreed = zip(before, [*after][::-1], strict=True)
    ids = list(names.values())
    return [ids[one] if one is not None and one == other else None for one, other in agreed]


def _place(corpus: str, texts: Sequence[str], after: int | None) -> int | None:
    """Return where the first of several sentences is: at `after` if possible, else at its only place."""
    if after is not None:
        start = after + corpus.startswith(_BREAK, after)
        if corpus.startswith(texts[0], start):
            return start
    for number in range(len(texts)):
        joined = "".join(texts[: number + 1])
        first = corpus.find(joined)
        if first < 0:
            return None
        if corpus.find(joined, first + 1) < 0:
            return first
    return None


def _latest(known: int | None, one: int | None) -> int | None:
    return known if one is None else one
