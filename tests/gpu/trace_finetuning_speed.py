"""Trace steps of fine-tuning BERT-base on the pretended device, ours and transformers' Trainer's.

LD_PRELOAD=LIBRARY python tests/gpu/trace_finetuning_speed.py CASE...

CASE: a key of `CASES`. Prints a JSON object, case -> `{"seconds", *KERNELS, "kernels",
"host", "launches", "peak", "width"}`: the mean roofline of a step, the host's seconds to start its
`launches`, the peak of memory in bytes, and the padded tokens of an input.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    BertConfig,
    BertModel,
)

from benchmarks.finetuning_texts import CLASSES, Work, mentions, relations, write_model
from benchmarks.kernel_classes import CLASSES as KERNELS
from pubmill.finetuning import encoders, predicting, run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.predicting import PLAIN
from tests.gpu.kernel_traces import KernelTrace, choose_attention_kernels, record_trainers_step
from tests.gpu.pretended_cuda import pretend
from tests.gpu.pretended_graphs import Graphs, pretend_to_record
from tests.gpu.rooflines import H100, roofline

GPU = torch.device("cuda", 0)
EXAMPLES = 2048
WORKS = {"ChemProt": relations, "NCBI-disease": mentions}


def found(trace: KernelTrace, graphs: Graphs, width: float) -> dict[str, float]:
    """Return the roofline; the host starts graphs and what is in none."""
    times = roofline(trace.kernels)
    launches = times["kernels"] - graphs.replayed + graphs.replays
    device, host = sum(times[name] for name in KERNELS), launches * H100.start
    changed = {"seconds": max(device, host), "host": host, "launches": launches}
    return {**times, **changed, "peak": trace.peak, "width": width}


def ours(work: Work, model: Path, recorded: bool) -> dict[str, float]:
    """Trace the third step of each shape; return means over an epoch. Not `recorded`: without graphs."""
    with KernelTrace() as trace:
        graphs = pretend_to_record(trace)
        examples = list(work.train.of[:EXAMPLES])
        trainer, _ = run._make_trainer(FinetuningJob(work.recipe, model, model, 1, "test"), examples, GPU)
        trainer.recorded = trainer.recorded if recorded else None
        split = trainer.task.encode_split(examples, learn=True)
        trainer.working.train()
        shapes: dict[tuple[tuple[int, int], ...], list[list[int]]] = {}
        for indices in trainer._epoch_batches(split, 0):
            parts = trainer._parts(split.lengths, indices)
            made = tuple((len(part), trainer._width(split.lengths[part[-1]])) for part in parts)
            shapes.setdefault(made, []).append(indices)
        steps, peak = [], 0
        for shape, batches in shapes.items():
            for step in range(2):
                trainer._update(split, batches[0], step, 100)
            graphs.replays = graphs.replayed = 0
            peak = max(peak, trace.peak)  # of the recording, whose memory the graphs keep
            with trace.record():
                trainer._update(split, batches[0], 2, 100)
            width = sum(inputs * width for inputs, width in shape) / len(batches[0])
            steps += [found(trace, graphs, width)] * len(batches)
            assert not recorded or graphs.replays == len(shape)
    means = {name: sum(step[name] for step in steps) / len(steps) for name in steps[0]}
    return {**means, "peak": max(peak, *(step["peak"] for step in steps))}


def as_before(work: Work, model: Path) -> dict[str, float]:
    """Trace ours as it is computed on older GPUs, but under autocast: float32 weights, no graphs."""
    with patch.object(predicting, "choose_execution", lambda *given: PLAIN):
        return ours(work, model, recorded=False)


def trainers(work: Work, folder: Path, padded: bool) -> dict[str, float]:
    """Trace a step of transformers' model as transformers' Trainer does it in bfloat16: `padded` to the
    longest input allowed, or to the longest of a batch of 32 in random order."""
    kind = AutoModelForSequenceClassification if work.name == "chemprot" else AutoModelForTokenClassification
    width = work.recipe.max_length or 512 if padded else RANDOM[work.name]
    with KernelTrace() as trace:
        graphs = pretend_to_record(trace)
        config = BertConfig(id2label=dict(enumerate(CLASSES[work.name])))
        model: Any = kind.from_config(config, attn_implementation="sdpa")
        model = model.to(GPU).train()
        ids = torch.ones(work.recipe.batch_size, width, dtype=torch.int64, device=GPU)
        labels = ids[:, 0] if work.name == "chemprot" else ids
        inputs = {"input_ids": ids, "token_type_ids": ids, "attention_mask": ids, "labels": labels}
        record_trainers_step(trace, model, **inputs)
        return found(trace, graphs, width)


RANDOM = {"chemprot": 168, "ncbi-disease": 95}
"""Mean length of the longest of 32 inputs in random order, with special tokens (`LENGTHS`)."""
WAYS: dict[str, Callable[..., dict[str, float]]] = {
    "Trainer padded": partial(trainers, padded=True),
    "Trainer dynamic": partial(trainers, padded=False),
    "ours before": as_before,
    "ours": partial(ours, recorded=True),
}
CASES = {f"{name}, {way}": (make, trace) for name, make in WORKS.items() for way, trace in WAYS.items()}


def full_size(folder: Path, dropout: float, device: torch.device) -> tuple[Any, None]:
    """Return a random BERT-base without pooler, as files cannot be read into the device."""
    config = BertConfig(vocab_size=30_522, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    config._attn_implementation = "sdpa"
    encoder: Any = BertModel(config, add_pooling_layer=False)
    return encoder.to(device), None


def main() -> None:
    torch.manual_seed(0)
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = write_model(Path(name) / "model", [], learn=False, small=True)
        vars(encoders)["load_encoder_and_pooler"] = full_size
        with pretend():
            choose_attention_kernels()
            for case in sys.argv[1:] or CASES:
                make, trace = CASES[case]
                results[case] = trace(make(None), folder)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
