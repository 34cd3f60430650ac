"""What a training job is told, as plain data.

Standard library only: `scripts/pretrain.py` and `scripts/finetune.py` run on machines that have
nothing but torch and transformers. `pubmill.specs` checks the same classes when it reads the YAML.
"""

import json
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pubmill.errors import PubmillError

Recipe = TypeVar("Recipe")
Precision = Literal["auto", "float32", "bfloat16"]


FORBID_UNKNOWN = {"extra": "forbid"}  # read by pydantic when a spec embeds a recipe


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
class FinetuningRecipe:
    """One fine-tuning of a pretrained encoder on one dataset (gu2020 sections 5 and 6.2)."""

    __pydantic_config__ = FORBID_UNKNOWN

    task: Literal["tokens"]
    metric: str
    head: Literal["linear"]
    tagging: Literal["bio"]
    labelled_subwords: Literal["first"]
    learning_rate: float
    batch_size: int
    epochs: int
    max_length: int = 512
    warmup: float = 0.1
    dropout: float = 0.1
    weight_decay: float = 0.0
    max_gradient_norm: float = 1.0
    precision: Precision = "auto"


def build(recipe: type[Recipe], values: dict[str, Any], where: str) -> Recipe:
    """Make a recipe from parsed JSON; unknown and missing keys are errors that name `where`."""
    if not is_dataclass(recipe):
        raise TypeError(f"{recipe} is not a recipe")
    hints = get_type_hints(recipe)
    known = {field.name: field for field in fields(recipe)}
    unknown = sorted(values.keys() - known.keys())
    missing = sorted(name for name, field in known.items() if name not in values and field.default is MISSING)
    if unknown or missing:
        raise PubmillError(
            f"{where}: {recipe.__name__} has unknown keys {unknown} and lacks {missing}; "
            f"its keys are {sorted(known)}"
        )
    made = {}
    for name, value in values.items():
        hint = hints[name]
        if is_dataclass(hint) and isinstance(hint, type):
            made[name] = build(hint, value, f"{where}.{name}")
        elif fits(value, hint):
            made[name] = value
        else:
            raise PubmillError(f"{where}: {name} must be {_shown(hint)}, found {value!r}")
    return recipe(**made)


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
