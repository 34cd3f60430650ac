"""Every task and head of fine-tuning: recipes, and examples for tiny models."""

import random
from collections.abc import Callable
from dataclasses import replace

from pubmill.examples.kinds import Example, MultilabelExample, RegressionExample, TokensExample
from pubmill.recipes import FinetuningRecipe
from tests.unit import toy_tasks
from tests.unit.finetuning import toy_relations, toy_spans
from tests.unit.finetuning.toy_relations import entity, relation

SYLLABLES = toy_relations.SYLLABLES
PIECES = [*SYLLABLES, *toy_relations.KINDS, "gene", "drug", "cell", "@", "$", "-"]
COMMON = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=1e-3, batch_size=4, epochs=1, max_length=32, keep="last"
)
RELATIONS = replace(
    toy_relations.RECIPE, batch_size=4, epochs=1, max_length=32, keep="last", precision="auto"
)


def document_wide(name: str) -> FinetuningRecipe:
    return replace(toy_tasks.OURS[name], batch_size=4, epochs=1, keep="last", precision="auto")


MULTILABEL = replace(COMMON, task="multilabel", metric="micro_f1")
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
    "sequence mention-max": replace(RELATIONS, entities="original", pooling="mention-max"),
    "sequence mention-average": replace(RELATIONS, entities="original", pooling="mention-average"),
    "sequence bilstm": replace(RELATIONS, head="bilstm", head_sizes=[8]),
    "sequence oversampled": replace(RELATIONS, oversample=True, loss="weighted"),
    "multilabel": MULTILABEL,
    "multilabel weighted": replace(MULTILABEL, loss="weighted"),
    "regression": replace(COMMON, task="regression", metric="pearson"),
    "span": replace(toy_spans.RECIPE, batch_size=4, epochs=1, keep="last", precision="auto"),
    "relations": document_wide("relations"),
    "mentions": document_wide("nested mentions"),
    "stabilised": replace(
        COMMON,
        bias_correction=False,
        weight_decay=0.01,
        layerwise_decay=0.9,
        frozen_layers=1,
        reinitialised_layers=1,
    ),
}


def words(draw: random.Random, number: int) -> list[str]:
    return [draw.choice(SYLLABLES) for _ in range(number)]


def sentence(draw: random.Random, name: str) -> Example:
    further = draw.randint(0, 2)
    labels = ["O", "B", "I", *["O"] * further]
    return TokensExample(id=name, document=None, words=words(draw, len(labels)), labels=labels)


def related(draw: random.Random, name: str) -> Example:
    text = " ".join(["ine", *words(draw, draw.randint(1, 4)), "long", *words(draw, 2)])
    arguments = [entity(text, "ine"), entity(text, "long", "long")]
    return relation(name, text, arguments, label=draw.choice(["no", "yes"]))


def labelled(draw: random.Random, name: str) -> Example:
    labels = sorted({"a", draw.choice("bc")})
    return MultilabelExample(
        id=name, document=None, text=" ".join(words(draw, draw.randint(3, 9))), labels=labels
    )


def similar(draw: random.Random, name: str) -> Example:
    first, second = (" ".join(words(draw, draw.randint(2, 6))) for _ in range(2))
    score = draw.random()
    return RegressionExample(id=name, document=None, text=first, text_pair=second, score=score)


def with_relations(draw: random.Random, name: str) -> Example:
    made = toy_tasks.related(draw, toy_tasks.Common(id=name, document=None))
    return replace(made, text=" ".join([made.text, *words(draw, draw.randint(0, 5))]))


MAKERS: dict[str, Callable[[random.Random, str], Example]] = {
    "tokens": sentence,
    "sequence": related,
    "multilabel": labelled,
    "regression": similar,
    "span": toy_spans.learnable,
    "relations": with_relations,
    "mentions": lambda draw, name: toy_tasks.example("mentions", int(name), draw),
}
IN_FLOAT32 = {"fnet"}
"""Architectures whose steps are not recorded, because they have no working copy in bfloat16."""
