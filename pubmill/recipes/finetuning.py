"""Fine-tuning recipes."""

import re
from collections.abc import Mapping
from dataclasses import field, fields
from typing import Annotated, Any, Literal

from pydantic import Field

from pubmill.recipes.recipe_types import Kind, Positive, PositiveFloat, Precision, Share, Size, StrictRecipe

_OVERLAP = re.compile(r"[^{}]*(\{\}[^{}]*\{\}[^{}]*)?")


class Dummies(StrictRecipe):
    """Dummy words that replace a mention of each entity type, and two overlapping mentions.

    `overlap` is either a fixed text or has two `{}`, which are filled with the words of the two types'
    dummies in the order of the entities: `@{}-{}$` becomes `@GENE-DRUG$` for a `@GENE$` and a `@DRUG$`
    (`pubmill.examples.argument_transforms`).

    - `types`: the dummy of each entity type.
    - `overlap`: the dummy of two mentions that overlap, a fixed text or one with two `{}`.
    """

    types: dict[str, str]
    overlap: str

    def __post_init__(self) -> None:
        if not _OVERLAP.fullmatch(self.overlap):
            raise ValueError(f"overlap must have two {{}} or no braces, found {self.overlap!r}")


class FinetuningRecipe(StrictRecipe):
    """One fine-tuning of a pretrained encoder on one dataset.

    Decided by the dataset:
    - `task`: the kind of its examples; `metric`: the dev score by which weights are chosen; `negative`: the
      label that micro F1 ignores; `dummies`: words that replace its mentions.

    Input (gu2020 sections 5.1, 5.2; tinn2021 section 3.1; shin2020 section 5.1):
    - `max_length`: subwords per input, including special ones, at most the encoder's limit; null: that limit.
    - `tagging` and `labelled_subwords` (tokens): label scheme, and which subwords of a word carry its label:
      the `first`, `all`, or the first with the label X on the others (`separate`).
    - `words` (tokens): words have the subwords that they have in a sentence (`spaced`), or each those of a
      text of its own (`alone`).
    - `entities`: relation arguments are kept (`original`), replaced by dummies, or put between markers.
    - `segments`: two texts have two segment ids or one; `unit` (multilabel): a document is read whole, or
      sentence by sentence with the union of its sentences' labels.
    - `max_mention_length` (mentions): words of the longest mention that is predicted.
    - `stride`: tokens shared by neighbouring windows of a long context; `max_answer_length` in tokens;
      `n_best`: number of predicted answers (span).

    Layers on top of the encoder (gu2020 section 5.2, Tables 10 and 12; shin2020 Tables 1 and 2):
    - `pooling`: the encoding of a sequence: the first token, the first token of each mention, or the maximum
      or average over each mention.
    - `head`: a linear layer; the same after fully connected layers of `head_sizes` with ReLU; the same after
      a layer with tanh of the encoder's width, of BERT its pretrained pooler (`pooler`: sequence,
      multilabel); or a BiLSTM whose size per direction is the single entry of `head_sizes`. The BiLSTM reads
      the labelled subwords (tokens), or all tokens of a sequence, where the last state of each direction
      replaces the first token (pooling cls). `head_dropout`: before the first layer of the head, of BiLSTM
      and a new pooler before each, of a pretrained pooler after it. `crf`: also learn transitions between
      labels (tokens).

    Training: `keep`: the weights that are best on dev, or the last; dev is evaluated every `evaluate_every`
    steps, or after each epoch. `stop_after`: steps after which training ends, although the learning rate is
    scheduled for all epochs. `loss` and `oversample` (repeats examples of rarer labels) counter label
    imbalance (shin2020 section 5.5).

    Stabilisation (tinn2021 sections 2.4, 3.2 to 3.6, Table 7): `bias_correction` of Adam; `frozen_layers`:
    the embeddings and this number of lowest layers are not trained (null: everything is); `layerwise_decay`:
    each layer's learning rate is this factor times that of the layer above; `reinitialised_layers` and
    `removed_layers`: numbers of top layers; `train_on`: once the best number of steps is known, training
    restarts on train and dev.

    - `max_answer_length`: longest answer, in tokens (span).
    - `head_sizes`: widths of the head's layers.
    - `learning_rate`: the highest rate.
    - `batch_size`: examples in a step.
    - `epochs`: passes over train.
    - `evaluate_every`: steps between evaluations on dev; null: once in an epoch.
    - `loss`: cross-entropy, the same weighted against frequent labels, or dice.
    - `oversample`: repeat examples of rarer labels.
    - `warmup`: share of the steps in which the rate rises.
    - `dropout`: share of the encoder's values set to zero.
    - `weight_decay`: share of a weight that a step at rate 1 removes.
    - `max_gradient_norm`: longer gradients are shortened to this norm.
    - `precision`: number format of the computation (`auto`: bfloat16 where the device has it, else float16 on
      GPUs with tensor cores, else float32).
    - `bias_correction`: whether Adam corrects its first means.
    - `adam_epsilon`: what Adam adds to the root of the second moment.
    """

    task: Kind
    metric: str
    negative: str | None = None
    dummies: Dummies | None = None

    max_length: Positive | None = 512
    tagging: Literal["bio", "bioul", "io"] = "bio"
    labelled_subwords: Literal["first", "all", "separate"] = "first"
    words: Literal["spaced", "alone"] = "spaced"
    entities: Literal["dummies", "markers", "original"] = "dummies"
    segments: Literal["separate", "single"] = "separate"
    unit: Literal["document", "sentence"] = "document"
    max_mention_length: Positive = 8
    stride: Size = 128
    max_answer_length: Positive = 30
    n_best: Positive = 20

    pooling: Literal["cls", "entity-start", "mention-max", "mention-average"] = "cls"
    head: Literal["linear", "mlp", "pooler", "bilstm"] = "linear"
    head_sizes: list[Positive] = field(default_factory=list)
    head_dropout: Share = 0.1
    crf: bool = False

    learning_rate: PositiveFloat
    batch_size: Positive
    epochs: Positive
    keep: Literal["best", "last"] = "best"
    evaluate_every: Positive | None = None
    stop_after: Positive | None = None
    loss: Literal["cross-entropy", "weighted", "dice"] = "cross-entropy"
    oversample: bool = False
    warmup: Share = 0.1
    dropout: Share = 0.1
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    max_gradient_norm: PositiveFloat = 1.0
    precision: Precision = "auto"

    bias_correction: bool = True
    adam_epsilon: PositiveFloat = 1e-8
    frozen_layers: Size | None = None
    layerwise_decay: Annotated[float, Field(gt=0, le=1)] = 1.0
    reinitialised_layers: Size = 0
    removed_layers: Size = 0
    train_on: Literal["train", "train+dev"] = "train"

    def __post_init__(self) -> None:
        faults = _faults(self)
        if faults:
            raise ValueError("; ".join(faults))

    @property
    def spaced_words(self) -> bool:
        """Whether examples are words, read as in a sentence."""
        return self.task == "tokens" and self.words == "spaced"


