"""Named reasons for which a document does not enter a corpus.

Each filter takes a document and the corpus's selection (`pubmill.specs.Selection`) and gives the
reason for a rejection, or None. They apply in the order of `FILTERS`; the first reason counts.

gu2020 section 6.1 leaves out abstracts of fewer than 128 words as noise. Words are here the
whitespace-separated words of the parts that the selection takes, without title and section labels.
"""

import json
from collections.abc import Callable

from pydantic import ValidationError

from pubmill.corpus.licences import flagged, licence
from pubmill.corpus.shards import BOOK, UNREADABLE, Document, Sections, count_words
from pubmill.errors import PubmillError
from pubmill.specs import Selection

Filter = Callable[[Document, Selection], str | None]


def read_selection(argument: str) -> Selection:
    """Read the `--recipe` of a selection: JSON text with the keys of `Selection`."""
    try:
        return Selection.model_validate(json.loads(argument))
    except (json.JSONDecodeError, ValidationError) as error:
        raise PubmillError(f"--recipe: not a selection: {error}") from None


def chosen(document: Document, selection: Selection) -> Sections:
    """The sections that the selection takes of a document, in the document's order."""
    parts = {"abstract": document.sections, "body": document.body}
    return tuple(section for part in selection.parts for section in parts[part])


def text(document: Document, selection: Selection) -> str | None:
    """Every document has text in a part that is taken."""
    if chosen(document, selection):
        return None
    return "no_abstract" if selection.parts == ("abstract",) else "no_text"


def language(document: Document, selection: Selection) -> str | None:
    """At least one of the document's languages is asked for; one that names none is not guessed."""
    if selection.languages is None:
        return None
    if not document.languages:
        return "unknown_language"
    return None if set(document.languages) & set(selection.languages) else "language"


def published(document: Document, selection: Selection) -> str | None:
    """The year of publication lies in the asked-for range, both ends included."""
    first, last = selection.published_from, selection.published_to
    if first is None and last is None:
        return None
    if not document.published:
        return "unknown_year"
    if first is not None and int(document.published) < first:
        return "published_before"
    return "published_after" if last is not None and int(document.published) > last else None


def error_note(document: Document, selection: Selection) -> str | None:
    """The source doesn't say that the document is an error (MIMIC-III's ISERROR)."""
    return "error_note" if "error" in document.flags else None


def unreadable(document: Document, selection: Selection) -> str | None:
    """Its parser could read it, or the source's spec doesn't say that it can't."""
    return UNREADABLE if UNREADABLE in document.flags else None


def book(document: Document, selection: Selection) -> str | None:
    """It is a citation, not a book."""
    return BOOK if BOOK in document.flags else None


def types(document: Document, selection: Selection) -> str | None:
    """At least one of the types that are asked for, and none of those that are not wanted."""
    if selection.types is not None and not set(document.types) & set(selection.types):
        return "type"
    unwanted = set(document.types) & set(selection.without_types or ())
    return "unwanted_type" if unwanted else None


def parts(document: Document, selection: Selection) -> str | None:
    """Every part that is required is there."""
    there = {"title": document.title, "abstract": document.sections, "body": document.body}
    return next((f"no_{part}" for part in selection.requires if not there[part]), None)


def dated(document: Document, selection: Selection) -> str | None:
    """The last revision lies in the asked-for days; a year or month alone where it may lie in them."""
    first, last, date = selection.dated_from, selection.dated_to, document.date
    if first is None and last is None:
        return None
    if not date:
        return "unknown_date"
    if first is not None and date < first[: len(date)]:
        return "dated_before"
    return "dated_after" if last is not None and date > last[: len(date)] else None


def length(document: Document, selection: Selection) -> str | None:
    """At least `min_words` and at most `max_words` words."""
    if selection.min_words is None and selection.max_words is None:
        return None
    words = count_words(chosen(document, selection))
    if selection.min_words is not None and words < selection.min_words:
        return "too_short"
    return "too_long" if selection.max_words is not None and words > selection.max_words else None


FILTERS: tuple[Filter, ...] = (
    error_note, unreadable, book, text, parts, licence, flagged, types, language, published, dated, length,
)  # fmt: skip


def rejection(document: Document, selection: Selection) -> str | None:
    """The first reason to leave the document out, or None."""
    return next((reason for check in FILTERS if (reason := check(document, selection))), None)
