"""One or two texts with a label (relations, yes/no questions, inference), any number of labels, or a score
(gu2020 section 5.2)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Literal

import torch
from torch import Tensor, nn

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MultilabelExample, RegressionExample, SequenceExample
from pubmill.finetuning.heads import BiLstm, Concatenated, Layers
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks import relations
from pubmill.finetuning.tasks.task import Classification, Parts, Task, label_weights, multilabel_loss
from pubmill.recipes import FinetuningRecipe

Pooling = Literal["cls", "entity-start", "mention-max", "mention-average", "every"]
POOLED: dict[str, Literal["max", "average"]] = {"mention-max": "max", "mention-average": "average"}


@dataclass(frozen=True, slots=True)
class Text:
    """Source of an instance: one text or two, of the example with index `example` in its split, named `id`;
    `arguments` are mentions in `first`, which are kept when it is truncated; `labels`: any number."""

    example: int
    id: str
    first: str
    second: str | None = None
    arguments: list[relations.Mention] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextInput(Instance):
    labels: list[str]


def encode_texts(reader: Reader, texts: Sequence[Text], pooling: Pooling = "cls") -> Encoded:
    """Return an instance for each source, cut to the reader's length, with the places that `pooling` reads.
    Of two texts the longer one is cut, or both if both are too long. `counts`: `texts_shortened`, of which
    `beginnings_left_out` and `middles_left_out`; `mentions_shortened`, `mentions_without_subword`."""
    names = ("texts_shortened", "beginnings_left_out", "middles_left_out")
    counts = dict.fromkeys((*names, "mentions_shortened", "mentions_without_subword"), 0)
    firsts = reader.subwords([text.first for text in texts])
    seconds = iter(reader.subwords([text.second for text in texts if text.second is not None]))
    instances: list[TextInput] = []
    for text, first in zip(texts, firsts, strict=True):
        second = None if text.second is None else next(seconds)
        mentions, lost = relations.located(first, text.arguments)
        try:
            room = reader.room(pair=second is not None)
            left, end = (room, 0) if second is None else shares(len(first.ids), len(second.ids), room)
            kept = relations.remaining(len(first.ids), left, mentions)
        except PubmillError as error:
            raise PubmillError(f"example {text.id}: {error}") from None
        counts["mentions_without_subword"] += lost
        if len(kept) < len(first.ids):
            counts["texts_shortened"] += 1
            counts["beginnings_left_out"] += kept[0] > 0
            counts["middles_left_out"] += kept[-1] - kept[0] >= len(kept)
            counts["mentions_shortened"] += sum(
                len(_kept_in_mention(kept, one)) < one.last - one.first for one in mentions
            )
        counts["texts_shortened"] += second is not None and end < len(second.ids)
        kept_ids = [first.ids[place] for place in kept]
        ids, segments = reader.framed(kept_ids, None if second is None else second.ids[:end])
        before = len((reader.one if second is None else reader.two).before)
        if pooling != "every":
            places, groups = _read_places(pooling, kept, mentions, before, reader.whole(ids))
        else:
            places, groups = list(range(len(ids))), None
        number, labels = text.example, text.labels
        instances.append(
            TextInput(example=number, ids=ids, segments=segments, places=places, groups=groups, labels=labels)
        )
    return Encoded(instances=instances, counts=counts)


def shares(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how much of two lengths to keep if the longer one is cut until both fit into `room`."""
    if first + second <= room:
        return first, second
    left = min(second, max(room // 2, room - first))
    return room - left, left


def _read_places(
    pooling: Pooling, kept: Sequence[int], mentions: Sequence[relations.Mention], before: int, whole: int
) -> tuple[list[int], list[int] | None]:
    """Return the places that the head reads, and the number of places pooled to each encoding. A mention in a
    text without subwords is read at `whole`, the place that represents the input."""
    if pooling == "cls":
        return [whole], None
    if pooling == "entity-start":
        starts = [mention.marks[0] for mention in mentions if mention.marks]
        return [before + kept.index(start) for start in starts], None
    runs = [[before + at for at in _kept_in_mention(kept, mention)] or [whole] for mention in mentions]
    return [place for run in runs for place in run], [len(run) for run in runs]


def _kept_in_mention(kept: Sequence[int], mention: relations.Mention) -> range:
    """Return which of the kept subwords belong to the mention."""
    return range(bisect_left(kept, mention.first), bisect_left(kept, mention.last))


class Sequences(Classification[SequenceExample]):
    """One label per example, predicted from the encoding of the first token, from those of two mentions, or
    by a BiLSTM over all tokens (including special ones)."""

    kind = SequenceExample
    key = "label"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[SequenceExample]) -> list[str]:
        """Return the labels in alphabetical order."""
        labels = sorted({example.label for example in examples})
        if len(labels) < 2:
            raise PubmillError(
                f"all training examples have the label {labels[0]}; a classifier needs at least two labels; "
                "convert the dataset again"
            )
        if recipe.negative is not None and recipe.negative not in labels:
            raise PubmillError(
                f"the negative label {recipe.negative} is that of no training example; there are "
                f"{', '.join(labels)}; correct `negative`"
            )
        return labels

    def encode(self, examples: Sequence[SequenceExample]) -> Encoded:
        texts = []
        for number, example in enumerate(examples):
            text, arguments = relations.transformed(example, self.recipe)
            texts.append(Text(number, example.id, text, example.text_pair, arguments))
        every = self.recipe.head == "bilstm"
        return encode_texts(self.reader, texts, "every" if every else self.recipe.pooling)

    def target(self, example: SequenceExample, instance: Instance) -> list[float]:
        return [self.places[example.label]]

    def head(self, width: int) -> nn.Module:
        if self.recipe.head == "bilstm":
            return BiLstm(width, len(self.labels), self.recipe, whole=True)
        if self.recipe.pooling == "cls":
            return super().head(width)
        layers = Layers(relations.MENTIONS * width, len(self.labels), self.recipe)
        return Concatenated(relations.MENTIONS, POOLED.get(self.recipe.pooling), layers)

    @property
    def fixed_places(self) -> Literal["given"] | None:
        """None if all tokens or all subwords of mentions are read."""
        variable = self.recipe.head == "bilstm" or self.recipe.pooling in POOLED
        return None if variable else "given"

    def sizes(self, batch: Batch) -> list[int]:
        return [1] * len(batch.counts)

    def prediction(self, example: SequenceExample, parts: Parts[Instance]) -> str:
        [(_, best)] = parts
        return self.labels[int(best)]


class Regression(Task[RegressionExample]):
    """A score predicted from the first token's encoding and learnt on the gold scale, as in BLUE's script.
    gu2020 section 5.2 mentions a normalised score without details. Without normalisation, a kept model has
    nothing to undo, and the bias learns the mean."""

    kind = RegressionExample
    key = "score"
    fixed_places: Literal["given"] = "given"

    def encode(self, examples: Sequence[RegressionExample]) -> Encoded:
        texts = [Text(number, one.id, one.text, one.text_pair) for number, one in enumerate(examples)]
        return encode_texts(self.reader, texts)

    def target(self, example: RegressionExample, instance: Instance) -> list[float]:
        return [example.score]

    def head(self, width: int) -> nn.Module:
        return Layers(width, 1, self.recipe)

    def loss(self, model: nn.Module, scores: Tensor, batch: Batch, targets: Tensor) -> Tensor:
        return nn.functional.mse_loss(scores.squeeze(-1), targets)

    def output(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        return scores.squeeze(-1)

    def prediction(self, example: RegressionExample, parts: Parts[Instance]) -> float:
        [(_, score)] = parts
        return float(score)


class Multilabel(Task[MultilabelExample]):
    """One binary decision for each label, at a probability of one half (gu2020 section 5.2: HoC). A document
    is read as a whole, up to the encoder's length, or sentence by sentence: then each sentence is learnt with
    its own labels, and the document gets all labels predicted for its sentences (BLUE)."""

    kind = MultilabelExample
    key = "labels"
    fixed_places: Literal["given"] = "given"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[MultilabelExample]) -> list[str]:
        """Return the labels in alphabetical order."""
        classes = {label for text in _labelled_texts(examples, recipe) for label in text.labels}
        if not classes:
            raise PubmillError("no training example has a label to learn; convert the dataset again")
        return sorted(classes)

    def encode(self, examples: Sequence[MultilabelExample]) -> Encoded:
        return encode_texts(self.reader, list(_labelled_texts(examples, self.recipe)))

    def target(self, example: MultilabelExample, instance: TextInput) -> list[float]:
        """Return a number for each label: 1.0 if the unit has it, else 0.0."""
        return [float(label in instance.labels) for label in self.labels]

    def prepare(self, examples: Sequence[MultilabelExample], instances: Sequence[TextInput]) -> None:
        if self.recipe.loss == "weighted":
            found = Counter(label for one in instances for label in one.labels)
            counts = [found[label] for label in self.labels]
            self.weights = torch.tensor(label_weights(counts, len(instances)))

    def loss(self, model: nn.Module, scores: Tensor, batch: Batch, targets: Tensor) -> Tensor:
        if self.weights is not None:
            self.weights = self.weights.to(scores.device)
        return multilabel_loss(scores, targets.view_as(scores), self.weights)

    def output(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        return scores > 0  # more likely than not

    def probabilities(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return for each instance the probability of each label."""
        return scores.float().sigmoid()

    def confidence(self, example: MultilabelExample, parts: Parts[TextInput]) -> dict[str, float]:
        """Return the probability of every label, whether predicted or not; the highest of the units."""
        highest = dict.fromkeys(self.labels, 0.0)
        for _, values in parts:
            for label, value in zip(self.labels, values.flatten().tolist(), strict=True):
                highest[label] = max(highest[label], value)
        return highest

    def prediction(self, example: MultilabelExample, parts: Parts[TextInput]) -> list[str]:
        """Return the union of the labels of the document's units."""
        present = (compress(self.labels, values.flatten().tolist()) for _, values in parts)
        return sorted(set().union(*present))


def _labelled_texts(examples: Sequence[MultilabelExample], recipe: FinetuningRecipe) -> Iterator[Text]:
    """Yield the texts into which examples are divided, each with its labels."""
    for number, example in enumerate(examples):
        if recipe.unit == "document":
            yield Text(number, example.id, example.text, labels=example.labels)
            continue
        if not example.sentences:
            raise PubmillError(
                f"example {example.id} has no labelled sentences, which unit sentence reads; "
                "set `unit` to document"
            )
        for one in example.sentences:
            yield Text(number, example.id, example.text[one.start : one.end], labels=one.labels)
