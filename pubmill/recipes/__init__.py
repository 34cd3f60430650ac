"""Recipes: what is passed to jobs as JSON. `pubmill.specs` embeds the same classes where fields coincide."""

from pubmill.recipes.finetuning import Dummies, FinetuningRecipe
from pubmill.recipes.objectives import Adversarial, Causal, Distillation, Generator, Objective
from pubmill.recipes.pretraining import Architecture, Optimisation, PretrainingRecipe, RotaryAttention
from pubmill.recipes.reading import build, read
from pubmill.recipes.recipe_types import Precision
from pubmill.recipes.vocabs import Splitting, VocabRecipe

__all__ = [
    "Adversarial", "Architecture", "Causal", "Distillation", "Dummies", "FinetuningRecipe", "Generator",
    "Objective", "Optimisation", "Precision", "PretrainingRecipe", "RotaryAttention", "Splitting",
    "VocabRecipe", "build", "read",
]  # fmt: skip
