"""Trace the memory of fine-tuning steps with the largest batches of the protocols on the pretended device.

LD_PRELOAD=LIBRARY python tests/gpu/trace_finetuning_memory.py CASE...

CASE: a key of `CASES`. Prints a JSON object, case -> `{"parts", "peak", "refused"}`: parts in which a batch
is computed, peak bytes, and why the step cannot be recorded. Inputs have the recipe's largest length, and the
head labels each word. Of more than two parts, two are traced: the others need no more memory.
"""

import json
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from transformers import AlbertConfig, AlbertModel, BertConfig, BertModel

from benchmarks.finetuning_texts import mentions, write_model
from pubmill.examples.kinds import TokensExample
from pubmill.finetuning import encoders, run
from pubmill.finetuning.finetuning_job import FinetuningJob
from tests.gpu.kernel_traces import KernelTrace, choose_attention_kernels
from tests.gpu.pretended_cuda import pretend
from tests.gpu.pretended_graphs import pretend_to_record

GPU = torch.device("cuda", 0)
BASE = BertConfig()
LARGE = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
XXLARGE = AlbertConfig(
    vocab_size=30_000,
    hidden_size=4096,
    num_hidden_layers=12,
    num_attention_heads=64,
    intermediate_size=16_384,
)


@dataclass(frozen=True)
class Case:
    """A batch of a protocol; `divided`: whether it may be computed in parts."""

    config: Any
    batch_size: int
    length: int
    divided: bool = True


CASES = {
    "blurb, BERT-base": Case(BASE, 32, 512),
    "tinn2021, BERT-large": Case(LARGE, 32, 512),
    "shin2020, questions, BERT-large": Case(LARGE, 1024, 512),
    "alrowili2021, questions, ALBERT-xxlarge": Case(XXLARGE, 128, 512),
    "alrowili2021, questions, ALBERT-xxlarge, at once": Case(XXLARGE, 128, 512, divided=False),
}


def traced(case: Case, folder: Path) -> dict[str, Any]:
    """Trace two steps of at most two parts, of which the second step is recorded."""
    recipe = replace(mentions(None).recipe, batch_size=case.batch_size, max_length=case.length)
    words = [f"w{number}" for number in range(case.length - 2)]
    labels = ["B", *["O"] * (len(words) - 1)]
    examples = [
        TokensExample(id=str(number), document=None, words=words, labels=labels)
        for number in range(case.batch_size)
    ]
    with KernelTrace() as trace:
        pretend_to_record(trace)
        trainer, _ = run._make_trainer(FinetuningJob(recipe, folder, folder, 1, "test"), examples, GPU)
        trainer.at_once = trainer.at_once if case.divided else None
        split = trainer.task.encode_split(examples, learn=True)
        trainer.working.train()
        parts = trainer._parts(split.lengths, range(case.batch_size))
        for step in range(2):
            trainer.optimiser.schedule(step, 9)
            trainer._learn(split, parts[:2])
    assert trainer.recorded
    return {"parts": len(parts), "peak": trace.peak, "refused": trainer.recorded.refused}


def main() -> None:
    torch.manual_seed(0)
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = write_model(Path(name) / "model", [], learn=False, small=True)
        with pretend():
            choose_attention_kernels()
            for case in sys.argv[1:]:
                config = CASES[case].config
                vars(encoders)["load_encoder_and_pooler"] = partial(full_size, config)
                results[case] = traced(CASES[case], folder)
    print(json.dumps(results))


def full_size(config: Any, *_: Any) -> tuple[Any, None]:
    """Return a random encoder on the device, with the dropout of the protocols, and no pooler."""
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.1
    config._attn_implementation = "sdpa"
    kind: Any = AlbertModel if config.model_type == "albert" else BertModel
    return kind(config, add_pooling_layer=False).to(GPU), None


if __name__ == "__main__":
    main()
