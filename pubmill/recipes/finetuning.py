"""Recipes of fine-tuning."""

from dataclasses import dataclass, field
from typing import Literal

from pubmill.recipes.base import FORBID_UNKNOWN, Precision


@dataclass(frozen=True, kw_only=True)
class Dummies:
    """Dummies for mentions of each entity type, and for mentions that overlap (`argument_transforms`)."""

    __pydantic_config__ = FORBID_UNKNOWN

    types: dict[str, str]
    overlap: str


@dataclass(frozen=True, kw_only=True)
class FinetuningRecipe:
    """One fine-tuning of a pretrained encoder on one dataset.

    What the dataset decides:
    - `task`: the kind of its examples; `metric`: the dev score that chooses among weights; `negative`:
      the label that micro F1 leaves out; `dummies`: what stands for its mentions.

    How an example is read (gu2020 sections 5.1, 5.2; tinn2021 section 3.1; shin2020 section 5.1):
    - `max_length`: subwords of an input, special ones included.
    - `tagging` and `labelled_subwords` (tokens): label scheme, and which subwords of a word carry its label.
    - `entities`: relation arguments as they stand, replaced by dummies, or between markers.
    - `segments`: whether two texts have two segment ids or one; `unit`: whether a document is read whole
      or sentence by sentence, its labels being those of all its sentences (multilabel).
    - `stride`: tokens that neighbouring windows of a long context share; `max_answer_length` in tokens;
      `n_best` answers are predicted (span).

    What is put on the encoder (gu2020 section 5.2, Tables 10 and 12; shin2020 Tables 1 and 2):
    - `pooling`: the encoding that stands for a sequence: of the first token, of the first tokens of its
      mentions, or the largest or average of each mention's.
    - `head`: linear; fully connected layers of `head_sizes` with ReLU before it; or a BiLSTM of the one
      size given (each direction): over labelled subwords (tokens), or over all of a sequence's tokens, of
      which the last state of each direction is taken (in place of the first token, pooling cls).
      `head_dropout`: before each of its layers. `crf`: transitions between labels are learnt too (tokens).

    How it learns: `keep`: the weights that are best on dev, or the last; dev is looked at every
    `evaluate_every` steps, or after each epoch. `stop_after`: steps after which training ends, though the
    schedule is that of all epochs. `loss` and `oversample` (repeats examples of rarer labels): against
    label imbalance (shin2020 section 5.5).

    Stabilisation (tinn2021 sections 2.4, 3.2 to 3.6, Table 7): `bias_correction` of Adam;
    `frozen_layers`: the embeddings and so many of the lowest layers stay as they are (null: none of it);
    `layerwise_decay`: each layer's learning rate is that of the one above times this;
    `reinitialised_layers` and `removed_layers`: so many of the top; `train_on`: after the best number of
    steps is known, training begins anew with train and dev.
    """

    __pydantic_config__ = FORBID_UNKNOWN

    task: Literal["tokens", "sequence", "multilabel", "regression", "span"]
    metric: str
    negative: str | None = None
    dummies: Dummies | None = None

    max_length: int = 512
    tagging: Literal["bio", "bioul", "io"] = "bio"
    labelled_subwords: Literal["first", "all"] = "first"
    entities: Literal["dummies", "markers", "original"] = "dummies"
    segments: Literal["separate", "single"] = "separate"
    unit: Literal["document", "sentence"] = "document"
    stride: int = 128
    max_answer_length: int = 30
    n_best: int = 20

    pooling: Literal["cls", "entity-start", "mention-max", "mention-average"] = "cls"
    head: Literal["linear", "mlp", "bilstm"] = "linear"
    head_sizes: list[int] = field(default_factory=list)
    head_dropout: float = 0.1
    crf: bool = False

    learning_rate: float
    batch_size: int
    epochs: int
    keep: Literal["best", "last"] = "best"
    evaluate_every: int | None = None
    stop_after: int | None = None
    loss: Literal["cross-entropy", "weighted", "dice"] = "cross-entropy"
    oversample: bool = False
    warmup: float = 0.1
    dropout: float = 0.1
    weight_decay: float = 0.0
    max_gradient_norm: float = 1.0
    precision: Precision = "auto"

    bias_correction: bool = True
    frozen_layers: int | None = None
    layerwise_decay: float = 1.0
    reinitialised_layers: int = 0
    removed_layers: int = 0
    train_on: Literal["train", "train+dev"] = "train"

    def __post_init__(self) -> None:
        faults = _faults(self)
        if faults:
            raise ValueError("; ".join(faults))


