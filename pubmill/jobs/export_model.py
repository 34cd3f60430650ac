"""Make a model folder that transformers loads, from a checkpoint, at random, a folder, an archive or the hub,
with its card, README.md; readable only by its owner if an input is. `pin`: of weights that the recipe does
not pin."""

from pathlib import Path

from pubmill.recipes.models import ExportRecipe
from pubmill.storage.privacy import keep_private


def main(
    recipe: ExportRecipe,
    output: Path,
    checkpoint: Path | None = None,
    vocab: Path | None = None,
    folder: Path | None = None,
    statistics: Path | None = None,
    archive: Path | None = None,
    pin: Path | None = None,
) -> None:
    keep_private(path for path in (checkpoint, vocab, folder) if path)

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.pretraining.export import export

    export(recipe, output, checkpoint, vocab, folder, statistics, archive, pin)
    print(f"{output}: {recipe.model}, weights of kind {recipe.weights.kind}")
