"""JSON lines of DyGIE++ and PURE: a document with its sentences as words, spans and relations on each line.

`{"doc_key": ID, "sentences": [[word, ...]], "ner": [[[first, last, TYPE]]], "relations": [[[first, last,
first, last, TYPE]]], "events": [...]}`; words count from the document's start, and `last` is included. Other
keys (`clusters`) are not read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.formats.documents import FileRelation, InputDocument, Passage, TextMention
from pubmill.formats.json_text import parse_rows

Span = tuple[int, int]


def read_documents(text: str, where: str, misplaced: bool = False) -> Iterator[InputDocument]:
    """Yield the documents of a file: words joined by blanks, sentences by line feeds."""
    for place, row in parse_rows(text.removesuffix("\n").split("\n"), where):
        yield _document(row, place)


def _document(row: Mapping[str, Any], where: str) -> InputDocument:
    name, sentences = row.get("doc_key"), row.get("sentences")
    if not isinstance(name, str) or not isinstance(sentences, list) or not all(map(_is_sentence, sentences)):
        raise PubmillError(f"{where}: expected `doc_key`, a string, and `sentences`, lists of words")
    places = _word_places(sentences)
    text = "\n".join(" ".join(words) for words in sentences)
    mentions: dict[Span, TextMention] = {}
    for first, last, kind in _items(row, "ner", 3, where):
        start, end = _span(places, first, last, where)
        mention = TextMention(start=start, end=end, type=kind, text=text[start:end], id=f"{first}-{last}")
        mentions.setdefault((first, last), mention)
    relations = []
    for first, last, other, end, kind in _items(row, "relations", 5, where):
        for span in ((first, last), (other, end)):
            if span not in mentions:
                raise PubmillError(
                    f"{where}: a relation has the words {span[0]} to {span[1]}, which no span of `ner` has"
                )
        arguments = (f"{first}-{last}", f"{other}-{end}")
        relations.append(FileRelation(type=kind, arguments=arguments, source=None))
    events = tuple(str(event[0][-1]) for group in row.get("events") or [] for event in group)
    passage = Passage(text=text, offset=0, mentions=list(mentions.values()))
    return InputDocument(id=name, where=where, passages=[passage], relations=relations, events=events)


def _is_sentence(words: Any) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) and word.split() == [word] for word in words)


def _word_places(sentences: Sequence[Sequence[str]]) -> list[Span]:
    """Return the characters of each word of the document."""
    places, start = [], 0
    for words in sentences:
        for word in words:
            places.append((start, start + len(word)))
            start += len(word) + 1
        start += not words
    return places


def _items(row: Mapping[str, Any], key: str, size: int, where: str) -> Iterator[list[Any]]:
    """Yield the entries of all sentences: numbers of words, and a type at the end."""
    lists, sentences = row.get(key) or [], len(row["sentences"])
    if not isinstance(lists, list) or len(lists) not in (0, sentences):
        raise PubmillError(f"{where}: expected in `{key}` a list for each of the {sentences} sentences")
    for items in lists:
        for item in items if isinstance(items, list) else [None]:
            whole = item if isinstance(item, list) and len(item) >= size else [None] * size
            *numbers, kind = whole[:size]
            if not all(type(number) is int for number in numbers) or not isinstance(kind, str):
                raise PubmillError(
                    f"{where}: expected in `{key}` lists of {size - 1} numbers of words and a type"
                )
            yield whole[:size]


def _span(places: Sequence[Span], first: int, last: int, where: str) -> Span:
    if not 0 <= first <= last < len(places):
        raise PubmillError(
            f"{where}: the words {first} to {last} are not among the {len(places)} of the document; they "
            "count from its start, from 0, and the last is included"
        )
    return places[first][0], places[last][1]
