"""Predictions in BioC and PubTator files: mentions of documents, or the relation of their arguments."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.tagging import to_labels
from pubmill.extras.submissions.alignment import FURTHEST, Lost, align, place_words
from pubmill.extras.submissions.predictions import Normaliser
from pubmill.extras.submissions.rows import PredictedSpan, PredictionRow
from pubmill.formats.document_files import FORMATS
from pubmill.formats.documents import InputDocument
from pubmill.messages.quotations import show


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedDocument:
    """A document with its mentions and types of relations. `text`: its passages, each at its offset."""

    where: str
    id: str
    text: str
    mentions: list[PredictedSpan]
    relations: Sequence[str]


def read(path: Path, form: str) -> Iterator[PredictedDocument]:
    for document in FORMATS[form](path).documents():
        mentions = (one for passage in document.passages for one in passage.mentions)
        yield PredictedDocument(
            where=document.where,
            id=document.id,
            text=_text(document),
            mentions=[PredictedSpan(one.start, one.end, one.type) for one in mentions],
            relations=[relation.type for relation in document.relations],
        )


def _text(document: InputDocument) -> str:
    """Return a text in which each passage begins at its offset; passages that overlap an earlier one are left
    out. Gaps are cut to about `FURTHEST`, as no word is searched further and an offset may be any number."""
    text = ""
    for passage in sorted(document.passages, key=lambda one: one.offset):
        if len(text) <= passage.offset:
            text += " " * min(passage.offset - len(text), FURTHEST + 1) + passage.text
    return text


def rows_of(
    documents: Sequence[PredictedDocument], examples: Sequence[Any], normaliser: Normaliser
) -> list[PredictionRow]:
    """Return rows of predicted documents: mentions for datasets of words, relations for pairs of mentions. A
    document is an example, by its id, or, for words, all examples of a document of the corpus."""
    recipe = normaliser.recipe
    if documents and not any(one.mentions if recipe.kind == "tokens" else one.relations for one in documents):
        raise PubmillError("no prediction in any document; are these the inputs? Nothing was scored")
    if recipe.kind == "sequence" and examples[0].entities:
        return [_relation_row(one, recipe.negative) for one in documents]
    if recipe.kind != "tokens":
        raise PubmillError(
            f"{documents[0].where if documents else recipe.dataset}: BioC and PubTator hold mentions and "
            f"relations, but {recipe.dataset} needs predictions of kind {recipe.kind}; give JSON lines"
        )
    ids, known = {one.id for one in documents}, {example.document for example in examples}
    if None not in known and ids & known and not ids & {example.id for example in examples}:
        return list(_rows_of_corpus_documents(documents, examples, normaliser))
    return [
        PredictionRow(where=one.where, id=one.id, key="mentions", value=one.mentions, text=one.text)
        for one in documents
    ]


def _relation_row(one: PredictedDocument, negative: str | None) -> PredictionRow:
    labels = [*one.relations] or ([negative] if negative is not None else [])
    if len(labels) != 1:
        raise PubmillError(
            f"{one.where}: expected one relation between the arguments of {show(one.id)}, found "
            f"{len(one.relations)}"
        )
    return PredictionRow(where=one.where, id=one.id, key="label", value=labels[0])


def _rows_of_corpus_documents(
    documents: Sequence[PredictedDocument], examples: Sequence[Any], normaliser: Normaliser
) -> Iterator[PredictionRow]:
    of_document: dict[str, list[Any]] = defaultdict(list)
    for example in examples:
        of_document[example.document].append(example)
    ids = Counter(one.id for one in documents)
    faults = {
        "repeated": [name for name, number in ids.items() if number > 1],
        "unknown": [name for name in ids if name not in of_document],
        "missing": [name for name in of_document if name not in ids],
    }
    if any(faults.values()):
        said = "; ".join(
            f"{len(names)} {what} ({', '.join(map(show, names[:5]))})"
            for what, names in faults.items()
            if names
        )
        raise PubmillError(
            f"expected each of the {len(of_document)} documents of the dataset once: {said}. Nothing was "
            "scored"
        )
    for document in documents:
        yield from _rows_of_document(document, of_document[document.id], normaliser)


def _rows_of_document(
    document: PredictedDocument, examples: Sequence[Any], normaliser: Normaliser
) -> Iterator[PredictionRow]:
    """Yield a row of labels for each sentence; a mention across sentences is lost."""
    words = [word for example in examples for word in example.words]
    places = place_words(document.text, words)
    if None in places:
        raise PubmillError(
            f"{document.where}: the text lacks words of the dataset: another variant of it, or other "
            "sentences. Nothing was scored"
        )
    spans = [one._replace(type=normaliser.known(one.type, document.where)) for one in document.mentions]
    mentions, lost = align(spans, places, document.where)
    normaliser.reading.spans += len(spans)
    normaliser.reading.lost += lost
    start = 0
    for example in examples:
        end = start + len(example.words)
        inside = [(a - start, b - start, kind) for a, b, kind in mentions if start <= a and b <= end]
        labels = to_labels(inside, len(example.words), "bio")
        yield PredictionRow(where=document.where, id=example.id, key="labels", value=labels)
        crossing = [one for one in mentions if start <= one[0] < end < one[1]]
        normaliser.reading.lost += [
            Lost(document.where, span, "crosses sentences of the dataset")
            for span in spans
            for a, b, kind in crossing
            if (places[a][0], places[b - 1][1], kind) == span  # type: ignore[index]
        ]
        start = end
