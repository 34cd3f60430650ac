r"""Pretrain a language model up to one checkpoint.

    .venv/bin/python scripts/pretrain.py --recipe JSON --tokens DIR --vocab DIR --output R/step-N --to N \
        [--previous R/step-M | --model DIR | --other DIR] [--teacher DIR] [--save-minutes 10] [--version 0]
    .venv/bin/torchrun --nproc-per-node 8 scripts/pretrain.py ...

Inputs: packed tokens (of the job `pack`), their vocabulary, and the previous checkpoint; or the weights with
which the first segment starts. Output: a folder with model.safetensors and config.json (as transformers reads
them), optimizer.safetensors, state.json (losses, seconds, recipe, inputs, commit, hardware) and log.jsonl.
The state is saved every few minutes and when the program is asked to stop; the same command resumes from it,
also with another number of processes. A save of other work is reported and not used.
Needs torch, transformers and pydantic only. The same command gives the same weights; on a GPU only with
PUBMILL_DETERMINISTIC=1, which refuses nondeterministic kernels.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# Waiting threads of a CPU run yield soon instead of spinning: a few percent slower on an idle machine, but
# beside another busy process spinning would cut the speed to a tenth. Must be set before torch is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from pubmill.errors import run
from pubmill.job import check_alternatives, program
from pubmill.recipes import PretrainingRecipe
from pubmill.storage.privacy import keep_private


def main(
    recipe: PretrainingRecipe,
    tokens: Annotated[Path, "folder of packed tokens"],
    vocab: Annotated[Path, "folder of the vocabulary"],
    output: Annotated[Path, "checkpoint folder to write"],
    to: Annotated[int, "step to stop at"],
    previous: Annotated[Path | None, "checkpoint folder to continue (default: start from scratch)"] = None,
    model: Annotated[Path | None, "model folder with the initial weights"] = None,
    other: Annotated[Path | None, "checkpoint folder of another recipe to continue"] = None,
    teacher: Annotated[Path | None, "model folder of the teacher, for a distillation"] = None,
    save_minutes: Annotated[float, "minutes between saves (0: save after each step)"] = 10.0,
    version: Annotated[
        list[int] | None, "version of this stage; a save of another one is not resumed"
    ] = None,
) -> None:
    """Pretrain up to a step."""
    check_alternatives(previous=previous, model=model, other=other)

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.pretraining.segments import Segment, pretrain

    keep_private(path for path in (tokens, vocab, previous, model, other, teacher) if path)
    first, *parts = version or [0]
    segment = Segment(
        tokens=tokens, vocab=vocab, output=output, to=to, previous=previous, model=model, other=other,
        teacher=teacher, save_minutes=save_minutes, version=[first, *parts] if parts else first,
    )  # fmt: skip
    pretrain(recipe, segment)


if __name__ == "__main__":
    run(program(main))
