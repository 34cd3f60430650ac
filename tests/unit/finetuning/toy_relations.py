"""Toy relations between mentions of made-up words, and how a task reads them."""

from pathlib import Path
from typing import Literal

import torch

from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.finetuning.encoders import add_tokens, load_encoder, load_encoder_tokenizer
from pubmill.finetuning.inputs import Instance
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.relations import written_tokens
from pubmill.finetuning.tasks.texts import Sequences
from pubmill.recipes import Dummies, FinetuningRecipe
from tests.unit.tiny_encoders import tiny_bert, tiny_roberta

SYLLABLES = ["ba", "co", "di", "fu", "ge", "lo"]
KINDS = ["ine", "long", "mab"]
RECIPE = FinetuningRecipe(
    task="sequence",
    metric="accuracy",
    dummies=Dummies(types=dict(zip(KINDS, ("@gene$", "@drug$", "@cell$"), strict=True)), overlap="@{}-{}$"),
    learning_rate=4e-3,
    batch_size=16,
    epochs=4,
    dropout=0.0,
    head_dropout=0.0,
    precision="float32",
)
CPU = torch.device("cpu")


def write_models(folder: Path) -> dict[str, Path]:
    """A tiny model of each of two families that knows the syllables, the kinds and the dummies."""
    pieces = [*SYLLABLES, *KINDS, "gene", "drug", "cell", "@", "$", "-"]
    return {"bert": tiny_bert(folder / "bert", pieces), "roberta": tiny_roberta(folder / "roberta")}


def relation(name: str, text: str, entities: list[Entity], label: str = "no") -> SequenceExample:
    return SequenceExample(id=name, document=None, text=text, label=label, entities=entities)


def task(model: Path, recipe: FinetuningRecipe, max_length: int = 64) -> Sequences:
    """With the marks in its vocabulary, where the recipe has them."""
    segments: Literal["separate", "none"] = "none" if model.name == "roberta" else "separate"
    tokenizer = load_encoder_tokenizer(model)
    reader = Reader(tokenizer, max_length, segments, marks=written_tokens(recipe))
    made = Sequences(recipe, reader, ["ine", "long"])
    if recipe.entities == "markers":
        add_tokens(made.reader.tokenizer, load_encoder(model, 0.0, CPU), written_tokens(recipe))
    return made


def shown(made: Sequences, instance: Instance) -> tuple[list[str], list[str]]:
    """The subwords of an instance, and those that the head reads."""
    tokens = list(made.reader.tokenizer.convert_ids_to_tokens(instance.ids))
    return tokens, [tokens[place] for place in instance.places]


def entity(text: str, mention: str, kind: str = "ine") -> Entity:
    return Entity(start=text.index(mention), end=text.index(mention) + len(mention), type=kind)
