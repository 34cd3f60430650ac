"""Annotate documents with a fine-tuned model: mentions in their text, or relations between their mentions."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, Example, SequenceExample, TokensExample
from pubmill.examples.tagging import CONTINUATION, OUTSIDE, to_mentions
from pubmill.finetuning.predicting import DivergenceError, Predictor
from pubmill.formats.documents import Annotated, InputDocument, Relation, TextMention
from pubmill.messages.wording import unknown

Span = tuple[int, int]
Split = Callable[[str], list[str]]
"""Sentence splitter: returns the sentences of a line, in order, without surrounding white space."""

WORD = re.compile(r"\w+|[^\w\s]")
"""A word: a run of letters and digits, or any other single character, as in the MTL-Bioinformatics-2016 files
(all words of NCBI-disease and BC5-chem). In JNLPBA, `IL-2` is one word; here it is three."""
_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A sentence or line: its text, its start in the document, and the index of its passage."""

    passage: int
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def units(document: InputDocument, split: Split | None) -> Iterator[Unit]:
    """Yield the lines of each passage, or their sentences if there is a splitter; only those with a word."""
    for number, passage in enumerate(document.passages):
        for line in _LINE.finditer(passage.text):
            done = 0
            for sentence in split(line[0]) if split else [line[0]]:
                start = line[0].index(sentence, done)
                done = start + len(sentence)
                if WORD.search(sentence):
                    yield Unit(passage=number, start=passage.offset + line.start() + start, text=sentence)


def words(text: str) -> list[Span]:
    return [match.span() for match in WORD.finditer(text)]


def load_splitter(archive: Path | None) -> Split | None:
    """Return NLTK's Punkt splitter with the tables of `punkt_tab.zip`; None without an archive."""
    if archive is None:
        return None
    from pubmill.examples.sentences import SentenceSplitter  # NLTK is optional

    return SentenceSplitter(archive).split


TOGETHER = 256
"""Number of documents predicted together, so that memory does not grow with the file."""
DECIMALS = 4
"""Decimals of confidences."""
UNTYPED = "Entity"
"""The mention type for models whose labels have no type (`B`, `I`)."""


