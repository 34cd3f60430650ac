"""Recipes of the prompting of language models."""

from pubmill.recipes.datasets import Glosses
from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.recipes.submissions import Engine


class Asking(StrictRecipe):
    """How a language model is asked.

    - `model`: its name on the server.
    - `shots`: worked examples of the training split before each prompt, drawn by `seed`, which the server
      gets too.
    - `length`: the longest answer in tokens.
    - `structured`: answers are JSON of a schema that the server enforces.
    - `engine`: what answers, if it is stated.
    """

    model: str
    shots: int = 0
    seed: int = 1
    temperature: float = 0.0
    length: int = 512
    structured: bool = False
    engine: Engine | None = None


class PublishedText(StrictRecipe):
    """A prompt in a file of others: the part of it that stands for the input, and the file's SHA-256."""

    place: str
    sha256: str


class AskRecipe(StrictRecipe):
    """How a language model is asked for the test examples of a dataset. `prompt`: the template; with
    `published`, the template of the input that is put into the published file. `task`, `mentions`, `glosses`,
    `dummies`: those of the dataset's spec."""

    asking: Asking
    task: str
    prompt: str
    mentions: str | None = None
    glosses: Glosses | None = None
    dummies: Dummies | None = None
    published: PublishedText | None = None
