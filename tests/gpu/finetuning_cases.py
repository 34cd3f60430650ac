"""Every task and head of fine-tuning: recipes for short trainings on the toy tasks."""

import random
from dataclasses import replace

from pubmill.examples.kinds import Example
from pubmill.recipes import FinetuningRecipe
from tests.unit.toy_tasks import OURS, SPAN, TOKENS, example


def case(recipe: FinetuningRecipe) -> FinetuningRecipe:
    """The recipe for an epoch of small batches, after which the last weights stay."""
    return replace(
        recipe, learning_rate=1e-3, batch_size=4, epochs=1, max_length=32, keep="last", precision="auto"
    )


COMMON = case(TOKENS)
RELATIONS = case(OURS["sequence"])
ORIGINAL = replace(RELATIONS, entities="original")
MULTILABEL = case(OURS["multilabel"])
RECIPES = {
    "tokens": COMMON,
    "tokens crf": replace(COMMON, crf=True),
    "tokens, separate subwords": replace(COMMON, labelled_subwords="separate", loss="weighted"),
    "tokens bilstm": replace(COMMON, head="bilstm", head_sizes=[8]),
    "tokens mlp": replace(COMMON, head="mlp", head_sizes=[8]),
    "tokens weighted": replace(COMMON, loss="weighted"),
    "tokens dice": replace(COMMON, loss="dice"),
    "sequence": RELATIONS,
    "sequence entity-start": replace(RELATIONS, entities="markers", pooling="entity-start"),
    "sequence mention-max": replace(ORIGINAL, pooling="mention-max"),
    "sequence mention-average": replace(ORIGINAL, pooling="mention-average"),
    "sequence bilstm": replace(RELATIONS, head="bilstm", head_sizes=[8]),
    "sequence oversampled": replace(RELATIONS, oversample=True, loss="weighted"),
    "multilabel": MULTILABEL,
    "multilabel weighted": replace(MULTILABEL, loss="weighted"),
    "regression": case(OURS["regression"]),
    "span": case(SPAN),
    "relations": case(OURS["relations"]),
    "mentions": case(OURS["nested mentions"]),
    "stabilised": replace(
        COMMON, bias_correction=False, weight_decay=0.01, layerwise_decay=0.9, frozen_layers=1,
        reinitialised_layers=1,
    ),
}  # fmt: skip
TASKS = list(dict.fromkeys(recipe.task for recipe in RECIPES.values()))
IN_FLOAT32 = {"fnet"}
"""Architectures whose steps are not recorded, because they have no working copy in bfloat16."""


def examples(task: str, number: int) -> list[Example]:
    draw = random.Random(1)
    return [example(task, place, draw) for place in range(number)]
