"""Differences between kinds of tasks, behind one interface for the trainer, and their losses, unweighted and
for imbalanced labels (shin2020 section 5.5)."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.finetuning.heads import Layers, PoolerLayers
from pubmill.finetuning.inputs import Batch, Encoded, EncodedSplit, Instance
from pubmill.finetuning.reader import Reader
from pubmill.metrics import dev_score, dev_scores
from pubmill.recipes import FinetuningRecipe

Kind = TypeVar("Kind", bound=Example)
Input = TypeVar("Input", bound=Instance)
Parts = Sequence[tuple[Input, Tensor]]
"""All instances of one example, in order, each with its rows of `Task.output` or `Task.probabilities`."""
Values = Sequence[Tensor]
"""Rows of `Task.output` or `Task.probabilities`, one tensor for each instance."""
Targets = list[list[float]]
"""Targets of each instance, in the form that its task's loss needs."""
Prediction = Any
"""The prediction for one example: labels, a label, a score or answers, depending on the task."""
DICE_ALPHA = 0.01
"""Exponent of 1 - p in the dice loss, as in the authors' scripts. The loss has its minimum at p = 1 / (1 +
alpha), so alpha 1 would hold the probability of the right class at one half."""
DICE_GAMMA = 1.0
"""Smoothing of the dice loss (Li et al. 2019 section 3.3)."""
IGNORED = -100
"""Target without a loss in `torch.nn.functional.cross_entropy`."""


