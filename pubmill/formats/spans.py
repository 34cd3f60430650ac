"""JSON of texts with spans: of characters (spaCy, Prodigy, Flair), or of words (spaCy, GLiNER).

Of characters, the form `spans`:

    {"id": 1, "text": TEXT, "entities": [[start, end, TYPE], {"start": start, "end": end, "label": TYPE}]}
    [TEXT, {"entities": [[start, end, TYPE], ...]}]

as lines or as items of a list. The last form is spaCy's training data; its annotators put the list below
`annotations`. The keys differ by program: `TEXTS`, `SPANS`, `STARTS` and so on list those that are read.
Offsets count characters, and `end` is excluded (`pubmill.formats.offsets` has other counts). A span that
states its text must have that text at its offsets. A span without text is an error.

Of words, the form `word-spans`; `last` is included:

    {"tokenized_text": [word, ...], "ner": [[first, last, TYPE]]}                                     GLiNER
    {"id": 1, "paragraphs": [{"sentences": [{"tokens": [{"orth": word, "ner": "B-TYPE"}, ...]}]}]}    spaCy

The second (spaCy's version 2) has BILUO labels; words that are white space are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.examples.tagging import to_mentions
from pubmill.formats.documents import InputDocument, Passage, TextMention
from pubmill.formats.json_text import json_rows
from pubmill.formats.offsets import USUAL, Offsets, Piece, TextPlaces
from pubmill.messages.quotations import quote, show

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


def rows(text: str, where: str) -> list[tuple[str, Any]]:
    """Return the place and row of each line or item; spaCy's pairs become rows."""
    items = json_rows(text, where, lambda item: has_spans(_row_of_pair(item)) or has_word_spans(item))
    return [(place, _row_of_pair(item)) for place, item in items]


def _row_of_pair(item: Any) -> Any:
    is_pair = isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)
    return {"text": item[0], **item[1]} if is_pair and isinstance(item[1], dict) else item


def has_spans(row: Any) -> bool:
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
    return set(named)


def read_documents(text: str, where: str, offsets: Offsets = USUAL) -> Iterator[InputDocument]:
    """Yield the documents of a file; one without `id` has the file's name and its number, `train-7`."""
    for unnamed, place, row in _named(rows(text, where), where):
        yield _document(row, unnamed, place, offsets)


