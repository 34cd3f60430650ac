"""JSON of annotation tools and libraries (doccano, Prodigy, spaCy, Flair, GLiNER's output): texts with spans.

    {"id": 1, "text": TEXT, "label": [[start, end, TYPE], ...]}
    {"id": 1, "text": TEXT, "entities": [{"id": 7, "start_offset": start, "end_offset": end, "label": TYPE}],
     "relations": [{"from_id": 7, "to_id": 8, "type": TYPE}]}
    [TEXT, {"entities": [[start, end, TYPE], ...]}]

as lines or as items of a list. The last form is spaCy's training data; its annotators put the list below
`annotations`. The keys differ by program: `TEXTS`, `SPANS`, `STARTS` and so on list those that are read.
Offsets count characters, and `end` is excluded (`pubmill.formats.offsets` has other counts). A span that
states its text must have that text at its offsets. A span without text is an error.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.formats.documents import FileRelation, InputDocument, Passage, TextMention
from pubmill.formats.json_text import json_rows
from pubmill.formats.offsets import USUAL, Misplaced, Offsets, Piece, TextPlaces, misplaced
from pubmill.messages.quotations import show

TEXTS = ("text", "data", "sentence", "content", "raw")
SPANS = ("entities", "label", "labels", "spans", "ents", "annotations", "mentions", "ner", "ner_spans")
IDS = ("id", "doc_id", "document_id", "docid", "pmid")
STARTS = ("start", "start_offset", "start_char", "startOffset", "start_index", "begin", "from", "offset")
ENDS = ("end", "end_offset", "end_char", "endOffset", "end_index", "stop", "to")
TYPES = ("label", "type", "entity_type", "entity_group", "category", "tag", "class", "entity")
STATED = ("text", "word", "mention", "surface", "value", "span", "name", "entity")
"""Keys of a row and of its spans, those that are preferred first."""


_FAULT = (
    "expected spans `[start, end, TYPE]` of characters of the text, which has {}, end excluded, and with the "
    "text that they state, if they do"
)


class _Span(NamedTuple):
    start: int
    end: int
    type: str
    stated: str | None
    id: str | None


def rows(text: str, where: str) -> list[tuple[str, Any]]:
    """Return the place and row of each line or item; spaCy's pairs become rows."""
    items = json_rows(text, where, lambda item: is_doccano(_row_of_pair(item)))
    return [(place, _row_of_pair(item)) for place, item in items]


def _row_of_pair(item: Any) -> Any:
    is_pair = isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)
    return {"text": item[0], **item[1]} if is_pair and isinstance(item[1], dict) else item


def is_doccano(row: Any) -> bool:
    """Return whether a row is a text with a list of spans, which may be empty."""
    if not isinstance(row, dict):
        return False
    spans = _first(row, SPANS, list)
    return _first(row, TEXTS, str) is not None and spans is not None and all(map(_parts, spans))


def spans_of(row: Mapping[str, Any]) -> list[Any]:
    """Return the spans of a row; empty without any."""
    return _first(row, SPANS, list) or []


def keys_read(row: Mapping[str, Any]) -> set[str]:
    """Return the keys of a row that are read."""
    kinds = ((TEXTS, str), (SPANS, list), (IDS, (str, int)))
    named = (next((key for key in keys if isinstance(row.get(key), kind)), "") for keys, kind in kinds)
    return {*named, "relations"}


def read_documents(text: str, where: str, offsets: Offsets = USUAL) -> Iterator[InputDocument]:
    """Yield the documents of a file; one without `id` has the file's name and its number, `train-7`."""
    file = re.split("[/:]", where)[-1].partition(".")[0]
    for number, (place, row) in enumerate(rows(text, where), 1):
        yield _document(row if isinstance(row, dict) else {}, f"{file}-{number}", place, offsets)


def _first(row: Mapping[str, Any], keys: Iterable[str], kind: Any) -> Any:
    return next((row[key] for key in keys if isinstance(row.get(key), kind)), None)


