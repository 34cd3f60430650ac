"""What a dataset's card says: `datasets/DATASET/card.json`, as the conversion wrote it, and what follows
from its counts. A card holds numbers and names, and no text of the dataset."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from pubmill.annotation.examples import SPLITS
from pubmill.storage.files import read_json
from pubmill.tables.cells import parse

SIZES = {
    "tokens": ("sentences", "mentions", "tokens", "tokens_in_mentions", "documents", "illegal_starts"),
    "sequence": ("examples", "documents", "contradictory_texts"),
    "multilabel": ("examples", "sentences", "without_label", "documents"),
    "regression": ("examples", "ratings", "documents"),
    "span": ("examples", "questions", "contexts", "answers", "unanswerable", "documents"),
}
"""Kind of examples -> the counts that tell the size of a split."""

NAMED = ("labels.", "mentions.", "words.", "left_out.")
"""Beginnings of counts by name: what isn't met is not in the card, and is 0."""


class Part(BaseModel):
    """A piece of a card; what else stands there is of no use to tables and pages."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Overlap(Part):
    """Inputs of `split` that the `earlier` one has too, and documents in both (None: not marked)."""

    split: str
    earlier: str = Field(alias="with")
    texts: int
    documents: int | None


class CardSource(Part):
    file: str
    bytes: int
    sha256: str


class Card(Part):
    """A card; `counts` and `expect` are split -> measure -> count, None where nothing marks them."""

    dataset: str
    kind: str
    metric: str
    expect: dict[str, dict[str, int]]
    counts: dict[str, dict[str, int | None]]
    lengths: dict[str, dict[str, float]]
    overlaps: tuple[Overlap, ...]
    sources: dict[str, CardSource]
    examples_sha256: dict[str, str]

    @property
    def splits(self) -> list[str]:
        return [split for split in SPLITS if split in self.counts]

    @property
    def sizes(self) -> tuple[str, ...]:
        """The counts that tell how large a split is."""
        return SIZES.get(self.kind, ("examples",))

    def named(self, beginning: str) -> list[str]:
        """What is counted by name in any split: the labels of `labels.`, the reasons of `left_out.`."""
        found = (measure for counts in self.counts.values() for measure in counts)
        return sorted({m.removeprefix(beginning) for m in found if m.startswith(beginning)})

    def count(self, split: str, measure: str) -> int | None:
        """A count; None where nothing marks it in the source, or where it isn't counted of this kind."""
        return self.counts[split].get(measure, 0 if measure.startswith(NAMED) else None)

    def left_out(self, split: str) -> int:
        """How much of the source is in no example, for whatever reason."""
        return sum(self.count(split, f"left_out.{reason}") or 0 for reason in self.named("left_out."))

    def met_earlier(self, split: str) -> int:
        """Inputs of a split that any one earlier split has too, the largest such overlap."""
        return max((one.texts for one in self.overlaps if one.split == split), default=0)

    @property
    def labels(self) -> str:
        """The beginning of the counts that tell how labels are distributed: of labels, of mentions by
        type, or of words by type where no mention has a beginning (EBM-NLP); empty without any."""
        for beginning in ("labels.", "mentions.", "words."):
            names = self.named(beginning)
            if any(self.count(split, beginning + name) for split in self.splits for name in names):
                return beginning
        return ""


def read_card(path: Path) -> Card:
    """Read a card; a `PubmillError` names what it lacks."""
    return parse(Card, read_json(path), str(path))


def label_bias(card: Card, split: str) -> float | None:
    """How uneven the labels of a split are (shin2020, caption of Table 8); None where there are none.

    Labels: all examples of the other labels, over those of the commonest; for words, those in mentions
    over those outside (its section 5.5 speaks of I and O tags). Answers: in how many examples the rarest
    answer stands, over those in which the commonest does.
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
            labels = [card.count(split, f"labels.{name}") or 0 for name in card.named("labels.")]
            majority = max(labels, default=0)
            minority = sum(labels) - majority
    return minority / majority if majority else None
