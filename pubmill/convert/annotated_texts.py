"""Converter of documents with mentions and relations (PubTator, BioC, brat) to examples.

A document's text consists of its passages, each at its offset, with line feeds in the gaps. These options of
`mentions` and `nested_mentions` control how a file is read; the error for a missing option names it:

- `form`: the format of the source `SPLIT` or `archive`: `pubtator`, `bioc-xml`, `bioc-json`, `brat`,
  `spans` or `word-spans` (whose words and sentences are kept); or `drugprot`, of the sources
  `SPLIT_abstracts`, `SPLIT_entities` and `SPLIT_relations`. A source `SPLIT_documents` lists the documents of
  the split.
- `folder`: for an archive, the folder of the split in it.
- `types`: the types that are kept, as a list, or a mapping to the examples' types; all by default. Others are
  counted as `left_out.mentions_of_other_types`.
- `sentences`: `punkt` (with the source `punkt`), `stops` (after `.`, `?` or `!` before white space and a
  capital letter) or `lines`.
- `offsets`: how they count, if not characters from the start (`utf-16`; see `pubmill.formats.offsets`).
- `misplaced: leave_out`: mentions that differ from the text at their offsets are counted
  (`left_out.misplaced_mentions`), not errors.
- `composite`: if BioC has a mention of several concepts and also its parts, read the `whole` or the `parts`.
- `discontinuous`: read a mention of several pieces with the text between them (`covers`), or `leave_out` it.
- `overlaps`: of overlapping `mentions` keep the `longest` or the `shortest`, as a word has one label.
- `held_out`: `{share: 0.1, seed: 1}`: dev is that share of the documents of the source `train`.

Events are counted by type as `left_out.events.TYPE`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from pubmill.convert import words
from pubmill.convert.source_files import ConverterInput, SpecError, check_id, lines, renamed
from pubmill.errors import PubmillError
from pubmill.examples.kinds import MentionsExample, TokensExample, WordSpan
from pubmill.examples.sentences import SentenceSplitter
from pubmill.formats import drugprot
from pubmill.formats.document_files import ANNOTATED, annotated_documents
from pubmill.formats.documents import InputDocument, TextMention
from pubmill.formats.offsets import parse_offsets
from pubmill.messages.quotations import show
from pubmill.recipes.recipe_types import StrictRecipe

WORD = re.compile(r"\w+|[^\w\s]")
"""A word: a run of letters and digits, or any other single character. A mention's boundary divides it."""
FORMS = (*ANNOTATED, "drugprot")
FURTHEST = 10_000
"""Maximum number of characters between two passages."""
_STOP = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")


class TextReading(StrictRecipe):
    """The options of both functions (see the module)."""

    form: str
    folder: str = ""
    types: list[str] | dict[str, str] | None = None
    sentences: Literal["punkt", "stops", "lines"] = "lines"
    offsets: str = ""
    misplaced: Literal["leave_out"] | None = None
    composite: Literal["whole", "parts"] | None = None
    discontinuous: Literal["covers", "leave_out"] | None = None
    overlaps: Literal["longest", "shortest"] | None = None
    held_out: dict[str, float] | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise PubmillError(
                f"the converter's option `form` is {self.form!r}; give one of {', '.join(FORMS)}"
            )


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A document as one text, with its kept mentions, which have the examples' types."""

    document: InputDocument
    text: str
    mentions: list[TextMention]