def _named(rows: Iterable[tuple[str, Any]], where: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    file = re.split("[/:]", where)[-1].partition(".")[0]
    for number, (place, row) in enumerate(rows, 1):
        yield f"{file}-{number}", place, row if isinstance(row, dict) else {}


def _first(row: Mapping[str, Any], keys: Iterable[str], kind: Any) -> Any:
    return next((row[key] for key in keys if isinstance(row.get(key), kind)), None)


def _parts(span: Any) -> _Span | None:
    """Return the parts of a span; None if it has another form."""
    if isinstance(span, list):
        stated = span[3] if len(span) == 4 and isinstance(span[3], str) else None
        numbers = len(span) in (3, 4) and [type(one) for one in span[:3]] == [int, int, str]
        return _Span(span[0], span[1], span[2], stated) if numbers else None
    if not isinstance(span, dict):
        return None
    start, end, length = _whole(span, STARTS), _whole(span, ENDS), _whole(span, ("length",))
    lists = (value for value in span.values() if isinstance(value, list))
    pair = next((value for value in lists if [type(one) for one in value] == [int, int]), None)
    if start is None and pair is not None:
        start, end = pair
    if end is None and start is not None and length is not None:
        end = start + length
    key = next((key for key in TYPES if isinstance(span.get(key), str)), None)
    if start is None or end is None or key is None:
        return None
    stated = next((span[one] for one in STATED if one != key and isinstance(span.get(one), str)), None)
    return _Span(start, end, span[key], stated)


def _whole(span: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    return next((span[key] for key in keys if type(span.get(key)) is int), None)


def _document(row: Mapping[str, Any], unnamed: str, where: str, offsets: Offsets) -> InputDocument:
    text, spans = _first(row, TEXTS, str), _first(row, SPANS, list)
    name = row["id"] if "id" in row else _first(row, IDS, (str, int)) or unnamed
    if text is None or spans is None or not isinstance(name, str | int):
        raise PubmillError(
            f"{where}: expected a text ({', '.join(TEXTS)}), a list of spans ({', '.join(SPANS)}) and, if "
            "there is one, an `id` that is a text or number"
        )
    places = TextPlaces([Piece(0, 0, text)], offsets)
    mentions = [mention for span in spans if (mention := _mention(span, text, places, where))]
    passage = Passage(text=text, offset=0, mentions=mentions)
    return InputDocument(id=str(name), where=where, passages=[passage], misplaced=tuple(places.misplaced))


def _mention(given: Any, text: str, places: TextPlaces, where: str) -> TextMention | None:
    span = _parts(given)
    if span is None or not span.type:
        start, end = (span.start, span.end) if span else (0, 0)
        raise PubmillError(f"{where}: {_FAULT.format(len(text))}; found {start} to {end} of no type")
    place = places.span(span.start, span.end)
    inside = text[slice(*place)] if place else ""
    if place is None or (span.stated is not None and span.stated.split() != inside.split()):
        named, fault = f"{span.start} to {span.end} of {show(span.type)}", _FAULT.format(len(text))
        places.leave_out(f"{where}, {named}", span.stated or "", text, span.start, span.end, fault)
        return None
    return TextMention(start=place[0], end=place[1], type=span.type, text=inside)


_BILUO = re.compile(r"O|[BILU]-.+")


def has_word_spans(row: Any) -> bool:
    """Return whether a row is labelled words in the form of GLiNER or spaCy."""
    keys = row.keys() if isinstance(row, dict) else set()
    if {"tokenized_text", "ner"} <= keys:
        return True
    paragraphs = row["paragraphs"] if "paragraphs" in keys else None
    return isinstance(paragraphs, list) and all(map(_has_words, paragraphs))


def _has_words(paragraph: Any) -> bool:
    sentences = paragraph.get("sentences") if isinstance(paragraph, dict) else None
    return isinstance(sentences, list) and all(
        isinstance(one, dict)
        and isinstance(one.get("tokens"), list)
        and all(isinstance(token, dict) for token in one["tokens"])
        for one in sentences
    )


def read_words(text: str, where: str, offsets: Offsets = USUAL) -> Iterator[InputDocument]:
    """Yield the documents of a file with spans of words: words joined by blanks, sentences by line feeds. One
    without `id` has the file's name and its number."""
    for unnamed, place, row in _named(json_rows(text, where, has_word_spans), where):
        if not has_word_spans(row):
            raise PubmillError(
                f"{place}: expected `tokenized_text` and `ner`, or `paragraphs` of `sentences`"
            )
        sentences, found = _gliner(row, place) if "tokenized_text" in row else _spacy(row, place)
        whole, places = "\n".join(map(" ".join, sentences)), _word_places(sentences)
        mentions: dict[tuple[int, int], TextMention] = {}
        for first, last, kind in found:
            if not 0 <= first <= last < len(places):
                raise PubmillError(
                    f"{place}: the words {first} to {last} are not among the {len(places)} of the document; "
                    "they count from its start, from 0, and the last is included"
                )
            start, end = places[first][0], places[last][1]
            mentions.setdefault(
                (first, last), TextMention(start=start, end=end, type=kind, text=whole[start:end])
            )
        passage = Passage(text=whole, offset=0, mentions=list(mentions.values()))
        yield InputDocument(id=str(row.get("id", unnamed)), where=place, passages=[passage])


WordSpans = tuple[list[list[str]], list[tuple[int, int, str]]]
"""Sentences of words; first and last word of each span, counted from the document's start, and its type."""


def _gliner(row: Mapping[str, Any], where: str) -> WordSpans:
    words, spans = row["tokenized_text"], row["ner"] or []
    sound = isinstance(words, list) and isinstance(spans, list)
    sound = sound and all(isinstance(word, str) and word.split() == [word] for word in words)
    if not sound or not all(
        isinstance(one, list) and [type(part) for part in one[:3]] == [int, int, str] for one in spans
    ):
        raise PubmillError(
            f"{where}: expected `tokenized_text`, a list of words, and in `ner` lists of 2 numbers of words "
            "and a type"
        )
    return [words], [(first, last, kind) for first, last, kind, *_ in spans]


def _spacy(row: Mapping[str, Any], where: str) -> WordSpans:
    sentences: list[list[str]] = []
    found: list[tuple[int, int, str]] = []
    before = 0
    for sentence in (one for paragraph in row["paragraphs"] for one in paragraph["sentences"]):
        tokens = [one for one in sentence["tokens"] if str(one.get("orth", "")).strip()]
        stated = (str(one.get("ner") or "O") for one in tokens)
        labels = ["O" if label == "-" else label for label in stated]  # `-`: not known
        if wrong := next((one for one in labels if not _BILUO.fullmatch(one)), None):
            raise PubmillError(f"{where}: expected BILUO labels as `ner` of the tokens, found {quote(wrong)}")
        sentences.append([str(one["orth"]) for one in tokens])
        found += [
            (before + first, before + after - 1, kind or "Entity")
            for first, after, kind in to_mentions(labels)
        ]
        before += len(tokens)
    return sentences, found


def _word_places(sentences: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    places, start = [], 0
    for words in sentences:
        for word in words:
            places.append((start, start + len(word)))
            start += len(word) + 1
        start += not words
    return places
