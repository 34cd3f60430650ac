"""Documents with mentions and relations, as files have them and as models annotate them.

Offsets count characters (Unicode code points), as PubTator and BioC files do in practice; never bytes. They
start after a byte-order mark, which is not part of a file's text and is not written again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from pubmill.formats.offsets import Misplaced


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMention:
    """A mention of the characters `start` to `end` (exclusive) of a document. `id`: identifier in relations;
    `source`: its form in the file, None if it was predicted; `confidence`: a probability, if requested;
    `spans`: its pieces, if they are several; `concepts`: the identifiers of its concepts, as the file states
    them; `role`: `whole` or `part` of a composite mention."""

    start: int
    end: int
    type: str
    text: str
    id: str | None = None
    source: Any = None
    confidence: float | None = None
    spans: tuple[tuple[int, int], ...] = ()
    concepts: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A predicted relation of two mentions; `confidence`: a probability, if requested."""

    type: str
    arguments: tuple[TextMention, TextMention]
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRelation:
    """A relation in the file. `arguments`: identifiers of the related items; `id`: its own identifier;
    `source`: its form in the file; `concepts`: the related concepts, where the file relates these and not
    mentions; `novelty`: what the file states of it (BioRED)."""

    type: str
    arguments: tuple[str, ...]
    source: Any
    id: str | None = None
    concepts: tuple[str, ...] = ()
    novelty: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a document that is read separately. `offset`: start of its text in the document; `mentions`:
    those in the file; `source`: its form in the file, if the format needs it."""

    text: str
    offset: int
    mentions: list[TextMention] = field(default_factory=list)
    source: Any = None


def passages_of(texts: Iterable[str], mentions: Sequence[TextMention]) -> list[Passage]:
    """Return a passage for each text (such as title and abstract) with its mentions. Offsets count characters
    from the start of the first text; one character separates two texts."""
    passages, offset = [], 0
    for text in texts:
        inside = [one for one in mentions if offset <= one.start < offset + len(text)]
        passages.append(Passage(text=text, offset=offset, mentions=inside))
        offset += len(text) + 1
    return passages


@dataclass(frozen=True, slots=True, kw_only=True)
class InputDocument:
    """A document of a file. `where`: file and line or document number, for messages; `relations`: those in
    the file; `events`: the types of its events; `misplaced`: the mentions that the reader left out
    because they differ from the text at their offsets."""

    id: str
    where: str
    passages: list[Passage]
    relations: list[FileRelation] = field(default_factory=list)
    source: Any = None
    events: tuple[str, ...] = ()
    misplaced: tuple[Misplaced, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """A document with predictions for each passage: mentions, or, if `mentions` is None, relations between
    the mentions in the file.

    `own`: the types that the model predicts. Only annotations of these types in the file are replaced.
    """

    document: InputDocument
    own: frozenset[str] = frozenset()
    mentions: list[list[TextMention]] | None = None
    relations: list[list[Relation]] | None = None

    def keeps(self, mention: TextMention) -> bool:
        """Return whether a mention in the file is kept."""
        return self.mentions is None or mention.type not in self.own

    def kept_relations(self) -> list[FileRelation]:
        """Return the file's relations to keep: not of the model's types, and without replaced arguments."""
        kept = self.document.relations
        gone: set[str | None] = set()
        if self.mentions is None:
            lost = [relation for relation in kept if relation.type in self.own]
        else:
            mentions = [mention for passage in self.document.passages for mention in passage.mentions]
            gone = {m.id for m in mentions} - {m.id for m in mentions if self.keeps(m)}
            lost = [relation for relation in kept if gone.intersection(relation.arguments)]
        while lost:  # relations can be arguments of relations
            kept = [relation for relation in kept if relation not in lost]
            gone = {relation.id for relation in lost}
            lost = [relation for relation in kept if gone.intersection(relation.arguments)]
        return kept


class DocumentFile(Protocol):
    """A file of documents in some format, which also writes them with their annotations."""

    def __init__(self, path: Path) -> None: ...

    def documents(self) -> Iterator[InputDocument]: ...

    def write(self, annotated: Iterable[Annotated], output: IO[str]) -> None: ...
