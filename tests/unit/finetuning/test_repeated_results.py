"""The same recipe gives the same fine-tuning from one version of pubmill to the next.

A change of these numbers changes every record: raise the stage's version then
(`Pretrain`, `Finetune`, `TrainVocab`). Counts are compared exactly; losses, which other processors round
differently, to four digits.

Seen on an AMD EPYC with AVX2, with the kernels that `ATEN_CPU_CAPABILITY` (default, avx2) chooses.
"""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.inputs import prediction_batches, training_batches
from pubmill.finetuning.run import finetune
from tests.unit.finetuning.test_pairs import BASE, METRICS, datasets
from tests.unit.toy_tasks import DUMMIES

__all__ = ["datasets"]
SETTINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "tokens": ("tokens", {"warmup": 0.5, "frozen_layers": 0}),
    "crf": ("tokens", {"crf": True, "tagging": "bioul", "labelled_subwords": "all"}),
    "dice": ("tokens", {"head": "bilstm", "head_sizes": [8], "loss": "dice", "reinitialised_layers": 1}),
    "oversampled": ("sequence", {"oversample": True, "loss": "weighted", "removed_layers": 1}),
    "markers": ("sequence", {"entities": "markers", "pooling": "mention-average", "layerwise_decay": 0.8}),
    "sentences": ("multilabel", {"unit": "sentence", "loss": "weighted", "head": "mlp", "head_sizes": [6]}),
    "regression": ("regression", {"weight_decay": 0.1, "train_on": "train+dev"}),
    "answers": ("span", {"bias_correction": False, "keep": "last", "n_best": 3}),
    "separate": ("tokens", {"labelled_subwords": "separate", "crf": True}),
    "mlp": ("tokens", {"head": "mlp", "head_sizes": [8], "loss": "weighted", "metric": "word_macro_f1"}),
    "pooler": ("sequence", {"head": "pooler", "metric": "macro_f1", "loss": "dice"}),
    "documents": ("multilabel", {"loss": "weighted", "metric": "example_f1"}),
    "pairs": ("regression", {"segments": "single"}),
}


def numbers(name: str, tiny: Path, datasets: Path) -> list[Any]:
    """Losses of two epochs, dev scores, steps, tokens, changes of texts, and the first predicted number."""
    task, setting = SETTINGS[name]
    settings = {"metric": METRICS[task], **setting}
    recipe = replace(BASE, task=task, dummies=DUMMIES, precision="float32", epochs=2, **settings)
    made = finetune(FinetuningJob(recipe, tiny, datasets / task, 1, "test"))
    report, first = made.report, made.predictions[0]
    changes = [count for count in report["encoded"].values() if count]
    number = first.get("score") or first.get("answers", [{"probability": 0}])[-1]["probability"]
    steps = [report["steps"], report["steps_on_train_and_dev"] or 0]
    return [*report["loss_by_epoch"], *report["dev"]["scores"], *steps, report["tokens"], *changes, number]


@pytest.mark.parametrize(
    ("inputs", "classes", "expected"),
    [(40, None, "a8f796db6ea5d011"), (3000, None, "f2eb2021775198e0"), (700, 3, "c75ae174e1bc8d48")],
)
def test_batches(inputs: int, classes: int | None, expected: str) -> None:
    lengths = [3 + number * 37 % 101 for number in range(inputs)]
    labels = [number % 7 % classes for number in range(inputs)] if classes else None
    batches = [training_batches(inputs, 8, 5, epoch, labels) for epoch in range(2)]
    found = hashlib.sha256(str([batches, prediction_batches(lengths, 512)]).encode())
    assert found.hexdigest()[:16] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tokens", [1.07716, 0.910119, 0, 0, 10, 0, 948, 38, 0]),
        ("crf", [1.54851, 1.36645, 0, 0, 10, 0, 948, 38, 0]),
        ("dice", [0.283795, 0.278201, 0, 0, 10, 0, 948, 38, 0]),
        ("oversampled", [1.08988, 0.964413, 0.5, 0.5, 10, 0, 1212, 53, 53, 0]),
        ("markers", [0.616455, 0.594854, 0.5, 0.5, 6, 0, 764, 55, 55, 0]),
        ("sentences", [0.693194, 0.693069, 0.5, 0.461538, 12, 0, 980, 12, 0]),
        ("regression", [135.404, 131.331, 0.122919, 0.103631, 6, 5, 1344, 104, 0.493612]),
        ("answers", [1.45173, 0.975584, 0.333333, 18, 0, 1970, 56, 0.00139526]),
        ("separate", [1.37061, 1.24674, 0, 0, 10, 0, 948, 38, 0]),
        ("mlp", [1.09359, 1.09044, 0.231405, 0.294737, 10, 0, 948, 38, 0]),
        ("pooler", [0.207177, 0.195967, 0.333333, 0.333333, 6, 0, 764, 53, 53, 0]),
        ("documents", [0.703227, 0.695921, 0.513333, 0.513333, 6, 0, 748, 41, 0]),
        ("pairs", [135.242, 131.099, 0.200387, 0.22029, 6, 0, 768, 104, 0.468833]),
    ],
)
def test_losses_scores_and_counts(name: str, expected: list[float], tiny: Path, datasets: Path) -> None:
    assert numbers(name, tiny, datasets) == pytest.approx(expected, rel=5e-4, abs=1e-6)
