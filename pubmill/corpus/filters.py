"""Filters that reject documents from a corpus, each with a named reason.

Each filter takes a document and the corpus's `SelectionRecipe`, and returns the reason for a rejection, or
None. They apply in the order of `FILTERS`; the first reason counts.

gu2020 section 6.1 leaves out abstracts of fewer than 128 words as noise. Words here are the
whitespace-separated words of the parts that the selection takes, without title and section labels.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.shards import (
    BOOK,
    UNREADABLE,
    Document,
    Sections,
    count_words,
    joined,
    read_reasons,
    read_shard,
)  # fmt: skip
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe


def selected_sections(document: Document, selection: SelectionRecipe) -> Sections:
    """Return the sections of a document that the selection takes, in the document's order."""
    parts = {"abstract": document.sections, "body": document.body}
    return tuple(section for part in selection.parts for section in parts[part])


def text(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep documents with text in a part that the selection takes."""
    if selected_sections(document, selection):
        return None
    return "no_abstract" if selection.parts == ("abstract",) else "no_text"


def language(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep documents in a requested language; a missing language is not guessed."""
    if selection.languages is None:
        return None
    if not document.languages:
        return "unknown_language"
    return None if set(document.languages) & set(selection.languages) else "language"


def published(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep documents whose year of publication is in the requested range, both ends included."""
    first, last = selection.published_from, selection.published_to
    if first is None and last is None:
        return None
    if not document.published:
        return "unknown_year"
    if first is not None and int(document.published) < first:
        return "published_before"
    return "published_after" if last is not None and int(document.published) > last else None


_MARKED = {"error": "error_note", UNREADABLE: UNREADABLE, BOOK: BOOK}


def marked(document: Document, selection: SelectionRecipe) -> str | None:
    """Reject notes that their source marks as an error (MIMIC-III's ISERROR), documents that the parser or
    the source's spec reports as unreadable, and books: only citations are kept."""
    return next((reason for flag, reason in _MARKED.items() if flag in document.flags), None)


def types(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep documents with at least one requested type and none of the unwanted ones."""
    if selection.types is not None and not set(document.types) & set(selection.types):
        return "type"
    unwanted = set(document.types) & set(selection.without_types or ())
    return "unwanted_type" if unwanted else None


def parts(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep documents that have all required parts."""
    there = {"title": document.title, "abstract": document.sections, "body": document.body}
    return next((f"no_{part}" for part in selection.requires if not there[part]), None)


def dated(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep documents last revised in the requested days; a year or month alone passes if it may match."""
    first, last, date = selection.dated_from, selection.dated_to, document.date
    if first is None and last is None:
        return None
    if not date:
        return "unknown_date"
    if first is not None and date < first[: len(date)]:
        return "dated_before"
    return "dated_after" if last is not None and date > last[: len(date)] else None


def length(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep documents of at least `min_words` and at most `max_words` words."""
    if selection.min_words is None and selection.max_words is None:
        return None
    words = count_words(selected_sections(document, selection))
    if selection.min_words is not None and words < selection.min_words:
        return "too_short"
    return "too_long" if selection.max_words is not None and words > selection.max_words else None


GROUPS = {
    "CC0": "commercial", "CC BY": "commercial", "CC BY-SA": "commercial", "CC BY-ND": "commercial",
    "CC BY-NC": "noncommercial", "CC BY-NC-SA": "noncommercial", "CC BY-NC-ND": "noncommercial",
}  # fmt: skip
"""PMC's group of each licence; all others (none, custom, text mining only) are in `other`."""


def licence(document: Document, selection: SelectionRecipe) -> str | None:
    """Keep PMC articles whose licence group is requested; documents of other sources always pass."""
    if selection.licences is None or not document.id.startswith("pmc:"):
        return None
    return None if GROUPS.get(document.licence, "other") in selection.licences else "licence"


def flagged(document: Document, selection: SelectionRecipe) -> str | None:
    """Reject documents with an unwanted flag; the reason is the first such flag."""
    return next((flag for flag in selection.without if flag in document.flags), None)


FILTERS: tuple[Callable[[Document, SelectionRecipe], str | None], ...] = (
    marked, text, parts, licence, flagged, types, language, published, dated, length,
)  # fmt: skip


def rejection(document: Document, selection: SelectionRecipe) -> str | None:
    """Return the first reason to reject the document, or None."""
    return next((reason for check in FILTERS if (reason := check(document, selection))), None)


def with_reasons(
    shard: Path, index: int, latest: Path, selection: SelectionRecipe, excluded: EvaluationTexts | None
) -> Iterator[tuple[int, Document, str | None]]:
    """Yield (position, document, reason or None) for each citation of a parsed shard. `index` is the shard's
    index in `latest`. The first reason counts: first that the citation is not current, then the filters, then
    `contamination`: it contains one of the `excluded` texts."""
    reasons = iter(read_reasons(latest, index).items())
    for position, document in read_shard(shard):
        current, reason = next(reasons, (None, None))
        if current != position:
            raise PubmillError(
                f"{latest} knows position {current} where {shard} has position {position} ({document.id}): "
                f"it was made from other shards. Delete it and run again."
            )
        reason = reason or rejection(document, selection)
        if reason is None and excluded is not None:
            text = f"{document.title}\n{joined(selected_sections(document, selection))}"
            reason = "contamination" if excluded.matches(document.pmid, text) else None
        yield position, document, reason