def _faults(recipe: FinetuningRecipe) -> list[str]:
    """Settings that mean nothing together, or on this kind of task; each would be ignored in silence."""
    tokens, classes = recipe.task == "tokens", recipe.task in ("tokens", "sequence")
    wrong = {
        "head bilstm is for tokens and sequence": recipe.head == "bilstm" and not classes,
        "head bilstm reads all tokens; it needs pooling: cls": recipe.head == "bilstm"
        and recipe.pooling != "cls",
        "head bilstm needs head_sizes of one size": recipe.head == "bilstm" and len(recipe.head_sizes) != 1,
        "head mlp needs head_sizes": recipe.head == "mlp" and not recipe.head_sizes,
        "head linear has no head_sizes": recipe.head == "linear" and bool(recipe.head_sizes),
        "crf is for tokens": recipe.crf and not tokens,
        "a crf has a loss of its own; loss must be cross-entropy": recipe.crf
        and recipe.loss != "cross-entropy",
        "loss dice is for tokens and sequence": recipe.loss == "dice" and not classes,
        "loss weighted is for tokens, sequence and multilabel": recipe.loss == "weighted"
        and not (classes or recipe.task == "multilabel"),
        "oversample is for sequence": recipe.oversample and recipe.task != "sequence",
        "pooling other than cls is for sequence": recipe.pooling != "cls" and recipe.task != "sequence",
        "pooling entity-start needs entities: markers": recipe.pooling == "entity-start"
        and recipe.entities != "markers",
        "unit sentence is for multilabel": recipe.unit == "sentence" and recipe.task != "multilabel",
        "stop_after needs keep: last": recipe.stop_after is not None and recipe.keep != "last",
        "evaluate_every needs keep: best": recipe.evaluate_every is not None and recipe.keep != "best",
        "train_on train+dev needs keep: best, which decides how long": recipe.train_on == "train+dev"
        and recipe.keep != "best",
        "markers are new tokens, which can't be learnt with frozen_layers": recipe.entities == "markers"
        and recipe.frozen_layers is not None,
        "entities other than dummies are for sequence": recipe.entities != "dummies"
        and recipe.task != "sequence",
        "tagging other than bio is for tokens": recipe.tagging != "bio" and not tokens,
        "labelled_subwords other than first is for tokens": recipe.labelled_subwords != "first"
        and not tokens,
        "metric positive_f1 needs the negative label": recipe.metric == "positive_f1"
        and recipe.negative is None,
    }
    return [*(fault for fault, present in wrong.items() if present), *_out_of_range(recipe)]


POSITIVE = (
    "learning_rate", "batch_size", "epochs", "max_length", "max_gradient_norm", "n_best", "max_answer_length",
    "evaluate_every", "stop_after", "layerwise_decay",
)  # fmt: skip
NOT_NEGATIVE = ("weight_decay", "stride", "frozen_layers", "reinitialised_layers", "removed_layers")
SHARES = ("warmup", "dropout", "head_dropout")


def _out_of_range(recipe: FinetuningRecipe) -> list[str]:
    """Numbers that no training can have."""
    values = {name: getattr(recipe, name) for name in (*POSITIVE, *NOT_NEGATIVE, *SHARES)}
    known = {name: value for name, value in values.items() if value is not None}
    return [
        *(f"{name} must be above 0, found {known[name]}" for name in POSITIVE if known.get(name, 1) <= 0),
        *(
            f"{name} can't be negative, found {known[name]}"
            for name in NOT_NEGATIVE
            if known.get(name, 0) < 0
        ),
        *(
            f"{name} must be from 0 to below 1, found {known[name]}"
            for name in SHARES
            if not 0 <= known[name] < 1
        ),
        *(f"head_sizes must be above 0, found {size}" for size in recipe.head_sizes if size <= 0),
        *(["layerwise_decay can be at most 1"] if recipe.layerwise_decay > 1 else []),
    ]
