"""Do a step and a prediction of every task and head on the pretended device.

LD_PRELOAD=LIBRARY python tests/gpu/trace_finetuning.py

The BiLSTM is missing, as the pretended device cannot pack sequences. Prints a JSON object,
case -> {"outcome": "done" or the error, "step": waits and copies of a training step, "predict": those of a
prediction}.
"""

import json
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from pubmill.annotation.examples import Example, MultilabelExample, RegressionExample, TokensExample
from pubmill.finetuning import heads, run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.splits import encode_split
from pubmill.finetuning.trainer import Trainer
from pubmill.recipes import FinetuningRecipe
from tests.gpu.pretended_cuda import Watch, pretend
from tests.unit.finetuning import toy_relations, toy_spans
from tests.unit.finetuning.toy_relations import entity, relation
from tests.unit.tiny_encoders import tiny_bert

SYLLABLES = toy_relations.SYLLABLES
PIECES = [*SYLLABLES, *toy_relations.KINDS, "gene", "drug", "cell", "@", "$", "-"]
EXAMPLES = 12
GPU = torch.device("cuda", 0)
COMMON = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=1e-3, batch_size=4, epochs=1, max_length=32, keep="last"
)
RELATIONS = replace(
    toy_relations.RECIPE, batch_size=4, epochs=1, max_length=32, keep="last", precision="auto"
)
MULTILABEL = replace(COMMON, task="multilabel", metric="micro_f1")
RECIPES = {
    "tokens": COMMON,
    "tokens crf": replace(COMMON, crf=True),
    "tokens, separate subwords": replace(COMMON, labelled_subwords="separate", loss="weighted"),
    "tokens mlp": replace(COMMON, head="mlp", head_sizes=[8]),
    "tokens weighted": replace(COMMON, loss="weighted"),
    "tokens dice": replace(COMMON, loss="dice"),
    "sequence": RELATIONS,
    "sequence entity-start": replace(RELATIONS, entities="markers", pooling="entity-start"),
    "sequence mention-max": replace(RELATIONS, entities="original", pooling="mention-max"),
    "sequence mention-average": replace(RELATIONS, entities="original", pooling="mention-average"),
    "sequence oversampled": replace(RELATIONS, oversample=True, loss="weighted"),
    "multilabel": MULTILABEL,
    "multilabel weighted": replace(MULTILABEL, loss="weighted"),
    "regression": replace(COMMON, task="regression", metric="pearson"),
    "span": replace(toy_spans.RECIPE, batch_size=4, epochs=1, keep="last", precision="auto"),
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
    return TokensExample(id=name, document=None, words=words(draw, 5), labels=["O", "B", "I", "O", "O"])


def related(draw: random.Random, name: str) -> Example:
    text = " ".join(["ine", *words(draw, 3), "long", *words(draw, 2)])
    arguments = [entity(text, "ine"), entity(text, "long", "long")]
    return relation(name, text, arguments, label=draw.choice(["no", "yes"]))


def labelled(draw: random.Random, name: str) -> Example:
    labels = sorted({"a", draw.choice("bc")})
    return MultilabelExample(id=name, document=None, text=" ".join(words(draw, 6)), labels=labels)


def similar(draw: random.Random, name: str) -> Example:
    first, second = (" ".join(words(draw, 4)) for _ in range(2))
    score = draw.random()
    return RegressionExample(id=name, document=None, text=first, text_pair=second, score=score)


MAKERS: dict[str, Callable[[random.Random, str], Example]] = {
    "tokens": sentence,
    "sequence": related,
    "multilabel": labelled,
    "regression": similar,
    "span": toy_spans.learnable,
}


def begin(recipe: FinetuningRecipe, folder: Path, examples: list[Any]) -> Trainer:
    job = FinetuningJob(recipe, folder, folder, 1, "test")
    trainer, _ = run._make_trainer(job, examples, GPU)
    return trainer


def watched(recipe: FinetuningRecipe, folder: Path) -> dict[str, Any]:
    """Waits of the host and copies in the second step of a training, and in a prediction."""
    draw = random.Random(1)
    examples = [MAKERS[recipe.task](draw, str(number)) for number in range(EXAMPLES)]
    trainer = begin(recipe, folder, examples)
    split = encode_split(trainer.task, examples, learn=True)
    trainer.task.prepare(examples, split.encoded.instances)
    first, second, *_ = trainer._epoch_batches(split, 0)
    trainer.model.train()
    trainer._update(split, first, 0, 9)
    with Watch() as step:
        trainer._update(split, second, 1, 9)
    with Watch() as predict:
        trainer.predict(split)
    return {"outcome": "done", "step": step.found(), "predict": predict.found()}


def outcome(recipe: FinetuningRecipe, folder: Path) -> dict[str, Any]:
    try:
        return watched(recipe, folder)
    except Exception as error:
        return {"outcome": f"{type(error).__name__}: {error}"}


def planted(folder: Path) -> dict[str, Any]:
    """Faults that must be found: a tensor on the processor, a wait, and a copy from pageable memory."""
    forward = heads.Layers.forward
    found = {}
    faults: dict[str, Callable[[torch.Tensor], Any]] = {
        "planted tensor": lambda places: places + torch.zeros(1).expand(2, 1)[:1],
        "planted wait": lambda places: places * places.sum().item(),
        "planted copy": lambda places: places + torch.zeros(1).to(GPU, non_blocking=True),
    }
    for name, fault in faults.items():

        def faulty(self: Any, places: torch.Tensor, batch: Any, fault: Any = fault) -> torch.Tensor:
            return forward(self, fault(places), batch)

        with patch.object(heads.Layers, "forward", faulty):
            found[name] = outcome(COMMON, folder)
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        plain, spans = tiny_bert(Path(name) / "bert", PIECES), toy_spans.make_model(Path(name) / "spans")
        with pretend():
            found = {
                case: outcome(recipe, spans if recipe.task == "span" else plain)
                for case, recipe in RECIPES.items()
            }
            found |= planted(plain)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
