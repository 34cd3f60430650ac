"""Trace a step of full-size pretraining recipes on the pretended device.

LD_PRELOAD=LIBRARY python tests/gpu/trace_recipes.py CASE...

CASE: a key of `CASES`. Prints a JSON object, case -> `{"tokens", "padded", "flops", "peak", "waits",
"copies", "methods", "slow"}` and the roofline: tokens, padded tokens and the model's operations in a step,
peak bytes of memory, waits of the host, copies from pageable memory, the methods that the engine chose, and
the roofline under the slower assumptions.
"""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from torch.nn.utils import clip_grad

from benchmarks import pretraining as benchmark
from benchmarks.pretraining_ways import IDS, SIZE, VOCABULARY, make_packed
from pubmill.pretraining.architectures import build_model
from pubmill.pretraining.arithmetic import BASE, operations
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.flops import shape_of_network
from pubmill.recipes import PretrainingRecipe
from tests.gpu.kernel_traces import (
    KernelTrace,
    choose_attention_kernels,
    pretend_to_compile,
    record_trainers_step,
)
from tests.gpu.pretended_cuda import Watch, pretend
from tests.gpu.rooflines import SLOW_H100, roofline

GPU = torch.device("cuda", 0)
DOCUMENTS = 2500
LAMB = replace(benchmark.make_recipe(BASE, benchmark.ORDERED, 128, 1).optimisation, optimiser="lamb")


def recipe(name: str, length: int, tokens: int) -> PretrainingRecipe:
    """Return a benchmark's recipe with about `tokens` positions in a step."""
    case = next(case for case in benchmark.CASES if (case.name, case.length) == (name, length))
    return benchmark.make_recipe(case.architecture, case.objective, length, tokens // length)


CASES = {
    "BERT-base 128": recipe("BERT-base", 128, 4 * 65_536),
    "BERT-base 512": recipe("BERT-base", 512, 4 * 65_536),
    "BERT-base 512, pairs": recipe("BERT-base, pairs", 512, 4 * 65_536),
    "BERT-large 512": recipe("BERT-large", 512, 4 * 32_768),
    "ALBERT-xxlarge 128": replace(recipe("ALBERT-xxlarge", 128, 32_768), optimisation=LAMB),
    "ELECTRA-base 128": recipe("ELECTRA-base", 128, 4 * 65_536),
    "ModernBERT-base 1024": recipe("ModernBERT-base", 1024, 4 * 65_536),
}
TRAINER = {f"Trainer's BERT-base {length}": length for length in (128, 512)}


def ours(wanted: PretrainingRecipe) -> dict[str, Any]:
    """Trace the engine's second step."""
    with KernelTrace() as trace:
        work = Pretraining(wanted, make_packed(DOCUMENTS), VOCABULARY, World(GPU))
        work.update(0)
        with trace.record(), Watch() as watch:
            sums = work.update(1)
    done = {name: sums[name] for name in ("tokens", "padded", "flops")}
    found = done | {"methods": asdict(work.computation.methods), "peak": trace.peak} | watch.found()
    return found | {"slow": roofline(trace.kernels, SLOW_H100)} | roofline(trace.kernels)


def trainers(length: int, tokens: int = 65_536) -> dict[str, Any]:
    """Trace a step of transformers' model on full blocks, as transformers' Trainer does it in bfloat16."""
    wanted = benchmark.make_recipe(BASE, benchmark.MASKED_LM, length, 1)
    with KernelTrace() as trace:
        model: Any = build_model(wanted.architecture, wanted.objective, SIZE, IDS, 1)
        model.config._attn_implementation = "sdpa"
        model = model.to(GPU).train()
        ids = torch.zeros(tokens // length, length, dtype=torch.int64, device=GPU)
        record_trainers_step(trace, model, input_ids=ids, token_type_ids=ids, labels=ids)
    needed = operations(shape_of_network(model), tokens, tokens * length, 0.15 * tokens)
    found = {"tokens": tokens, "padded": tokens, "flops": needed, "peak": trace.peak}
    return found | {"slow": roofline(trace.kernels, SLOW_H100)} | roofline(trace.kernels)


def main() -> None:
    # Before the device exists, which has no real numbers.
    torch.manual_seed(0)
    with pretend():
        choose_attention_kernels()
        torch.compile = pretend_to_compile  # type: ignore[assignment]
        # Fake tensors are said to have none, so that every tensor would count as a kernel.
        clip_grad._has_foreach_support = lambda *given: True  # type: ignore[attr-defined]
        found = {
            name: trainers(TRAINER[name]) if name in TRAINER else ours(CASES[name]) for name in sys.argv[1:]
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
