"""Predictions in BioC, PubTator and brat files: mentions of documents, or the relation of their arguments."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.tagging import UNPLACED, to_labels, to_mentions
from pubmill.formats.documents import InputDocument
from pubmill.messages.quotations import show
from pubmill.predictions.alignment import FURTHEST, Lost, place_words
from pubmill.predictions.matching import refuse_ids
from pubmill.predictions.predictions import Normaliser
from pubmill.predictions.rows import PredictedSpan, PredictionRow


def text_of(document: InputDocument) -> str:
    """Return a text in which each passage begins at its offset; passages that overlap an earlier one are left
    out. Gaps are cut to about `FURTHEST`, as no word is searched further and an offset may be any number."""
    text = ""
    for passage in sorted(document.passages, key=lambda one: one.offset):
        if len(text) <= passage.offset:
            text += " " * min(passage.offset - len(text), FURTHEST + 1) + passage.text
    return text


def _mentions(document: InputDocument) -> list[PredictedSpan]:
    of_passages = (one for passage in document.passages for one in passage.mentions)
    return [PredictedSpan(one.start, one.end, one.type) for one in of_passages]


def rows_of(
    documents: Sequence[InputDocument], examples: Sequence[Any], normaliser: Normaliser
) -> list[PredictionRow]:
    """Return rows of predicted documents: mentions for datasets of words, relations for pairs of mentions. A
    document is an example, by its id, or, for words, all examples of a document of the corpus."""
    recipe = normaliser.recipe
    are_words = recipe.kind == "tokens"
    if documents and not any(_mentions(one) if are_words else one.relations for one in documents):
        raise PubmillError("no prediction in any document; are these the inputs? Nothing was scored")
    if recipe.kind == "sequence" and examples[0].entities:
        return [_relation_row(one, recipe.negative) for one in documents]
    if recipe.kind != "tokens":
        raise PubmillError(
            f"{documents[0].where if documents else recipe.dataset}: BioC, PubTator and brat hold mentions "
            f"and relations, but {recipe.dataset} needs predictions of kind {recipe.kind}; give JSON lines"
        )
    ids, known = {one.id for one in documents}, {example.document for example in examples}
    if None not in known and ids & known and not ids & {example.id for example in examples}:
        return list(_rows_of_corpus_documents(documents, examples, normaliser))
    return [
        PredictionRow(where=one.where, id=one.id, key="mentions", value=_mentions(one), text=text_of(one))
        for one in documents
    ]


def _relation_row(one: InputDocument, negative: str | None) -> PredictionRow:
    labels = [relation.type for relation in one.relations] or ([negative] if negative is not None else [])
    if len(labels) != 1:
        raise PubmillError(
            f"{one.where}: expected one relation between the arguments of {show(one.id)}, found "
            f"{len(one.relations)}"
        )
    return PredictionRow(where=one.where, id=one.id, key="label", value=labels[0])


def _rows_of_corpus_documents(
    documents: Sequence[InputDocument], examples: Sequence[Any], normaliser: Normaliser
) -> Iterator[PredictionRow]:
    of_document: dict[str, list[Any]] = defaultdict(list)
    for example in examples:
        of_document[example.document].append(example)
    refuse_ids([one.id for one in documents], list(of_document), "documents", normaliser.recipe.partial)
    for document in documents:
        yield from _rows_of_document(document, of_document[document.id], normaliser)


def _rows_of_document(
    document: InputDocument, examples: Sequence[Any], normaliser: Normaliser
) -> Iterator[PredictionRow]:
    """Yield a row of labels for each sentence. Mentions that have no place, or cross sentences, count as
    those of the longest sentence."""
    starts = [0, *accumulate(len(one.words) for one in examples)]
    places = place_words(text_of(document), (word for one in examples for word in one.words))
    gold = [
        (a + start, b + start, kind)
        for start, one in zip(starts, examples, strict=False)
        for a, b, kind in to_mentions(one.labels)
    ]
    mentions, lost = normaliser.aligned(_mentions(document), places, document.where, gold)
    inside = {
        one: [mention for mention in mentions if starts[one] <= mention[0] and mention[1] <= starts[one + 1]]
        for one in range(len(examples))
    }
    for a, b, kind in sorted(set(mentions).difference(*inside.values())):
        span = PredictedSpan(places[a][0], places[b - 1][1], kind)  # type: ignore[index]
        lost.append(Lost(document.where, span, "crosses sentences of the dataset", b - a))
        normaliser.reading.lost.append(lost[-1])
    longest = max(examples, key=lambda one: len(one.words))
    unplaced = [[one.span.type, min(one.words, len(longest.words))] for one in lost]
    for number, example in enumerate(examples):
        own = [(a - starts[number], b - starts[number], kind) for a, b, kind in inside[number]]
        yield PredictionRow(
            where=document.where,
            id=example.id,
            key="labels",
            value=to_labels(own, len(example.words), "bio"),
            beside={UNPLACED: unplaced} if unplaced and example is longest else {},
        )
