"""Scores split by what the scored item shares with the training examples.

Every gold and every predicted item is in exactly one part, so the counts of the parts add up to those of the
whole. A correct prediction has the words of its gold item, and so its part.

Entities (`entity_parts`), by their words and type among the training mentions:

- `verbatim`: the same words.
- `other case`: the same words but for case.
- `other form`: the same letters and digits but for case, with other spaces or punctuation.
- `new`: none of these. Where the identifiers of mentions are known, this part is split into
  - `new name`: of a concept that is in training, by at least one of the mention's identifiers.
  - `new concept`: of another one.
  - `no identifier`: a mention without one, such as a prediction that is no gold mention.

Relations (`relation_parts`), by the two arguments of the training examples, in either order and any form:

- `pair`: the two occur together.
- `both apart`: both occur, but not together.
- `one`: only one occurs.
- `none`: neither occurs.
- `unmarked`: the example does not mark its two arguments, or its source has placeholders for them (`@GENE$`).

Documents (`document_parts`): whether the item's document also has training examples, if it is known.
Pretraining (`corpus_parts`): whether the item's document was found in the corpus of the model's pretraining.
Years (`year_parts`): when the item's document was published.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import reduce
from typing import NamedTuple

from pubmill.examples.concept_files import Identifiers
from pubmill.examples.kinds import SequenceExample, TokensExample
from pubmill.examples.tagging import Mention, to_mentions

ENTITY_PARTS = ("verbatim", "other case", "other form", "new")
CONCEPT_PARTS = ("new name", "new concept", "no identifier")
"""Parts of `new` where mentions have identifiers."""
RELATION_PARTS = ("pair", "both apart", "one", "none", "unmarked")
NO_DOCUMENT, NO_YEAR = NOT_KNOWN = ("document not known", "year not known")
"""Parts of items whose document or year is not known."""
DOCUMENT_PARTS = ("document in training", "other document", NO_DOCUMENT)
CORPUS_PARTS = ("in the corpus", "not found in the corpus")
YEARS = 5
"""Years in one part."""

PLACEHOLDER = re.compile(r"@[A-Za-z]+\$")
Part = str
"""One of the names above."""


class Counts(NamedTuple):
    """Items in the gold, predicted, and both."""

    gold: int = 0
    predicted: int = 0
    correct: int = 0

    def plus(self, other: "Counts") -> "Counts":
        """Add counts."""
        return Counts(*(one + more for one, more in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """F1; 0 without gold and predicted items, as in conlleval."""
        whole = self.gold + self.predicted
        return 2 * self.correct / whole if whole else 0.0


def total(parts: Iterable[Counts]) -> Counts:
    """Add the counts of all parts."""
    return reduce(Counts.plus, parts, Counts())


def form(text: str) -> str:
    """Return the letters and digits of a text without case: equal for `IL-2`, `IL 2` and `il2`."""
    return "".join(character for character in text.casefold() if character.isalnum())


class KnownMentions:
    """The mentions of training sentences, by type: their words, the same without case, and their forms."""

    def __init__(self, training: Iterable[TokensExample]) -> None:
        self._words: set[tuple[str, tuple[str, ...]]] = set()
        for example in training:
            self._words |= {_named(example.words, mention) for mention in to_mentions(example.labels)}
        self._lower = {(kind, _lower(words)) for kind, words in self._words}
        self._forms = {(kind, form("".join(words))) for kind, words in self._words}

    def part(self, words: Sequence[str], mention: Mention) -> Part:
        """Return the part of a mention in a sentence of these words."""
        kind, own = _named(words, mention)
        if (kind, own) in self._words:
            return "verbatim"
        if (kind, _lower(own)) in self._lower:
            return "other case"
        letters = form("".join(own))
        return "other form" if letters and (kind, letters) in self._forms else "new"


def _named(words: Sequence[str], mention: Mention) -> tuple[str, tuple[str, ...]]:
    start, end, kind = mention
    return kind, tuple(words[start:end])


def _lower(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)


class KnownPairs:
    """The arguments of training examples, by their forms: alone, and in pairs."""

    def __init__(self, training: Iterable[SequenceExample]) -> None:
        pairs = [pair for example in training if (pair := arguments_of(example))]
        self._pairs = {frozenset(pair) for pair in pairs}
        self._single = {argument for pair in pairs for argument in pair}

    def part(self, example: SequenceExample) -> Part:
        """Return the part of an example."""
        pair = arguments_of(example)
        if pair is None:
            return "unmarked"
        if frozenset(pair) in self._pairs:
            return "pair"
        return ("none", "one", "both apart")[sum(argument in self._single for argument in pair)]


def arguments_of(example: SequenceExample) -> tuple[str, str] | None:
    """Return the forms of an example's two arguments; a text of signs alone stands for itself."""
    if len(example.entities) != 2:
        return None
    texts = [example.text[entity.start : entity.end] for entity in example.entities]
    if any(map(PLACEHOLDER.fullmatch, texts)):
        return None
    one, other = (form(text) or text for text in texts)
    return one, other


