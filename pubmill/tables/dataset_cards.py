"""Dataset cards: `datasets/DATASET/card.json`, written by the conversion, and what follows from its counts.

A card contains numbers and names but no text of the dataset.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from pubmill.errors import PubmillError
from pubmill.examples.kind_facts import FACTS
from pubmill.examples.kinds import SPLITS
from pubmill.messages.wording import counted
from pubmill.storage.files import read_json
from pubmill.tables.cells import parse

NAMED = ("labels.", "mentions.", "words.", "left_out.")
"""Prefixes of per-label counts; a missing label counts as 0."""
_SHOWN = 8
"""Number of labels that a caution names."""


class CardPart(BaseModel):
    """Base of a card's data models; fields that tables and pages don't use are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SplitOverlap(CardPart):
    """Numbers of inputs and documents that `split` shares with an `earlier` split (None: not annotated)."""

    split: str
    earlier: str = Field(alias="with")
    texts: int
    documents: int | None


class CardSource(CardPart):
    """A source file of a dataset."""

    file: str
    bytes: int
    sha256: str


class Card(CardPart):
    """A dataset card. `version`: of the converter's output; `counts`, `expect`: split -> measure -> count,
    None if the source does not annotate it."""

    dataset: str
    kind: str
    metric: str
    version: int
    expect: dict[str, dict[str, int]]
    counts: dict[str, dict[str, int | None]]
    lengths: dict[str, dict[str, float]]
    overlaps: tuple[SplitOverlap, ...]
    sources: dict[str, CardSource]
    examples_sha256: dict[str, str]

    @property
    def splits(self) -> list[str]:
        """The dataset's splits, in order."""
        return [split for split in SPLITS if split in self.counts]

    @property
    def sizes(self) -> tuple[str, ...]:
        """The counts that describe the size of a split."""
        return FACTS[self.kind].sizes if self.kind in FACTS else ("examples",)

    def counted_names(self, beginning: str) -> list[str]:
        """Names counted under a prefix in any split: labels for `labels.`, reasons for `left_out.`."""
        measures = (measure for counts in self.counts.values() for measure in counts)
        return sorted({m.removeprefix(beginning) for m in measures if m.startswith(beginning)})

    def count(self, split: str, measure: str) -> int | None:
        """A count; None if the source does not annotate it, or if this kind of examples has no such count."""
        return self.counts[split].get(measure, 0 if measure.startswith(NAMED) else None)

    def left_out(self, split: str) -> int:
        """Number of source items that are in no example, for any reason."""
        return sum(self.count(split, f"left_out.{reason}") or 0 for reason in self.counted_names("left_out."))

    def inputs_in_earlier_split(self, split: str) -> int:
        """The largest number of inputs that a split shares with any one earlier split."""
        return max((one.texts for one in self.overlaps if one.split == split), default=0)

    def label_counts(self, split: str) -> Counter[str]:
        """Return label or type -> its number in a split, without those that do not occur."""
        kind = self.labels
        counted = {name: self.count(split, kind + name) or 0 for name in self.counted_names(kind) if kind}
        return Counter({name: number for name, number in counted.items() if number})

    @property
    def labels(self) -> str:
        """The prefix of the counts that show the label distribution: of labels, of mentions by type, or of
        words by type if no mention has a beginning (EBM-NLP); empty if there are none."""
        for beginning in ("labels.", "mentions.", "words."):
            names = self.counted_names(beginning)
            if any(self.count(split, beginning + name) for split in self.splits for name in names):
                return beginning
        return ""


def read_card(path: Path) -> Card:
    """Read a card; a `PubmillError` names missing and wrong fields, and what to do."""
    value = read_json(path)
    try:
        return parse(Card, value, str(path))
    except PubmillError as error:
        raise PubmillError(f"{error}\nDelete the card and convert the dataset again.") from None


def label_bias(card: Card, split: str) -> float | None:
    """Return the label imbalance of a split (shin2020, caption of Table 8); None if there are no labels.

    Labels: the number of examples with other labels, divided by that with the most frequent label. Words: the
    smaller of the numbers of words inside and outside mentions, divided by the larger (section 5.5 there uses
    I and O tags). Answers: the number of examples with the rarest answer, divided by that with the most
    frequent.
    """
    match card.kind:
        case "tokens":
            inside = card.count(split, "tokens_in_mentions") or 0
            outside = (card.count(split, "tokens") or 0) - inside
            minority, majority = sorted((inside, outside))
        case "span":
            minority = card.count(split, "fewest_repeats") or 0
            majority = card.count(split, "most_repeats") or 0
        case _:
            labels = [card.count(split, f"labels.{name}") or 0 for name in card.counted_names("labels.")]
            majority = max(labels, default=0)
            minority = sum(labels) - majority
    return minority / majority if majority else None


def cautions(card: Card) -> tuple[str, ...]:
    """Return a line, with its counts, for each doubt: the same bytes, inputs or documents in two splits;
    labels that a split lacks; labels that differ in case or white space; identifiers that repeat."""
    lines = list[str]()
    for (role, source), (other_role, other) in combinations(card.sources.items(), 2):
        first, second = role.partition("_")[0], other_role.partition("_")[0]
        if source.sha256 == other.sha256 and first != second and {first, second} <= {*SPLITS}:
            lines.append(f"{second} and {first} are of files with the same {source.bytes:,} bytes")
    for one in card.overlaps:
        for number, what, how in ((one.texts, "input", ""), (one.documents, "document", ", by identifier")):
            if number:
                are = "are" if number > 1 else "is"
                lines.append(f"{counted(number, what)} of {one.split} {are} also in {one.earlier}{how}")
    for split in card.splits:
        if repeated := card.count(split, "repeated_documents"):
            lines.append(f"{repeated:,} times a document of {split} has the identifier of an earlier one")
    counts = {split: card.label_counts(split) for split in card.splits}
    for split in card.splits[1:] if "train" in counts else ():
        for here, there in ((split, "train"), ("train", split)):
            if lacking := {name: n for name, n in counts[here].items() if not counts[there][name]}:
                what = f"{counted(len(lacking), 'label')} of {here} {'are' if len(lacking) > 1 else 'is'}"
                lines.append(f"{what} not in {there}: {_listed(lacking.items())}")
    alike = defaultdict[str, list[tuple[str, int]]](list)
    for name, total in sorted(sum(counts.values(), Counter[str]()).items()):
        alike[" ".join(name.casefold().split())].append((repr(name), total))
    for names in alike.values():
        if len(names) > 1:
            lines.append(f"{len(names)} labels differ only in case or white space: {_listed(names)}")
    return tuple(lines)


def _listed(numbers: Iterable[tuple[str, int]]) -> str:
    shown = [f"{name} ({number:,})" for name, number in numbers]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")
