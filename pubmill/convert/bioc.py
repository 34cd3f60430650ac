"""Writer of BioC JSON (Comeau et al. 2013): labelled words, or texts with a label, as annotated documents.

Successive examples of one document are its passages; an example without a document is one of its own. Words
are joined by blanks, as the examples have no other text. Offsets count characters of the document.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import Any

from pubmill.convert.exports import WriterOptions
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample, TokensExample
from pubmill.examples.tagging import to_mentions

UNTYPED = "Entity"
"""The type of mentions whose labels have none (`B`, `I`)."""
Span = tuple[int, int, str]


def write(examples: Sequence[Any], form: WriterOptions) -> Iterator[str]:
    """Yield a collection, document by document; no options."""
    form.refuse_all()
    yield '{"source": "", "date": "", "key": "", "infons": {}, "documents": ['
    documents = groupby(examples, key=lambda one: one.id if one.document is None else one.document)
    for number, (name, passages) in enumerate(documents):
        yield ("," if number else "") + "\n" + json.dumps(_document(name, passages), ensure_ascii=False)
    yield "\n]}\n"


def _document(name: str, examples: Iterator[Any]) -> dict[str, object]:
    passages: list[dict[str, object]] = []
    offset = seen = 0
    for example in examples:
        text, spans, infons = _content(example)
        annotations = [
            {
                "id": f"T{seen + number}",
                "infons": {"type": kind},
                "text": text[start:end],
                "locations": [{"offset": offset + start, "length": end - start}],
            }
            for number, (start, end, kind) in enumerate(spans, 1)
        ]
        passages.append(
            {
                "offset": offset, "infons": {"example": example.id, **infons}, "text": text, "sentences": [],
                "annotations": annotations, "relations": [],
            }
        )  # fmt: skip
        offset, seen = offset + len(text) + 1, seen + len(spans)
    return {"id": name, "infons": {}, "passages": passages, "relations": []}


def _content(example: Any) -> tuple[str, list[Span], dict[str, str]]:
    """Return an example's text, its mentions, and what a passage says of it."""
    if isinstance(example, TokensExample):
        starts = list(accumulate((len(word) + 1 for word in example.words), initial=0))
        mentions = to_mentions(example.labels)
        spans = [(starts[first], starts[last] - 1, kind or UNTYPED) for first, last, kind in mentions]
        return " ".join(example.words), spans, {}
    if isinstance(example, SequenceExample) and example.text_pair is None:
        return example.text, [(e.start, e.end, e.type) for e in example.entities], {"label": example.label}
    raise PubmillError("BioC holds words with labels, or single texts with a label; export it as JSON lines")
