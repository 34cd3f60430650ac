"""Input of a fine-tuning job."""

from dataclasses import dataclass
from pathlib import Path

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
