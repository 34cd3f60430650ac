"""Pretraining: packed tokens, checkpoints, and the segments between them."""

from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.recipes.pretraining import PackingRecipe, PretrainingRecipe
from pubmill.specs import PretrainingSpec, Specs
from pubmill.storage.result_paths import Paths


class Pretrainings:
    """Packed tokens, checkpoints and training recipes."""

    def __init__(self, specs: Specs, paths: Paths) -> None:
        self._specs = specs
        self._paths = paths

    def packing_recipe(self, corpus: str, vocab: str) -> PackingRecipe:
        """Return the PackingRecipe of packed tokens."""
        spec = self._packing_spec(corpus, vocab)
        return PackingRecipe(title=spec.title, held_out=spec.held_out)

    def sentence_splitter(self, corpus: str, vocab: str) -> str:
        """Return the URL of the sentence-splitter model used for packing."""
        return self._packing_spec(corpus, vocab).sentence_splitter

    def _packing_spec(self, corpus: str, vocab: str) -> PretrainingSpec:
        """Return a recipe on packed tokens; all that share them agree on packing (`pretraining_checks`)."""
        for spec in self._specs.pretraining.values():
            if (spec.corpus, spec.vocab) == (corpus, vocab):
                return spec
        raise PubmillError(f"no recipe in specs/pretraining has the corpus {corpus} and the vocab {vocab}")

    def tokens_folder(self, recipe: str) -> str:
        """Return the folder of a recipe's packed tokens, which it shares with others on its corpus and
        vocabulary."""
        spec = self._specs.pretraining[recipe]
        return self._paths.tokens(spec.corpus, spec.vocab)

    def token_files(self, recipe: str) -> list[str]:
        spec = self._specs.pretraining[recipe]
        return self._paths.token_files(spec.corpus, spec.vocab)

    def recipe(self, recipe: str) -> PretrainingRecipe:
        """Return the training recipe. Which checkpoints are kept is not in it: they cut the work, not its
        result."""
        return self._specs.pretraining[recipe].recipe

    def steps(self, recipe: str) -> list[int]:
        return list(self._specs.pretraining[recipe].checkpoints)

    def previous_step(self, recipe: str, step: int) -> int | None:
        """Return the checkpoint that a segment ending at `step` starts from; None at the beginning."""
        return max((s for s in self.steps(recipe) if s < step), default=None)

    def segment_weights(self, recipe: str, step: int) -> dict[str, tuple[str, list[str]]]:
        """Return the weights that a segment needs: the pretraining program's option -> their folder and its
        files.

        A first segment begins with what the spec says, others with the checkpoint before; a distillation has
        its teacher in all of them.
        """
        spec, previous = self._specs.pretraining[recipe], self.previous_step(recipe, step)
        needed = {}
        if previous is not None:
            needed["--previous"] = self._paths.checkpoint_files(recipe, previous)
        elif spec.start and spec.start.model:
            needed["--model"] = self._paths.model_files(spec.start.model)
        elif spec.start and spec.start.recipe and spec.start.step:
            needed["--other"] = self._paths.checkpoint_files(spec.start.recipe, spec.start.step)
        if spec.teacher:
            needed["--teacher"] = self._paths.model_files(spec.teacher)
        return {option: (str(Path(files[0]).parent), files) for option, files in needed.items()}

    def segment_inputs(self, recipe: str, step: int) -> list[str]:
        """Return the files of the weights that a segment needs."""
        return [file for _, files in self.segment_weights(recipe, step).values() for file in files]

    def segment_arguments(self, recipe: str, step: int) -> list[str]:
        """Return the pretraining program's arguments that name these weights."""
        found = self.segment_weights(recipe, step).items()
        return [argument for option, (folder, _) in found for argument in (option, folder)]
