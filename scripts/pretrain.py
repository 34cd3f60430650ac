r"""Pretrain a language model up to one checkpoint.

    python scripts/pretrain.py --recipe JSON --tokens DIR --vocab DIR --output R/step-N --to N \
        [--start R/step-M] [--save-minutes 10] [--version 0]

Inputs: packed tokens (scripts/pack.py), the vocabulary they were packed with, and the checkpoint before.
Output: a folder with model.safetensors and config.json (as transformers reads them), optimizer.safetensors,
state.json (step, loss, tokens, seconds, recipe, inputs, commit, packages, hardware) and log.jsonl (loss, rate
and speed). It saves itself every few minutes and when asked to stop; the same command goes on from there, but
from a save of other work (other inputs, recipe or version) it begins anew and says so.
Needs torch and transformers only.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# Threads of a CPU run that wait for each other give way soon instead of spinning: a few percent slower on a
# machine of one's own, and not at a tenth of the speed beside another busy process. Read as torch is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from pubmill import recipes
from pubmill.errors import run
from pubmill.pretraining.engine import pretrain
from pubmill.recipes import PretrainingRecipe


def main() -> None:
    """Read the arguments and pretrain."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="a PretrainingRecipe: JSON text or a JSON file")
    parser.add_argument("--tokens", required=True, type=Path, help="folder of packed tokens")
    parser.add_argument("--vocab", required=True, type=Path, help="folder of the vocabulary (vocab.txt)")
    parser.add_argument("--output", required=True, type=Path, help="checkpoint folder to write")
    parser.add_argument("--to", required=True, type=int, help="the step to stop at")
    parser.add_argument("--start", type=Path, help="checkpoint folder to go on from (default: from scratch)")
    parser.add_argument(
        "--save-minutes", type=float, default=10.0, help="save after so many minutes (0: after each step)"
    )
    parser.add_argument(
        "--version", type=int, default=0, help="version of this stage, which decides the result"
    )
    given = parser.parse_args()
    recipe = recipes.read(PretrainingRecipe, given.recipe)
    pretrain(
        recipe,
        given.tokens,
        given.vocab,
        given.output,
        given.to,
        given.start,
        given.save_minutes,
        given.version,
    )


if __name__ == "__main__":
    run(main)