def _parts(span: Any) -> _Span | None:
    """Return the parts of a span; None if it has another form."""
    if isinstance(span, list):
        stated = span[3] if len(span) == 4 and isinstance(span[3], str) else None
        numbers = len(span) in (3, 4) and [type(one) for one in span[:3]] == [int, int, str]
        return _Span(span[0], span[1], span[2], stated, None) if numbers else None
    if not isinstance(span, dict):
        return None
    start, end, length = _whole(span, STARTS), _whole(span, ENDS), _whole(span, ("length",))
    pair = next((value for value in span.values() if _is_pair(value)), None)
    if start is None and pair is not None:
        start, end = pair
    if end is None and start is not None and length is not None:
        end = start + length
    key = next((key for key in TYPES if isinstance(span.get(key), str)), None)
    kind = span[key] if key else _only(span.get("labels"))
    if start is None or end is None or kind is None:
        return None
    stated = next((span[one] for one in STATED if one != key and isinstance(span.get(one), str)), None)
    return _Span(start, end, kind, stated, str(span["id"]) if "id" in span else None)


def _whole(span: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    return next((span[key] for key in keys if type(span.get(key)) is int), None)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and [type(one) for one in value] == [int, int]


def _only(labels: Any) -> str | None:
    """Return the only item of a list of texts."""
    return labels[0] if isinstance(labels, list) and [type(one) for one in labels] == [str] else None


def _document(row: Mapping[str, Any], unnamed: str, where: str, offsets: Offsets) -> InputDocument:
    text, spans = _first(row, TEXTS, str), _first(row, SPANS, list)
    name = row["id"] if "id" in row else _first(row, IDS, (str, int)) or unnamed
    if text is None or spans is None or not isinstance(name, str | int):
        raise PubmillError(
            f"{where}: expected a text ({', '.join(TEXTS)}), a list of spans ({', '.join(SPANS)}) and, if "
            "there is one, an `id` that is a text or number"
        )
    places, mentions, wrong = TextPlaces([Piece(0, 0, text)], offsets), list[TextMention](), list[Misplaced]()
    for span in spans:
        mention = _mention(span, text, places, where)
        if isinstance(mention, TextMention):
            mentions.append(mention)
        elif offsets.leave_out:
            wrong.append(mention)
        else:
            raise PubmillError(f"{where}: {_FAULT.format(len(text))}; {mention.shown}")
    relations = [_relation(one, mentions, where) for one in row.get("relations") or []]
    passage = Passage(text=text, offset=0, mentions=mentions)
    return InputDocument(
        id=str(name), where=where, passages=[passage], relations=relations,
        misplaced=tuple(wrong),
    )  # fmt: skip


def _mention(given: Any, text: str, places: TextPlaces, where: str) -> TextMention | Misplaced:
    span = _parts(given)
    if span is None or not span.type:
        start, end = (span.start, span.end) if span else (0, 0)
        raise PubmillError(f"{where}: {_FAULT.format(len(text))}; found {start} to {end} of no type")
    place = places.span(span.start, span.end)
    inside = text[slice(*place)] if place else ""
    if place is None or (span.stated is not None and span.stated.split() != inside.split()):
        named = f"{span.start} to {span.end} of {show(span.type)}"
        return misplaced(f"{where}, {named}", span.stated or "", text, span.start, span.end)
    return TextMention(start=place[0], end=place[1], type=span.type, text=inside, id=span.id)


def _relation(node: Any, mentions: list[TextMention], where: str) -> FileRelation:
    given = node if isinstance(node, dict) else {}
    ends = tuple(str(given.get(key)) for key in ("from_id", "to_id"))
    if not {*ends} <= {one.id for one in mentions} or not isinstance(given.get("type"), str):
        raise PubmillError(
            f"{where}: expected a relation with `type`, `from_id` and `to_id`, the ids of spans of its text"
        )
    return FileRelation(type=given["type"], arguments=ends, source=None)
