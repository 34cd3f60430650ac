"""Do a step and a prediction of every task and head on the pretended device.

LD_PRELOAD=LIBRARY python tests/gpu/trace_finetuning.py --cases CASE ...

Prints a JSON object, case -> {"outcome": "done" or the error, "usual": waits and copies of a step that is
not replayed, "step": those of a replayed one, "predict": those of a prediction, "replays": graphs in the
replayed step, "after": stream and generator of random numbers}.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

from pubmill.finetuning import encoders, heads, run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.finetuning.trainer import Trainer
from pubmill.recipes import FinetuningRecipe
from tests.gpu.finetuning_cases import COMMON, IN_FLOAT32, RECIPES, TASKS, examples
from tests.gpu.pretended_cuda import Watch, pretend
from tests.gpu.pretended_graphs import pretend_to_record
from tests.unit.finetuning.encoder_families import save_encoder
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import SYLLABLES

EXAMPLES = 8
REPEATED = ("tokens, separate subwords", "tokens mlp", "sequence oversampled")
"""Cases that do nothing on the device that no other does."""
CASES = [case for case in RECIPES if case not in REPEATED]
GPU = torch.device("cuda", 0)
Work = Callable[[FinetuningRecipe, Path], dict[str, Any]]


def pretend_to_recur() -> None:
    """Replace LSTMs on packed sequences, whose kernels the device lacks, by products with the same weights
    and shapes; lengths are sorted outside of torch, where they have values."""
    heads.longest_first = lambda counts: np.argsort(-np.asarray(counts), kind="stable")

    def states(lstm: Any, packed: PackedSequence) -> Any:
        rows, size, instances = packed.data, lstm.hidden_size, int(packed.batch_sizes.shape[0])
        before = rows.new_zeros(len(rows), size)
        gates = [
            torch.nn.functional.linear(
                rows, getattr(lstm, f"weight_ih_l0{way}"), getattr(lstm, f"bias_ih_l0{way}")
            )
            + torch.nn.functional.linear(
                before, getattr(lstm, f"weight_hh_l0{way}"), getattr(lstm, f"bias_hh_l0{way}")
            )
            for way in ("", "_reverse")
        ]
        both = torch.stack([gate[:, :size].tanh() for gate in gates])
        return PackedSequence(both.transpose(0, 1).flatten(1), packed.batch_sizes), (
            both[:, :instances],
            None,
        )

    torch.nn.LSTM.forward = states  # type: ignore[method-assign,assignment]


def begin(recipe: FinetuningRecipe, folder: Path) -> tuple[Trainer, EncodedSplit, list[int]]:
    learnt = examples(recipe.task, EXAMPLES)
    trainer, _ = run._make_trainer(FinetuningJob(recipe, folder, folder, 1, "test"), learnt, GPU)
    split = trainer.task.encode_split(learnt, learn=True)
    trainer.task.prepare(learnt, split.encoded.instances)
    first, *_ = trainer.epoch_batches(split, 0)
    trainer.working.train()
    return trainer, split, first


def watched(recipe: FinetuningRecipe, folder: Path) -> dict[str, Any]:
    """Steps with the same batch (two as usual, a recorded one or a failed recording, one more), and a
    prediction."""
    graphs = pretend_to_record()
    trainer, split, first = begin(recipe, folder)
    assert trainer.recorded
    trainer.update(split, first, 0, 9)
    with patch.object(trainer.recorded, "find", lambda *given: None), Watch() as usual:
        trainer.update(split, first, 1, 9)
    trainer.update(split, first, 2, 9)
    graphs.replays = 0
    with Watch() as step:
        trainer.update(split, first, 3, 9)
    replays = graphs.replays
    with Watch() as predict:
        trainer.predict(split)
    return {
        "outcome": trainer.recorded.refused or "done",
        "usual": usual.found(),
        "step": step.found(),
        "predict": predict.found(),
        "replays": replays,
        "after": {"stream": graphs.stream, **graphs.generator.state},
    }


def watched_unrecorded(recipe: FinetuningRecipe, folder: Path) -> dict[str, Any]:
    """A step in float16 or float32, which is never recorded, and a prediction."""
    trainer, split, first = begin(recipe, folder)
    trainer.update(split, first, 0, 9)
    with Watch() as step:
        trainer.update(split, first, 1, 9)
    with Watch() as predict:
        trainer.predict(split)
    graphs = trainer.describe_execution()["graphs_per_step"]
    return {"outcome": "done", "graphs": graphs, "step": step.found(), "predict": predict.found()}


def outcome(recipe: FinetuningRecipe, folder: Path, of: Work = watched) -> dict[str, Any]:
    try:
        return of(recipe, folder)
    except Exception as error:
        return {"outcome": f"{type(error).__name__}: {error}"}


def planted(folder: Path) -> dict[str, Any]:
    """Faults that must be found: a tensor on the processor, a wait, a copy from pageable memory,
    transformers' own look at the mask, and a wait in a recording."""
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
    with patch.object(encoders, "attention_mask", lambda encoder, mask: mask):
        found["planted mask"] = outcome(COMMON, folder)
    with patch.object(encoders, "attention_mask", lambda encoder, mask: mask * mask.sum().item()):
        found["planted wait in a recording"] = outcome(COMMON, folder)
    loss = Tokens.loss
    with patch.object(Tokens, "loss", lambda *given: loss(*given) * given[-1].sum().item()):
        found["planted wait in a loss"] = outcome(COMMON, folder)
    return found


def of_cases(folder: Path, cases: list[str]) -> dict[str, Any]:
    model = tiny_bert(folder / "bert", SYLLABLES)
    pretend_to_recur()
    with pretend():
        found = {case: outcome(RECIPES[case], model) for case in cases} | planted(model)
        found["float16"] = watched_unrecorded(replace(COMMON, precision="float16"), model)
    return found


def of_architecture(folder: Path, family: str) -> dict[str, Any]:
    model = save_encoder(folder / family, family)
    work = watched_unrecorded if family in IN_FLOAT32 else watched
    with pretend():
        return {task: outcome(replace(RECIPES[task], max_length=64), model, work) for task in TASKS}


def main() -> None:
    kind, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = of_cases(folder, names) if kind == "--cases" else {kind: of_architecture(folder, kind)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