def mentions(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield the sentences of one split as labelled words; ids are `SPLIT-000001`, ... in the file's order. A
    `PubmillError` names the file, and the line or document, of anything that deviates from the form."""
    reading = source.options_as(TextReading)
    for name, document, sentence in _sentences(source, reading, reading.overlaps != "shortest"):
        yield TokensExample(id=name, document=document, words=sentence.words, labels=sentence.labels)


def nested_mentions(source: ConverterInput) -> Iterator[MentionsExample]:
    """Yield sentences as `mentions` does, with all their mentions, nested and overlapping ones too."""
    for name, document, sentence in _sentences(source, source.options_as(TextReading), None):
        spans = [WordSpan(*span) for span in sorted(set(sentence.spans))]
        yield MentionsExample(id=name, document=document, words=sentence.words, mentions=spans)


def _sentences(
    source: ConverterInput, reading: TextReading, longest: bool | None
) -> Iterator[tuple[str, str, words.Sentence]]:
    """Yield each sentence with its id and document; `longest` as in `words.sentences`."""
    number = 0
    # where spans are of words, the text is divided already
    word = re.compile(r"\S+") if reading.form == "word-spans" else WORD
    for one in texts(source, reading):
        marked = [words.NoteMention(mention.start, mention.end, mention.type) for mention in one.mentions]
        if reading.overlaps is None and longest is not None:
            for before, after in pairwise(sorted(marked, key=lambda mention: (mention.start, mention.end))):
                if after.start < before.end and before != after:
                    named = show(one.document.id)
                    raise SpecError(
                        f"{one.document.where}: mentions of {named} overlap at character {after.start}, and "
                        "a word has one label; give the converter's option `overlaps`: `longest` or "
                        "`shortest`"
                    )
        document = check_id(one.document.id, one.document.where)
        ends = sentence_ends(source, reading)(one.text)
        for sentence in words.sentences(one.text, marked, source.left_out, ends, word, longest):
            number += 1
            yield f"{source.split}-{number:06d}", document, sentence


def texts(source: ConverterInput, reading: TextReading) -> Iterator[AnnotatedText]:
    """Yield the documents of a split, with the mentions that are kept."""
    for document in _documents(source, reading):
        if document.misplaced:
            source.left_out["misplaced_mentions"] += len(document.misplaced)
        for event in document.events:
            source.left_out[f"events.{event}"] += 1
        kept = [
            replace(mention, type=kind)
            for passage in document.passages
            for mention in passage.mentions
            if (kind := _kept_kind(mention, reading, source, document.where)) is not None
        ]
        yield AnnotatedText(document, document_text(document), kept)


def _documents(source: ConverterInput, reading: TextReading) -> Iterator[InputDocument]:
    if reading.form == "drugprot":
        return drugprot.documents_of(*map(source.of_split, drugprot.ROLES))
    is_divided = reading.held_out is not None and source.split != "test"
    role = "train" if is_divided else source.split
    path = source.input(role if role in source.inputs else "archive")
    offsets = parse_offsets(reading.offsets, reading.misplaced is not None)
    in_file = annotated_documents(path, reading.form, reading.folder, offsets)
    listed = f"{source.split}_documents"
    if listed in source.inputs:
        return _listed(in_file, source.input(listed))
    if not is_divided:
        return in_file
    documents = list(in_file)
    if not documents:
        raise PubmillError(f"{path}: there are no documents in it")
    kept = source.held_out([one.id for one in documents], "held_out")
    return iter([one for one in documents if one.id in kept])


def _listed(documents: Iterator[InputDocument], path: Path) -> Iterator[InputDocument]:
    """Yield the documents that a file names, one in a line; all of them must be there."""
    names = {line.strip(): None for _, line in lines(path) if line.strip()}
    missing = dict(names)
    for document in documents:
        if document.id in names:
            missing.pop(document.id, None)
            yield document
    if missing:
        raise PubmillError(
            f"{path}: {len(missing)} of {len(names)} documents are missing, first {show(next(iter(missing)))}"
        )


def _kept_kind(mention: TextMention, reading: TextReading, source: ConverterInput, where: str) -> str | None:
    """Return the type of a mention; None, and a count, if it is left out."""
    kind = renamed(mention.type, reading.types)
    if kind is None:
        source.left_out["mentions_of_other_types"] += 1
        return None
    if mention.role:
        _require(reading.composite, "composite", "`whole` or `parts`", "composite mentions", mention, where)
        if (mention.role == "whole") != (reading.composite == "whole"):
            source.left_out[f"composite_{'wholes' if mention.role == 'whole' else 'parts'}"] += 1
            return None
    if mention.spans:
        option, values = "discontinuous", "`covers` or `leave_out`"
        _require(reading.discontinuous, option, values, "mentions of several pieces", mention, where)
        if reading.discontinuous == "leave_out":
            source.left_out["discontinuous_mentions"] += 1
            return None
    return kind


def _require(
    value: str | None, option: str, values: str, what: str, mention: TextMention, where: str
) -> None:
    if value is None:
        raise SpecError(
            f"{where}: there are {what} (at character {mention.start}), which can be read in several ways; "
            f"give the converter's option `{option}`: {values}"
        )


def document_text(document: InputDocument) -> str:
    """Return the text of a document: its passages at their offsets, with line feeds in the gaps."""
    text = ""
    for passage in sorted(document.passages, key=lambda one: one.offset):
        gap = passage.offset - len(text)
        if passage.text and not 0 <= gap <= FURTHEST:
            fault = "overlaps the one before it" if gap < 0 else f"begins {gap:,} characters after it"
            raise PubmillError(
                f"{document.where}: the passage at offset {passage.offset} {fault}; offsets must count "
                "characters from the start of the document"
            )
        text += "\n" * gap + passage.text if passage.text else ""
    return text


_splitter = cache(SentenceSplitter)


def sentence_ends(source: ConverterInput, reading: TextReading) -> Callable[[str], list[int]]:
    """Return a function that finds where the sentences of a text end; a line feed ends one too."""
    if reading.sentences == "lines":
        return words.line_ends
    if reading.sentences == "stops":
        return lambda text: sorted({*words.line_ends(text), *(stop.start() for stop in _STOP.finditer(text))})
    splitter = _splitter(source.input("punkt"))

    def ends(text: str) -> list[int]:
        places, done = words.line_ends(text), 0
        for sentence in splitter.split(text):
            done = text.index(sentence, done) + len(sentence)
            places.append(done)
        return sorted(set(places))

    return ends


def needed_readings(documents: Sequence[InputDocument]) -> Mapping[str, str]:
    """Return option -> proposed value, for the options that documents need because they are ambiguous."""
    marked = [mention for one in documents for part in one.passages for mention in part.mentions]
    found = {
        ("composite", "whole"): any(mention.role for mention in marked),
        ("discontinuous", "covers"): any(mention.spans for mention in marked),
        ("overlaps", "longest"): any(map(has_overlaps, documents)),
    }
    return dict(option for option, is_needed in found.items() if is_needed)


def has_overlaps(document: InputDocument) -> bool:
    """Return whether mentions have words in common, the parts of composite ones left aside."""
    kept = [one for part in document.passages for one in part.mentions if one.role != "part"]
    spans = sorted({(one.start, one.end) for one in kept})
    return any(after[0] < before[1] for before, after in pairwise(spans))
