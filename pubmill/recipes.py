"""What a training job is told, as plain data.

Standard library only: `scripts/pretrain.py` and `scripts/finetune.py` run on machines that have
nothing but torch and transformers. `pubmill.specs` checks the same classes when it reads the YAML.
"""

import json
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pubmill.errors import PubmillError

Recipe = TypeVar("Recipe")
Precision = Literal["auto", "float32", "bfloat16"]
Splitting = Literal["bert-uncased", "bert-cased", "byte-level", "white-space"]


FORBID_UNKNOWN = {"extra": "forbid"}  # read by pydantic when a spec embeds a recipe


@dataclass(frozen=True, kw_only=True)
class VocabRecipe:
    """A vocabulary of `size` pieces, special ones included.

    `kind` is the form of its tokenizer: BERT's, RoBERTa's or ALBERT's. `learner`: byte-pair merges by
    frequency (`pubmill.vocabs.merges`), or the trainer of SentencePiece with its unigram model or its merges;
    for WordPiece any of them. `most_words` bounds memory: that many of the corpus's distinct words are learnt
    from at most, the most frequent ones; the diagnosis says what that left out.
    """

    __pydantic_config__ = FORBID_UNKNOWN

    kind: Literal["wordpiece", "byte-level-bpe", "sentencepiece"]
    size: int
    lowercase: bool
    learner: Literal["merges", "sentencepiece-unigram", "sentencepiece-bpe"] = "merges"
    most_words: int = 4_000_000

    def fault(self) -> str | None:
        """Why there is no such vocabulary, if there isn't."""
        if self.kind == "byte-level-bpe" and (self.learner != "merges" or self.lowercase):
            return "a byte-level vocabulary has `learner: merges` and `lowercase: false`"
        if self.kind == "sentencepiece" and self.learner == "merges":
            return "a SentencePiece vocabulary has `learner: sentencepiece-unigram` or `sentencepiece-bpe`"
        return None

    def splitting(self) -> Splitting:
        """How text is separated into the words that it is learnt from (`pubmill.vocabs.words`)."""
        if self.kind == "wordpiece":
            return "bert-uncased" if self.lowercase else "bert-cased"
        return "byte-level" if self.kind == "byte-level-bpe" else "white-space"


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """An encoder's shape; `bert` is the one of Devlin et al. (2019)."""

    __pydantic_config__ = FORBID_UNKNOWN

    family: Literal["bert"]
    layers: int
    hidden_size: int
    attention_heads: int
    intermediate_size: int
    max_positions: int = 512
    dropout: float = 0.1


@dataclass(frozen=True, kw_only=True)
class Objective:
    """Masked language modelling, with or without next-sentence prediction (gu2020 sections 2.3, 2.4)."""

    __pydantic_config__ = FORBID_UNKNOWN

    masking: Literal["whole-word", "wordpiece"]
    masking_rate: float = 0.15
    replaced_by_mask: float = 0.8
    replaced_at_random: float = 0.1
    next_sentence: bool = True


@dataclass(frozen=True, kw_only=True)
class Optimisation:
    """Adam with a linear rise over the first `warmup` share of the steps and a linear fall after."""

    __pydantic_config__ = FORBID_UNKNOWN

    learning_rate: float
    warmup: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    weight_decay: float = 0.01
    max_gradient_norm: float = 1.0


@dataclass(frozen=True, kw_only=True)
class PretrainingRecipe:
    """One pretraining: `steps` updates over `batch_size` sequences of `sequence_length` tokens."""

    __pydantic_config__ = FORBID_UNKNOWN

    architecture: Architecture
    objective: Objective
    optimisation: Optimisation
    sequence_length: int
    batch_size: int
    steps: int
    seed: int = 1
    precision: Precision = "auto"


@dataclass(frozen=True, kw_only=True)
class Dummies:
    """What stands for a mention of each entity type, and for mentions that overlap (`pubmill.entities`)."""

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


def build(recipe: type[Recipe], values: dict[str, Any], where: str) -> Recipe:
    """Make a recipe from parsed JSON; unknown and missing keys are errors that name `where`."""
    if not is_dataclass(recipe):
        raise TypeError(f"{recipe} is not a recipe")
    hints = get_type_hints(recipe)
    known = {one.name: one for one in fields(recipe)}
    unknown = sorted(values.keys() - known.keys())
    needed = {
        name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING
    }
    missing = sorted(needed - values.keys())
    if unknown or missing:
        raise PubmillError(
            f"{where}: {recipe.__name__} has unknown keys {unknown} and lacks {missing}; "
            f"its keys are {sorted(known)}"
        )
    made = {}
    for name, value in values.items():
        hint = hints[name]
        nested = next((kind for kind in (hint, *get_args(hint)) if is_dataclass(kind)), None)
        if isinstance(nested, type) and isinstance(value, dict):
            made[name] = build(nested, value, f"{where}.{name}")
        elif fits(value, hint):
            made[name] = value
        else:
            raise PubmillError(f"{where}: {name} must be {_shown(hint)}, found {value!r}")
    try:
        return recipe(**made)
    except ValueError as error:
        raise PubmillError(f"{where}: {error}") from None


def fits(value: Any, hint: Any) -> bool:
    """Whether a value read from JSON is of the type that a recipe's field declares."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in arguments
    if origin in (Union, UnionType):
        return any(fits(value, argument) for argument in arguments)
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    if origin is list:
        return isinstance(value, list) and all(fits(item, arguments[0]) for item in value)
    return hint is Any or isinstance(value, origin or hint)


def _shown(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    return getattr(hint, "__name__", str(hint))


def read(recipe: type[Recipe], argument: str, chosen: dict[str, Any] | None = None) -> Recipe:
    """Read the `--recipe` argument of a program: JSON text, or the path of a JSON file.

    `chosen` holds keys that were decided elsewhere (by a search) and come on top.
    """
    text, where = argument, "--recipe"
    if not argument.lstrip().startswith("{"):
        path = Path(argument)
        if not path.is_file():
            raise PubmillError(f"--recipe: {argument} is neither JSON text nor an existing JSON file")
        text, where = path.read_text(), str(path)
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise PubmillError(f"{where}: not valid JSON: {error.msg} at line {error.lineno}") from None
    return build(recipe, {**values, **(chosen or {})}, where)
