"""JSON lines of annotation tools (doccano, spaCy): a text with its labelled spans on each line.

    {"id": 1, "text": TEXT, "label": [[start, end, TYPE], ...]}
    {"id": 1, "text": TEXT, "entities": [{"id": 7, "start_offset": start, "end_offset": end, "label": TYPE}],
     "relations": [{"from_id": 7, "to_id": 8, "type": TYPE}]}

The text may be named `data`, the spans `labels` or `spans`; offsets count characters, and `end` is excluded.
Spans of `{"start", "end", "label"}` (Prodigy, spaCy) are read too. A span without text is an error.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pubmill.errors import PubmillError
from pubmill.formats.documents import FileRelation, InputDocument, Passage, TextMention
from pubmill.formats.json_text import parse_rows
from pubmill.messages.quotations import show

TEXTS = ("text", "data")
SPANS = ("entities", "label", "labels", "spans")
_KEYS = (("start_offset", "end_offset", "label"), ("start", "end", "label"))


def is_doccano(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a text with a list of spans, which may be empty."""
    spans = _first(row, SPANS, list)
    return _first(row, TEXTS, str) is not None and spans is not None and all(map(_parts, spans))


def read_documents(text: str, where: str, misplaced: bool = False) -> Iterator[InputDocument]:
    """Yield the documents of a file; one without `id` has the number of its line."""
    rows = parse_rows(text.removesuffix("\n").split("\n"), where)
    for number, (place, row) in enumerate(rows, 1):
        yield _document(row, number, place)


def _first(row: Mapping[str, Any], keys: Iterable[str], kind: type) -> Any:
    return next((row[key] for key in keys if isinstance(row.get(key), kind)), None)


def _parts(span: Any) -> tuple[int, int, str] | None:
    """Return start, end and type of a span; None if it has another form."""
    if isinstance(span, dict):
        span = next(([span[key] for key in keys] for keys in _KEYS if span.keys() >= set(keys)), None)
    if not isinstance(span, list) or [type(one) for one in span] != [int, int, str]:
        return None
    return span[0], span[1], span[2]


def _document(row: Mapping[str, Any], number: int, where: str) -> InputDocument:
    text, spans, name = _first(row, TEXTS, str), _first(row, SPANS, list), row.get("id", number)
    if text is None or spans is None or not isinstance(name, str | int):
        raise PubmillError(
            f"{where}: expected a text ({' or '.join(TEXTS)}), a list of spans ({', '.join(SPANS)}) and, if "
            "there is one, an `id` that is a text or number"
        )
    mentions = [_mention(span, text, where) for span in spans]
    relations = [_relation(one, mentions, where) for one in row.get("relations") or []]
    passage = Passage(text=text, offset=0, mentions=mentions)
    return InputDocument(id=str(name), where=where, passages=[passage], relations=relations)


def _mention(span: Any, text: str, where: str) -> TextMention:
    start, end, kind = _parts(span) or (0, 0, "")
    if not 0 <= start < end <= len(text) or not kind:
        raise PubmillError(
            f"{where}: expected spans `[start, end, TYPE]` of characters of the text, which has {len(text)}, "
            f"end excluded; found {start} to {end} of {show(kind) or 'no type'}"
        )
    name = str(span["id"]) if isinstance(span, dict) and "id" in span else None
    return TextMention(start=start, end=end, type=kind, text=text[start:end], id=name)


def _relation(node: Any, mentions: list[TextMention], where: str) -> FileRelation:
    given = node if isinstance(node, dict) else {}
    ends = tuple(str(given.get(key)) for key in ("from_id", "to_id"))
    if not {*ends} <= {one.id for one in mentions} or not isinstance(given.get("type"), str):
        raise PubmillError(
            f"{where}: expected a relation with `type`, `from_id` and `to_id`, the ids of spans of its text"
        )
    return FileRelation(type=given["type"], arguments=ends, source=None)