OF_ONE_KIND = {
    "tagging": "tokens", "labelled_subwords": "tokens", "words": "tokens", "crf": "tokens",
    "oversample": "sequence", "entities": "sequence", "pooling": "sequence", "unit": "multilabel",
    "max_mention_length": "mentions",
}  # fmt: skip
"""Key -> the kind of examples for which alone it may have another value than its default."""
DEFAULTS = {one.name: one.default for one in fields(FinetuningRecipe)}


def _faults(recipe: FinetuningRecipe) -> list[str]:
    """Report settings that contradict each other or do not apply to the task and would be ignored."""
    task, head, pooling, entities = recipe.task, recipe.head, recipe.pooling, recipe.entities
    classes, texts = task in ("tokens", "sequence"), task in ("sequence", "multilabel")
    subwords, keep = recipe.labelled_subwords, recipe.keep
    refit, positive = recipe.train_on == "train+dev", recipe.metric == "positive_f1"
    wrong = {
        f"{key} is for {kind}": getattr(recipe, key) != DEFAULTS[key] and task != kind
        for key, kind in OF_ONE_KIND.items()
    } | {
        "head bilstm is for tokens and sequence": head == "bilstm" and not classes,
        "head bilstm reads all tokens; it needs pooling: cls": head == "bilstm" and pooling != "cls",
        "head bilstm needs head_sizes with one size": head == "bilstm" and len(recipe.head_sizes) != 1,
        "head pooler is for sequence and multilabel": head == "pooler" and not texts,
        "head mlp is for all tasks but relations": head == "mlp" and task == "relations",
        "head pooler reads the first token; it needs pooling: cls": head == "pooler" and pooling != "cls",
        f"head {head} has no head_sizes": head in ("linear", "pooler") and bool(recipe.head_sizes),
        "crf has its own loss; loss must be cross-entropy": recipe.crf and recipe.loss != "cross-entropy",
        "loss dice is for tokens and sequence": recipe.loss == "dice" and not classes,
        "loss weighted is for tokens, sequence and multilabel": recipe.loss == "weighted"
        and not (classes or texts),
        "pooling entity-start needs entities: markers": pooling == "entity-start" and entities != "markers",
        "stop_after needs keep: last": recipe.stop_after is not None and keep != "last",
        "evaluate_every needs keep: best": recipe.evaluate_every is not None and keep != "best",
        "train_on train+dev needs keep: best, which decides the number of steps": refit and keep != "best",
        "entities markers adds tokens, which cannot be learnt with frozen_layers": entities == "markers"
        and recipe.frozen_layers is not None,
        "labelled_subwords separate needs tagging: bio": subwords == "separate" and recipe.tagging != "bio",
        "metric positive_f1 needs the negative label": positive and recipe.negative is None,
    }
    return [fault for fault, present in wrong.items() if present]