class Task(ABC, Generic[Kind]):
    """A kind of task: how examples are encoded, what their targets are, how scores become predictions.
    `labels`: the classes in the order of the scores, taken from the training examples. `weights`: those of
    the classes in the loss, if `prepare` sets them."""

    kind: ClassVar[type[Example]]
    key: ClassVar[str]
    """Key of the prediction in a line of the predictions file."""

    def __init__(self, recipe: FinetuningRecipe, reader: Reader, labels: Sequence[str]) -> None:
        known = dev_scores(recipe.task)
        if recipe.metric not in known:
            names = ", ".join(known)
            raise PubmillError(f"{recipe.metric} is no dev score of {type(self).__name__}; there are {names}")
        self.recipe, self.reader, self.labels = recipe, reader, list(labels)
        self.weights: Tensor | None = None
        self.places = {label: number for number, label in enumerate(self.labels)}

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[Kind]) -> list[str]:
        """Return the classes of training examples, if any, in an order that depends only on the classes."""
        return []

    @abstractmethod
    def encode(self, examples: Sequence[Kind]) -> Encoded:
        """Return the instances of the examples, in order."""

    @abstractmethod
    def target(self, example: Kind, instance: Any) -> list[float]:
        """Return the targets of an instance of an example."""

    def targets(self, examples: Sequence[Kind], instances: Sequence[Any]) -> Targets:
        """Return the targets of each instance."""
        return [self.target(examples[one.example], one) for one in instances]

    def encode_split(self, examples: Sequence[Kind], learn: bool = False) -> EncodedSplit:
        """Encode examples; with `learn`, also their training targets."""
        encoded = self.encode(examples)
        targets = self.targets(examples, encoded.instances) if learn else []
        return EncodedSplit(examples=examples, encoded=encoded, targets=targets)

    @abstractmethod
    def loss(self, model: nn.Module, scores: Tensor, batch: Batch, targets: Tensor) -> Tensor:
        """Return the mean loss of a batch; `targets`: those of its instances, concatenated."""

    @abstractmethod
    def prediction(self, example: Kind, parts: Parts[Any]) -> Prediction:
        """Return the prediction for an example, from the outputs of its instances."""

    def predictions(
        self, examples: Sequence[Kind], instances: Sequence[Any], outputs: Values
    ) -> list[Prediction]:
        """Return the prediction for each example, from the outputs of all instances."""
        return [self.prediction(*one) for one in _parts(examples, instances, outputs)]

    def dev_score(self, examples: Sequence[Kind], predictions: Sequence[Prediction]) -> float:
        """Return the recipe's metric, higher is better; it selects weights and trials."""
        return dev_score(self.recipe.metric, self.recipe.task, examples, predictions, self.recipe.negative)

    def head(self, width: int) -> nn.Module:
        made = PoolerLayers if self.recipe.head == "pooler" else Layers
        return made(width, len(self.labels), self.recipe)

    def prepare(self, examples: Sequence[Kind], instances: Sequence[Any]) -> None:
        """Prepare class weights from the training examples, before the first step."""

    @property
    def fixed_places(self) -> Literal["given", "every"] | None:
        """The places that head and loss read, if all their tensor shapes then depend on the inputs' shape
        alone. `given`: the places of the batch; `every`: all positions, with targets at the places of the
        batch only; None: the shapes vary."""
        return None

    def output(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return the part of a batch's scores that predictions need, on the scores' device."""
        return scores

    def probabilities(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return the probability of every value of `output`."""
        raise PubmillError(f"a model for the task {self.recipe.task} predicts no probabilities")

    def confidence(self, example: Kind, parts: Parts[Any]) -> Any:
        """Return the confidence in the prediction for an example: by default one probability."""
        [(_, probability)] = parts
        return float(probability)

    def confidences(
        self, examples: Sequence[Kind], instances: Sequence[Any], probabilities: Values
    ) -> list[Any]:
        return [self.confidence(*one) for one in _parts(examples, instances, probabilities)]

    def sizes(self, batch: Batch) -> list[int]:
        """Return the number of rows of `output` that belong to each instance."""
        return batch.counts

    def row(self, example: Kind, prediction: Prediction | None) -> dict[str, object]:
        return {"id": example.id, self.key: prediction}


def _parts(
    examples: Sequence[Kind], instances: Sequence[Any], rows: Values
) -> Iterator[tuple[Kind, Parts[Any]]]:
    """Return each example with its instances and their rows."""
    parts: list[list[tuple[Any, Tensor]]] = [[] for _ in examples]
    for instance, values in zip(instances, rows, strict=True):
        parts[instance.example].append((instance, values))
    return zip(examples, parts, strict=True)


class Classification(Task[Kind]):
    """A kind of task whose rows of scores each choose one label."""

    def prepare(self, examples: Sequence[Kind], instances: Sequence[Any]) -> None:
        if self.recipe.loss == "weighted":
            counts = Counter(target for row in self.targets(examples, instances) for target in row)
            self.weights = torch.tensor(class_weights([counts[number] for number in range(len(self.labels))]))

    def loss(self, model: nn.Module, scores: Tensor, batch: Batch, targets: Tensor) -> Tensor:
        if self.weights is not None:
            self.weights = self.weights.to(scores.device)
        return classification_loss(self.recipe.loss, scores, targets.long(), self.weights)

    def output(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return the index of the best label of each row."""
        return scores.argmax(-1)

    def probabilities(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return the probability of the predicted label of each row."""
        return scores.float().softmax(-1).amax(-1)


def class_weights(counts: Sequence[int]) -> list[float]:
    """Return class weights in inverse proportion to the number of examples, over which their mean is 1. A
    class without examples has weight 0, which is never used."""
    present = sum(count > 0 for count in counts)
    return [sum(counts) / (present * count) if count else 0.0 for count in counts]


def label_weights(counts: Sequence[int], examples: int) -> list[list[float]]:
    """Return the weights of absence and presence (2 x labels), from the number of `examples` with each label.
    Each label is a binary classification with its own `class_weights`."""
    pairs = [class_weights([examples - count, count]) for count in counts]
    return [[pair[side] for pair in pairs] for side in (0, 1)]


def classification_loss(name: str, scores: Tensor, targets: Tensor, weights: Tensor | None) -> Tensor:
    """Return the mean loss of scores (n x classes) and classes (n, int64).

    With "weighted", `weights` (one per class, on the scores' device) multiply the cross-entropy of examples
    of that class. The sum is divided by n, not by the sum of the weights: otherwise a batch with a single
    class would not be weighted at all.
    """
    if name == "dice":
        return dice_loss(scores, targets)
    if name == "cross-entropy":
        return functional.cross_entropy(scores, targets)
    assert weights is not None
    return functional.cross_entropy(scores, targets, weight=weights, reduction="sum") / len(targets)


def multilabel_loss(scores: Tensor, targets: Tensor, weights: Tensor | None) -> Tensor:
    """Return the mean binary cross-entropy of scores and targets (both n x labels; targets 0.0 or 1.0),
    multiplied by `weights` (2 x labels: absence, presence; from `label_weights`), if there are any."""
    chosen = None if weights is None else torch.where(targets > 0.5, weights[1], weights[0])
    return functional.binary_cross_entropy_with_logits(scores, targets, weight=chosen)


def dice_loss(scores: Tensor, targets: Tensor) -> Tensor:
    """Return the self-adjusting dice loss (Li et al. 2019, arXiv 1911.02855, section 3.3) of scores (n x
    classes).

    1 - (2 q y + gamma) / (q + y + gamma) with q = (1 - p) ** alpha * p, for each example's right class, so
    that y = 1 and p is the probability of that class; the mean over the examples.
    """
    # With logarithms, because the derivative of (1 - p) ** alpha is unbounded where p is rounded to 1.
    right = functional.one_hot(targets, scores.shape[1]).bool()
    total = scores.logsumexp(1)
    probability = scores.masked_fill(~right, 0.0).sum(1) - total
    complement = scores.masked_fill(right, -torch.inf).logsumexp(1) - total
    weighed = torch.exp(DICE_ALPHA * complement + probability)
    return (1 - (2 * weighed + DICE_GAMMA) / (weighed + 1 + DICE_GAMMA)).mean()
