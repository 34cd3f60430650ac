"""Documents with relations between their concepts (Zhou et al. 2021, BC5CDR and other documents).

A document is read once, with an asterisk before and after each mention. The encoding of the first one (in
decoders, the second) represents the mention; `PairScores` pools the mentions of each concept and scores each
pair of concepts. A label is predicted if it scores above the pair's own threshold; "novel" is one more label.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import torch
from torch import Tensor, nn
from torch.nn import functional

from pubmill.errors import PubmillError
from pubmill.examples.kinds import NOVELTY, RelationsExample, sorted_lists
from pubmill.finetuning.heads import in_float32, linear, pooled
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.tasks.relations import located, marked
from pubmill.finetuning.tasks.task import Parts, Task
from pubmill.recipes import FinetuningRecipe

MARK = "*"
"""Text put before and after each mention, as in ATLOP's prepro.py."""
NOVEL = "=novel"
"""Additional label of pairs whose relation is novel."""
BLOCK = 64
"""Size of a block of the grouped bilinear layer (`block_size` of the authors' model.py)."""
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedDocument(Instance):
    """A document, cut to the reader's length; `pairs`: pairs whose two concepts both have a mention in it."""

    pairs: list[Pair]


class PairScores(nn.Module):
    """Scores of each pair of concepts: that of the threshold, then one for each label.

    A concept's encoding is the log of the sum of the exponentials of its mentions' encodings. First and
    second concept each have a layer with tanh; a bilinear layer over blocks of both gives the scores. ATLOP's
    localised context, which reads the encoder's attention, is left out.
    """

    def __init__(self, width: int, labels: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        self.block = math.gcd(width, BLOCK)
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.first, self.second = linear(width, width), linear(width, width)
        self.bilinear = linear(width * self.block, 1 + labels)

    def forward(self, places: Tensor, batch: Batch) -> Tensor:
        """Return the scores, pairs x (threshold, labels)."""
        assert batch.groups is not None
        concepts = self.dropout(pooled(places, batch.groups, "logsumexp"))
        blocks = (-1, concepts.shape[-1] // self.block, self.block)
        first = torch.tanh(self.first(concepts[0::2])).view(*blocks)
        second = torch.tanh(self.second(concepts[1::2])).view(*blocks)
        products = (first.unsqueeze(-1) * second.unsqueeze(-2)).flatten(1)
        return in_float32(self.bilinear, products)


def threshold_loss(scores: Tensor, targets: Tensor) -> Tensor:
    """Return the adaptive-thresholding loss, the mean over pairs (ATLOP, section 4.2): the cross-entropy of
    each right label among the threshold and the right labels, and of the threshold among itself and the wrong
    labels. `scores`: pairs x (threshold, labels); `targets`: pairs x labels, 1 where the label is right."""
    threshold = torch.zeros_like(scores)
    threshold[:, 0] = 1.0
    right = functional.pad(targets, (1, 0))
    above = scores.masked_fill((right + threshold) == 0, -torch.inf)
    below = scores.masked_fill(right > 0, -torch.inf)
    of_right = functional.log_softmax(above, -1).masked_fill(right == 0, 0.0)
    of_threshold = functional.log_softmax(below, -1)[:, 0]
    return -(of_right.sum(-1) + of_threshold).mean()


class ConceptPairs(Task[RelationsExample]):
    """Any number of labels for each pair of concepts of a document."""

    kind = RelationsExample
    key = "relations"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[RelationsExample]) -> list[str]:
        """Return the labels in alphabetical order, and `NOVEL` if relations state their novelty."""
        relations = [one for example in examples for one in example.relations]
        if not relations:
            raise PubmillError("no training example has a relation to learn; convert the dataset again")
        novelty = [NOVEL] if any(len(one) > 3 for one in relations) else []
        return [*sorted({one[2] for one in relations}), *novelty]

    def encode(self, examples: Sequence[RelationsExample]) -> Encoded:
        """Return an instance for each document with a pair. `counts`: `texts_shortened`, and what that leaves
        unread: `mentions_left_out` and `pairs_left_out`, which get no relation."""
        counts = dict.fromkeys(("texts_shortened", "mentions_left_out", "pairs_left_out"), 0)
        made = []
        for example in examples:
            once = {(one.start, one.end): one for one in example.entities}  # a mention of several concepts
            text, arguments = marked(example.text, list(once.values()), [(MARK, MARK)] * len(once))
            made.append((text, dict(zip(once, arguments, strict=True))))
        room, documents = self.reader.room(pair=False), list[MarkedDocument]()
        texts = self.reader.subwords([text for text, _ in made])
        for number, (example, subwords) in enumerate(zip(examples, texts, strict=True)):
            mentions, _ = located(subwords, [made[number][1][one.start, one.end] for one in example.entities])
            places: defaultdict[str, list[int]] = defaultdict(list)
            for entity, mention in zip(example.entities, mentions, strict=True):
                assert mention.marks is not None
                places[str(entity.id)].append(mention.marks[self.reader.causal])
            read = {name: [at for at in own if at < room] for name, own in places.items()}
            pairs = [(a, b) for a, b in example.pairs if read[a] and read[b]]
            counts["texts_shortened"] += len(subwords.ids) > room
            counts["mentions_left_out"] += sum(map(len, places.values())) - sum(map(len, read.values()))
            counts["pairs_left_out"] += len(example.pairs) - len(pairs)
            if pairs:
                ids, segments = self.reader.framed(subwords.ids[:room])
                before = len(self.reader.one.before)
                runs = [[before + at for at in read[name]] for pair in pairs for name in pair]
                documents.append(
                    MarkedDocument(
                        example=number,
                        ids=ids,
                        segments=segments,
                        places=[at for run in runs for at in run],
                        groups=[len(run) for run in runs],
                        pairs=pairs,
                    )
                )
        return Encoded(instances=documents, counts=counts)

    def target(self, example: RelationsExample, instance: MarkedDocument) -> list[float]:
        """Return for each pair a number for each label: 1.0 if the pair has it, else 0.0."""
        wanted: defaultdict[Pair, set[str]] = defaultdict(set)
        for first, second, label, *novelty in example.relations:
            wanted[first, second] |= {label, NOVEL} if novelty == [NOVELTY[0]] else {label}
        return [float(label in wanted[pair]) for pair in instance.pairs for label in self.labels]

    def head(self, width: int) -> nn.Module:
        return PairScores(width, len(self.labels), self.recipe)

    def loss(self, model: nn.Module, scores: Tensor, batch: Batch, targets: Tensor) -> Tensor:
        return threshold_loss(scores, targets.view(len(scores), -1).to(scores))

    def output(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return for each pair whether each label is above the threshold."""
        return scores[:, 1:] > scores[:, :1]

    def probabilities(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return for each pair the probability of each label, against the threshold alone."""
        above = scores.double()  # so that no label above the threshold has a probability of 0.5
        return (above[:, 1:] - above[:, :1]).sigmoid()

    def confidence(self, example: RelationsExample, parts: Parts[MarkedDocument]) -> list[float]:
        """Return the probability of the label of each predicted relation, in the order of the predictions."""
        scored: list[tuple[list[str], float]] = []
        for instance, values in parts:
            for pair, row in zip(instance.pairs, values.tolist(), strict=True):
                sure = dict(zip(self.labels, row, strict=True))
                relations = self._relations_of(pair, [value > 0.5 for value in row])
                scored += [(relation, sure[relation[2]]) for relation in relations]
        return [value for _, value in sorted(scored)]

    def sizes(self, batch: Batch) -> list[int]:
        """Return the number of pairs of each instance, of which each has two encodings."""
        return [count // 2 for count in batch.counts]

    def prediction(self, example: RelationsExample, parts: Parts[MarkedDocument]) -> list[list[str]]:
        """Return the relations of the document; none for pairs that were not read."""
        predicted: list[list[str]] = []
        for instance, above in parts:
            for pair, row in zip(instance.pairs, above.tolist(), strict=True):
                predicted += self._relations_of(pair, row)
        return sorted_lists(predicted)

    def _relations_of(self, pair: Pair, above: Sequence[float]) -> list[list[str]]:
        labels = list(compress(self.labels, above))
        novelty = [NOVELTY[NOVEL not in labels]] if NOVEL in self.labels else []
        return [[*pair, label, *novelty] for label in labels if label != NOVEL]