PAIRED_TASKS = ("yes-no", "inference", "similarity", "classification", "factoid", "reading", "list")
"""Tasks whose examples are, or may be, two texts."""


def keys_in_use(values: Mapping[str, Any], task: str) -> set[str]:
    """Return the keys of a recipe that change what a run on a dataset of this task (`ner`) does. `values`:
    the recipe's, by key; one that it lacks has its default."""
    have = DEFAULTS | dict(values)
    kind, head, keep = have["task"], have["head"], have["keep"]
    texts = kind in ("sequence", "multilabel", "regression")
    unused = {key: kind != of for key, of in OF_ONE_KIND.items()} | {
        "negative": kind != "sequence",
        "dummies": task != "relation" or have["entities"] != "dummies",
        "entities": task != "relation",
        "segments": task not in PAIRED_TASKS,
        "stride": kind != "span",
        "max_answer_length": kind != "span",
        "n_best": kind != "span",
        "pooling": not texts,
        "head": kind == "relations",
        "head_sizes": head not in ("mlp", "bilstm"),
        "loss": kind in ("regression", "relations"),
        "evaluate_every": keep != "best",
        "stop_after": keep != "last",
        "train_on": keep != "best",
    }
    return {key for key in have if not unused.get(key)}


class TrialRecipes(StrictRecipe):
    """The recipes of trials that one job trains, by the names of their points."""

    points: dict[str, FinetuningRecipe]


class ChoiceRecipe(StrictRecipe):
    """The choice of a grid point: the split whose scores choose (`by`), and the keys that it decides."""

    by: Literal["dev"]
    decides: Annotated[tuple[str, ...], Field(min_length=1)]


Weights = Literal["float32", "bfloat16"]
"""Precision of the weights that an encoder computes with on a GPU."""
BYTES_KEPT: dict[Weights, int] = {"bfloat16": 52, "float32": 104}
"""Bytes that the backward pass keeps of a token, for each layer and hidden unit, as in pretraining."""


def bytes_of_token(layers: int, hidden: int, weights: Weights) -> int:
    """Return the bytes of a token's activations, with fused attention, which keeps no scores."""
    return BYTES_KEPT[weights] * hidden * layers


def most_tokens(memory: float, layers: int, hidden: int, weights: Weights) -> int:
    """Return the number of padded tokens that a GPU can compute at once: their activations fill half of its
    `memory`, which is in bytes."""
    return int(memory // 2 // bytes_of_token(layers, hidden, weights))
