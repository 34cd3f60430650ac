"""Input of a fine-tuning job: its recipe and model, and the splits of its dataset, encoded once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example, read_examples
from pubmill.recipes import FinetuningRecipe

if TYPE_CHECKING:
    from pubmill.finetuning.inputs import Encoded
    from pubmill.finetuning.tasks.task import Task


@dataclass(frozen=True)
class FinetuningJob:
    """Train `model` (a folder) on the dataset folder's train split with one seed, and predict `split`. `dev`
    is the split whose score selects the weights; None keeps the last weights."""

    recipe: FinetuningRecipe
    model: Path
    dataset: Path
    seed: int
    split: str
    dev: str | None = "dev"


@dataclass(frozen=True, kw_only=True)
class EncodedSplit:
    """Examples and their instances; `targets`: the training targets of each instance (training only)."""

    examples: Sequence[Any]
    encoded: "Encoded"
    targets: list[list[float]]

    @property
    def lengths(self) -> list[int]:
        return self.encoded.lengths


def read_split(dataset: Path, name: str, kind: type[Example]) -> list[Any]:
    """Return the examples of one split of a dataset folder."""
    path = split_path(dataset, name)
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; scripts/convert.py makes it")
    examples = list(read_examples(path, kind))
    if not examples:
        raise PubmillError(f"{path} holds no example; convert the dataset again")
    return examples


def split_path(dataset: Path, name: str) -> Path:
    return dataset / f"{name}.jsonl.gz"


def encode_split(task: "Task[Any]", examples: Sequence[Example], learn: bool = False) -> EncodedSplit:
    """Encode examples; with `learn`, also their training targets."""
    encoded = task.encode(examples)
    targets = task.targets(examples, encoded.instances) if learn else []
    return EncodedSplit(examples=examples, encoded=encoded, targets=targets)
