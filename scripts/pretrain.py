r"""Pretrain a language model up to one checkpoint.

    python scripts/pretrain.py --recipe JSON --tokens DIR --vocab DIR --output R/step-N --to N \
        [--start R/step-M]

Inputs: packed tokens (scripts/pack.py), the vocabulary they were packed with, and the checkpoint before.
Output: a folder with model.safetensors and config.json (as transformers reads them), optimizer.safetensors,
state.json (step, loss, tokens, seconds, hardware, versions, precision) and log.jsonl (loss, rate and
speed). It saves itself every `save_every` steps and when asked to stop; the same command goes on from there.
Needs torch and transformers only.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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
    given = parser.parse_args()
    recipe = recipes.read(PretrainingRecipe, given.recipe)
    pretrain(recipe, given.tokens, given.vocab, given.output, given.to, given.start)


if __name__ == "__main__":
    run(main)