class Annotator:
    """A kept model, with the inputs that new text requires.

    - `argument_types`: pairs of mention types that can be related; `split`: a sentence splitter.
    - `names`: the types of mentions or relations that are predicted, each with the name that is written; by
      default all that the model has, by their own names.
    - `own`: these names; annotations with them in a file are replaced.
    - `confidences`: whether each prediction gets a probability.
    - `counts`: numbers of items left out, replaced, kept or shortened.
    """

    def __init__(
        self,
        predictor: Predictor,
        argument_types: Sequence[Sequence[str]],
        split: Split | None,
        names: Mapping[str, str] | None = None,
        confidences: bool = False,
    ) -> None:
        self.predictor, self.split, self.confidences = predictor, split, confidences
        self.pairs = {(first, second) for first, second in argument_types}
        self.types = {kind for pair in argument_types for kind in pair}
        self.names = {kind: kind for kind in own_types(predictor)} if names is None else dict(names)
        self.own = frozenset(self.names.values())
        self.counts: Counter[str] = Counter()

    def annotate(self, documents: Iterable[InputDocument]) -> Iterator[Annotated]:
        """Yield every document in order, with mentions (tokens models) or relations (sequence models)."""
        remaining = iter(documents)
        while some := list(islice(remaining, TOGETHER)):
            mentions = self.predictor.recipe.task == "tokens"
            for one in self._with_mentions(some) if mentions else self._with_relations(some):
                kept = [
                    one.keeps(mention) for passage in one.document.passages for mention in passage.mentions
                ]
                relations = len(one.kept_relations())
                self.counts["mentions_replaced"] += kept.count(False)
                self.counts["mentions_kept"] += kept.count(True) if one.mentions is not None else 0
                self.counts["relations_replaced"] += len(one.document.relations) - relations
                self.counts["relations_kept"] += relations
                yield one

    def predict(self, examples: Sequence[Example]) -> list[tuple[Any, Any]]:
        """Return the model's predictions for examples, whose labels are ignored, each with its confidence, or
        None if that is not requested."""
        if not examples:
            return []
        split = self.predictor.task.encode_split(examples)
        self.counts.update(split.encoded.counts)
        try:
            if self.confidences:
                pairs = self.predictor.predict_with_confidences(split)
                return [(predicted, _rounded(confidence)) for predicted, confidence in pairs]
            return [(predicted, None) for predicted in self.predictor.predict(split)]
        except DivergenceError:
            raise PubmillError("the model's scores are not numbers; its weights are unusable") from None

    def _with_mentions(self, documents: Sequence[InputDocument]) -> Iterator[Annotated]:
        read = [(number, unit) for number, one in enumerate(documents) for unit in units(one, self.split)]
        spans = [words(unit.text) for _, unit in read]
        examples = []
        for place, ((_, unit), of) in enumerate(zip(read, spans, strict=True)):
            tokens, labels = [unit.text[start:end] for start, end in of], [OUTSIDE] * len(of)
            examples.append(TokensExample(id=str(place), document=None, words=tokens, labels=labels))
        of_documents: list[list[list[TextMention]]] = [[[] for _ in one.passages] for one in documents]
        for (number, unit), of, (predicted, sure) in zip(read, spans, self.predict(examples), strict=True):
            for first, last, kind in to_mentions(predicted):
                if name := self.names.get(kind or UNTYPED):
                    confidence = None if sure is None else min(sure[first:last])
                    start, end = of[first][0], of[last - 1][1]
                    at, until, text = unit.start + start, unit.start + end, unit.text[start:end]
                    mention = TextMention(start=at, end=until, type=name, text=text, confidence=confidence)
                    of_documents[number][unit.passage].append(mention)
        for document, mentions in zip(documents, of_documents, strict=True):
            yield Annotated(document=document, own=self.own, mentions=mentions)

    def _with_relations(self, documents: Sequence[InputDocument]) -> Iterator[Annotated]:
        asked = [
            (number, unit, pair)
            for number, document in enumerate(documents)
            for unit, pair in self._candidate_pairs(document)
        ]
        examples = []
        for place, (_, unit, pair) in enumerate(asked):
            mentions = [Entity(start=m.start - unit.start, end=m.end - unit.start, type=m.type) for m in pair]
            text, label = unit.text, self.predictor.task.labels[0]  # a required placeholder, never read
            examples.append(
                SequenceExample(id=str(place), document=None, text=text, label=label, entities=mentions)
            )
        of_documents: list[list[list[Relation]]] = [[[] for _ in one.passages] for one in documents]
        for (number, unit, pair), (label, sure) in zip(asked, self.predict(examples), strict=True):
            if name := self.names.get(label):
                relation = Relation(type=name, arguments=pair, confidence=sure)
                of_documents[number][unit.passage].append(relation)
        for document, relations in zip(documents, of_documents, strict=True):
            yield Annotated(document=document, own=self.own, relations=relations)

    def _candidate_pairs(
        self, document: InputDocument
    ) -> Iterator[tuple[Unit, tuple[TextMention, TextMention]]]:
        """Yield pairs of mentions within a unit whose types, in that order, were arguments in training."""
        seen = 0
        for unit in units(document, self.split):
            mentions = document.passages[unit.passage].mentions
            inside = [m for m in mentions if unit.start <= m.start and m.end <= unit.end]
            seen += len(inside)
            for one, other in combinations(sorted(inside, key=lambda m: (m.start, m.end)), 2):
                if (one.type, other.type) in self.pairs:
                    yield unit, (one, other)
                elif (other.type, one.type) in self.pairs:
                    yield unit, (other, one)
        known = [m.type in self.types for passage in document.passages for m in passage.mentions]
        self.counts["mentions_of_other_types"] += known.count(False)
        self.counts["mentions_across_units"] += len(known) - seen


def own_types(predictor: Predictor) -> frozenset[str]:
    """Return the mention types that a tokens model predicts, or the relation types of a sequence model."""
    if predictor.recipe.task == "tokens":
        labels = set(predictor.task.labels) - {OUTSIDE, CONTINUATION}
        prefixed = (label.partition("-") for label in labels)
        return frozenset(kind or UNTYPED for _, _, kind in prefixed)
    return frozenset(predictor.task.labels) - {predictor.recipe.negative}


def _rounded(confidence: Any) -> Any:
    """Return probabilities with four decimals, which do not differ between machines as easily."""
    if isinstance(confidence, dict):
        return {label: round(value, DECIMALS) for label, value in confidence.items()}
    if isinstance(confidence, list):
        return [round(value, DECIMALS) for value in confidence]
    return round(confidence, DECIMALS)


def written_names(own: Collection[str], types: Sequence[str], renamed: Sequence[str]) -> dict[str, str]:
    """Return type -> name to write. `own`: types of the model; `types`: those to predict, by default all;
    `renamed`: OLD=NEW for some. Raises a `PubmillError` for another form and for a type not in `own`."""
    pairs = [text.partition("=") for text in renamed]
    if wrong := [text for text, (old, _, new) in zip(renamed, pairs, strict=True) if not (old and new)]:
        raise PubmillError(f"--map {wrong[0]}: expected OLD=NEW, a type of the model and the name to write")
    new_names = {old: new for old, _, new in pairs}
    for name in (*types, *new_names):
        if name not in own:
            raise PubmillError(unknown("type of this model", name, own))
    return {kind: new_names.get(kind, kind) for kind in sorted(own) if not types or kind in types}
