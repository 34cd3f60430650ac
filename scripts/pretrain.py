r"""Pretrain a language model up to one checkpoint.

    .venv/bin/python scripts/pretrain.py --recipe JSON --tokens DIR --vocab DIR --output R/step-N --to N \
        [--previous R/step-M | --model DIR | --other DIR] [--teacher DIR] [--save-minutes 10] [--version 0]
    .venv/bin/torchrun --nproc-per-node 8 scripts/pretrain.py ...

Inputs: packed tokens (scripts/pack.py), the vocabulary they were packed with, and the previous checkpoint.
The first segment may start from the weights of a model folder, or continue another recipe's checkpoint. A
distillation also needs the teacher's model folder.
Output: a folder with model.safetensors and config.json (as transformers reads them), auxiliary.safetensors,
optimizer.safetensors, state.json (step, losses on training and held-out text, tokens, seconds, recipe,
inputs, commit, packages, hardware) and log.jsonl (loss, rate and speed); the log also as TensorBoard events,
in `tensorboard` beside it.
The program saves its state every few minutes and when it is asked to stop. The same command resumes from that
save, also with another number of processes. If the save belongs to other work (other inputs, recipe or
version), the program reports this and starts from the beginning.
All of it is for its owner alone if an input is.
Killed and run again, it gives the same weights on a processor; on a GPU only with PUBMILL_DETERMINISTIC=1,
which refuses operations that have no deterministic kernel. Without it, attention's backward pass and other
operations differ between runs in the last digits.
Needs torch and transformers only; with tensorboard it writes its events.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# Waiting threads of a CPU run yield soon instead of spinning: a few percent slower on an idle machine, but
# beside another busy process spinning would cut the speed to a tenth. Must be set before torch is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes import PretrainingRecipe
from pubmill.storage.privacy import keep_private


def main() -> None:
    """Parse the arguments and pretrain."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="a PretrainingRecipe: JSON text or a JSON file")
    parser.add_argument("--tokens", required=True, type=Path, help="folder of packed tokens")
    parser.add_argument("--vocab", required=True, type=Path, help="folder of the vocabulary")
    parser.add_argument("--output", required=True, type=Path, help="checkpoint folder to write")
    parser.add_argument("--to", required=True, type=int, help="step to stop at")
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument(
        "--previous", type=Path, help="checkpoint folder to continue (default: start from scratch)"
    )
    begin.add_argument("--model", type=Path, help="model folder with the initial weights")
    begin.add_argument("--other", type=Path, help="checkpoint folder of another recipe to continue")
    parser.add_argument("--teacher", type=Path, help="model folder of the teacher, for a distillation")
    parser.add_argument(
        "--save-minutes", type=float, default=10.0, help="minutes between saves (0: save after each step)"
    )
    parser.add_argument(
        "--version",
        type=int,
        nargs="+",
        default=[0],
        help="version of this stage, and of parts of it; a save of another one is not resumed",
    )
    given = vars(parser.parse_args())
    recipe = recipes.read(PretrainingRecipe, given.pop("recipe"))

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.pretraining.segments import Segment, pretrain

    first, *parts = given.pop("version")
    segment = Segment(**given, version=[first, *parts] if parts else first)
    sources = segment.tokens, segment.vocab, segment.previous, segment.model, segment.other, segment.teacher
    keep_private(path for path in sources if path)
    pretrain(recipe, segment)


if __name__ == "__main__":
    run(main)
