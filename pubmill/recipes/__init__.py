"""Training recipes: plain dataclasses passed to training jobs.

Standard library only: `scripts/pretrain.py` and `scripts/finetune.py` run on machines where only torch and
transformers are installed. `pubmill.specs` checks the same classes when it reads the YAML.
"""

from pubmill.recipes.finetuning import Dummies, FinetuningRecipe
from pubmill.recipes.objectives import Adversarial, Causal, Distillation, Generator, Objective
from pubmill.recipes.pretraining import Architecture, Optimisation, PretrainingRecipe, RotaryAttention
from pubmill.recipes.reading import build, fits, read
from pubmill.recipes.recipe_types import Precision
from pubmill.recipes.vocabs import Splitting, VocabRecipe

__all__ = [
    "Adversarial",
    "Architecture",
    "Causal",
    "Distillation",
    "Dummies",
    "FinetuningRecipe",
    "Generator",
    "Objective",
    "Optimisation",
    "Precision",
    "PretrainingRecipe",
    "RotaryAttention",
    "Splitting",
    "VocabRecipe",
    "build",
    "fits",
    "read",
]
