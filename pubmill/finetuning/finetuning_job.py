"""Input of a fine-tuning job: its recipe and model, and the splits of its dataset."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example, read_examples
from pubmill.recipes import FinetuningRecipe


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