class KnownConcepts(NamedTuple):
    """Identifiers of all training mentions, and of the gold mentions of each scored sentence."""

    training: Set[str]
    scored: Sequence[Identifiers]

    def part(self, sentence: int, mention: Mention) -> Part:
        """Return the part of a mention with new words in a scored sentence."""
        own = self.scored[sentence].get(mention[:2])
        if not own:
            return "no identifier"
        return "new concept" if self.training.isdisjoint(own) else "new name"


def entity_parts(
    known: KnownMentions,
    gold: Sequence[TokensExample],
    predicted: Sequence[Sequence[str]],
    concepts: KnownConcepts | None = None,
) -> dict[Part, Counts]:
    """Count the entities of each part; `predicted`: the labels of each sentence."""
    names = ENTITY_PARTS if concepts is None else (*ENTITY_PARTS[:-1], *CONCEPT_PARTS)
    counts = {part: Counts() for part in names}
    for number, (example, labels) in enumerate(zip(gold, predicted, strict=True)):
        true, guessed = set(to_mentions(example.labels)), set(to_mentions(labels))
        for mention in true | guessed:
            part = known.part(example.words, mention)
            if part == "new" and concepts is not None:
                part = concepts.part(number, mention)
            both = mention in true and mention in guessed
            counts[part] = counts[part].plus(Counts(mention in true, mention in guessed, both))
    return counts


def relation_parts(
    known: KnownPairs, gold: Sequence[SequenceExample], predicted: Sequence[str], negative: str | None
) -> dict[Part, Counts]:
    """Count the relations of each part, as micro F1 does: without the negative label."""
    counts = {part: Counts() for part in RELATION_PARTS}
    for example, label in zip(gold, predicted, strict=True):
        part = known.part(example)
        counts[part] = counts[part].plus(label_counts(example.label, label, negative))
    return counts


def label_counts(gold: str, predicted: str, negative: str | None) -> Counts:
    """Return the counts of one example with one label."""
    is_gold, is_predicted = gold != negative, predicted != negative
    return Counts(int(is_gold), int(is_predicted), int(is_gold and gold == predicted))


def document_parts(
    known: Set[str | None], documents: Sequence[str | None], counts: Sequence[Counts]
) -> dict[Part, Counts]:
    """Split the counts of examples, given with their documents, by whether a document is one of the known."""
    parts = [DOCUMENT_PARTS[2 if one is None else one not in known] for one in documents]
    return _added(DOCUMENT_PARTS, parts, counts)


def corpus_parts(held: Sequence[bool], counts: Sequence[Counts]) -> dict[Part, Counts]:
    """Split the counts of examples by whether the pretraining corpus has them."""
    return _added(CORPUS_PARTS, [CORPUS_PARTS[not one] for one in held], counts)


def year_parts(
    years: Mapping[str, int], documents: Sequence[str | None], counts: Sequence[Counts]
) -> dict[Part, Counts]:
    """Split the counts of examples, given with their documents, by year of publication: five years a part."""
    parts = [_span(years.get(one or "")) for one in documents]
    return _added(sorted({*parts, NO_YEAR}), parts, counts)


def _span(year: int | None) -> Part:
    """Return the years of a part: `2005-2009`."""
    if year is None:
        return NO_YEAR
    first = year - year % YEARS
    return f"{first}-{first + YEARS - 1}"


def _added(names: Sequence[Part], parts: Sequence[Part], counts: Sequence[Counts]) -> dict[Part, Counts]:
    """Add up the counts of examples by their parts."""
    sums = {part: Counts() for part in names}
    for part, own in zip(parts, counts, strict=True):
        sums[part] = sums[part].plus(own)
    return sums


def entity_counts(example: TokensExample, labels: Sequence[str]) -> Counts:
    """Return the counts of one sentence."""
    true, guessed = set(to_mentions(example.labels)), set(to_mentions(labels))
    return Counts(len(true), len(guessed), len(true & guessed))
