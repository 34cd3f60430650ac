"""Make a model folder that transformers loads, from a checkpoint, at random, a folder, an archive or the hub.

    .venv/bin/python scripts/export_model.py --recipe JSON --output models/MODEL
        [--checkpoint pretraining/RECIPE/step-N] [--statistics corpora/CORPUS/stats.json]
        [--vocab vocabs/VOCAB] [--folder PATH] [--archive FILE] [--pin FILE]

Inputs: the recipe (pubmill.recipes.models.ExportRecipe); --checkpoint and --vocab for pretrained weights,
--vocab for random ones, --folder for your own model, --archive for a released one, and --pin, which
scripts/pin_weights.py writes, if the recipe names no commit or hash of released weights.
Output: the folder models/MODEL with config.json, model.safetensors, tokenizer files and the model card,
README.md; readable only by its owner if an input is.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.models import ExportRecipe
from pubmill.storage.privacy import keep_private


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a model folder that transformers loads.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: an ExportRecipe")
    parser.add_argument("--output", required=True, type=Path, help="folder to write")
    parser.add_argument(
        "--checkpoint", type=Path, help="step-N folder of a pretraining, for kind pretraining"
    )
    parser.add_argument("--vocab", type=Path, help="vocabulary folder, for kinds pretraining and random")
    parser.add_argument("--folder", type=Path, help="the user's own model folder, for kind folder")
    parser.add_argument("--statistics", type=Path, help="stats.json of the pretraining corpus, for the card")
    parser.add_argument("--archive", type=Path, help="archive with the released model, for kind archive")
    parser.add_argument("--pin", type=Path, help="pin of released weights that the recipe does not pin")
    arguments = parser.parse_args()
    recipe = recipes.read(ExportRecipe, arguments.recipe)
    keep_private(path for path in (arguments.checkpoint, arguments.vocab, arguments.folder) if path)

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.pretraining.export import export

    export(
        recipe,
        arguments.output,
        arguments.checkpoint,
        arguments.vocab,
        arguments.folder,
        arguments.statistics,
        arguments.archive,
        arguments.pin,
    )
    print(f"{arguments.output}: {recipe.model}, weights of kind {recipe.weights.kind}")


if __name__ == "__main__":
    run(limited(main))
