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

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.models import ExportRecipe
from pubmill.recipes.programs import program
from pubmill.storage.privacy import keep_private


def main(
    recipe: ExportRecipe,
    output: Annotated[Path, "folder to write"],
    checkpoint: Annotated[Path | None, "step-N folder of a pretraining, for kind pretraining"] = None,
    vocab: Annotated[Path | None, "vocabulary folder, for kinds pretraining and random"] = None,
    folder: Annotated[Path | None, "the user's own model folder, for kind folder"] = None,
    statistics: Annotated[Path | None, "stats.json of the pretraining corpus, for the card"] = None,
    archive: Annotated[Path | None, "archive with the released model, for kind archive"] = None,
    pin: Annotated[Path | None, "pin of released weights that the recipe does not pin"] = None,
) -> None:
    keep_private(path for path in (checkpoint, vocab, folder) if path)

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.pretraining.export import export

    export(recipe, output, checkpoint, vocab, folder, statistics, archive, pin)
    print(f"{output}: {recipe.model}, weights of kind {recipe.weights.kind}")


if __name__ == "__main__":
    run(program(main))
