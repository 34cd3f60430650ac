"""Input of a fine-tuning: its recipe and model, and the splits of its dataset."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example, read_examples
from pubmill.recipes import FinetuningRecipe

Value = TypeVar("Value")


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

    @property
    def splits(self) -> list[str]:
        """The splits that are read."""
        return list(dict.fromkeys(name for name in ("train", self.dev, self.split) if name))


@dataclass(frozen=True)
class Shared:
    """What fine-tunings of a process have in common. `loaded`: examples, hashes, and the model as it was
    read; `encoded`: split -> recipe and encoded examples of the last fine-tuning."""

    loaded: dict[Hashable, Any] = field(default_factory=dict)
    encoded: dict[str, tuple[FinetuningRecipe, Any]] = field(default_factory=dict)

    def once(self, load: Callable[..., Value], *arguments: Any) -> Value:
        """Return `load(*arguments)`, which is called once. Whoever changes the value must copy it before."""
        key = (load, *arguments)
        if key not in self.loaded:
            self.loaded[key] = load(*arguments)
        value: Value = self.loaded[key]
        return value


def read_split(dataset: Path, name: str, kind: type[Example]) -> list[Any]:
    path = split_path(dataset, name)
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; the stage convert makes it")
    examples = list(read_examples(path, kind))
    if not examples:
        raise PubmillError(f"{path} holds no example; convert the dataset again")
    return examples


def split_path(dataset: Path, name: str) -> Path:
    return dataset / f"{name}.jsonl.gz"
