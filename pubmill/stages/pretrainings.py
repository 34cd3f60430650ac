"""Pretraining: packed tokens, checkpoints, and the segments between them."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.optimisers import OPTIMISERS
from pubmill.recipes.pretraining import PackingRecipe, PretrainingRecipe
from pubmill.specs import PretrainingSpec
from pubmill.specs.pretraining_checks import needed_before
from pubmill.stages import costs
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import (
    DAY,
    Bytes,
    GraphPart,
    Inputs,
    Needs,
    Seconds,
    Stage,
    TrainingStage,
    training_minutes,
)


class Pretrainings(GraphPart):
    """Packed tokens, checkpoints and training recipes."""

    def packing_spec(self, corpus: str, vocab: str) -> PretrainingSpec:
        """Return a recipe on packed tokens; all that share them agree on packing (`pretraining_checks`)."""
        for spec in self._specs.pretraining.values():
            if (spec.corpus, spec.vocab) == (corpus, vocab):
                return spec
        raise PubmillError(f"no recipe in specs/pretraining has the corpus {corpus} and the vocab {vocab}")

    def steps(self, recipe: str) -> list[int]:
        return list(self._specs.pretraining[recipe].checkpoints)

    def last_steps(self, needed: Iterable[tuple[str, int | None]], released: bool) -> dict[str, int]:
        """Return recipe -> the last step needed (None: its last), of some recipes and those run before them;
        sorted by name. `released`: the scale prefers released weights."""
        waiting, steps = list(needed), dict[str, int]()
        while waiting:
            recipe, step = waiting.pop()
            steps[recipe] = max(step or self.steps(recipe)[-1], steps.get(recipe, 0))
            before = needed_before(self._specs.pretraining[recipe], self._specs.models, released)
            waiting += [(one.recipe, one.step) for one in before]
        return dict(sorted(steps.items()))

    def previous_step(self, recipe: str, step: int) -> int | None:
        """Return the checkpoint that a segment ending at `step` starts from; None at the beginning."""
        return max((s for s in self.steps(recipe) if s < step), default=None)

    def segment_weights(self, recipe: str, step: int) -> dict[str, tuple[str, list[str]]]:
        """Return the weights that a segment needs: the pretraining program's option -> their folder and its
        files. The first segment starts from the weights that the spec names, if any, each later one from the
        previous checkpoint; every segment of a distillation also needs the teacher."""
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
        """Return the pretraining program's arguments that name the weights of a segment."""
        weights = self.segment_weights(recipe, step).items()
        return [argument for option, (folder, _) in weights for argument in (option, folder)]


class Pack(Stage):
    """Packed tokens of a corpus."""

    name, group = "pack", "pack"
    label = "Packing tokens of {wildcards.corpus} with {wildcards.vocab}"
    version = 3
    needs = Needs(4_000, DAY)
    seconds = Seconds(600, "assumed")

    def bytes_of(self, wildcards: Any) -> Bytes:
        return Bytes(disk=costs.PACKED * len(self.graph.corpora.shards(wildcards.corpus)))

    def recipe_of(self, wildcards: Any) -> PackingRecipe:
        spec = self.graph.pretrainings.packing_spec(wildcards.corpus, wildcards.vocab)
        return PackingRecipe(title=spec.title, held_out=spec.held_out)


class Pretrain(TrainingStage):
    """A segment of pretraining, which ends with a checkpoint."""

    name, group = "pretrain", "pretrain"
    label = "Pretraining {wildcards.recipe} up to step {wildcards.step}"
    version, use, plan_line, program = 4, "pretraining", "{recipe}", "scripts/pretrain.py"
    read_by_name = ("pubmill/pretraining/learners.py", "pubmill/optimisers/*.py")  # by registries

    def operations(self, wildcards: Any) -> float:
        return costs.operations_of_segment(self.graph, wildcards.recipe, int(wildcards.step))

    def share(self, wildcards: Any, gpus: Gpus) -> float:
        return costs.share_of_pretraining(self.graph, gpus, wildcards.recipe)

    def needs_of(self, wildcards: Any, gpus: Gpus) -> Needs:
        """Return the memory and time of a segment on one GPU. On a CPU, the weights and optimiser state of
        training stay in memory; on a GPU they pass through it."""
        spec = self._specs.pretraining[wildcards.recipe]
        optimiser = OPTIMISERS[spec.recipe.optimisation.optimiser]
        parameters = costs.parameters_of_recipe(self.graph, wildcards.recipe)
        teacher = costs.bytes_of_model(self.graph, spec.teacher) / 1e6 if spec.teacher else 0
        memory = costs.memory_mb(optimiser.training_bytes, parameters) + round(teacher)
        share = self.share(wildcards, gpus)
        return Needs(memory, training_minutes(self.operations(wildcards), share, gpus))

    def requested_minutes(self, minutes: int) -> int:
        """Return a day at most: the next attempt resumes where the time limit stopped the job."""
        return min(minutes, DAY)

    def bytes_of(self, wildcards: Any) -> Bytes:
        optimiser = OPTIMISERS[self._specs.pretraining[wildcards.recipe].recipe.optimisation.optimiser]
        parameters = costs.parameters_of_recipe(self.graph, wildcards.recipe)
        return Bytes(disk=float(optimiser.checkpoint_bytes * parameters))  # weights and optimiser state

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return the architecture's family, and the names of the objective's settings that are in use."""
        recipe = self._specs.pretraining[wildcards.recipe].recipe
        settings = (name for name, value in vars(recipe.objective).items() if value)
        return {recipe.architecture.family, recipe.objective.masking, recipe.objective.pairs, *settings}

    def inputs_of(self, wildcards: Any) -> Inputs:
        spec = self._specs.pretraining[wildcards.recipe]
        return {
            "tokens": self._paths.token_files(spec.corpus, spec.vocab),
            "vocab": self._paths.vocab_files(spec.vocab),
            "weights": self.graph.pretrainings.segment_inputs(wildcards.recipe, int(wildcards.step)),
        }

    def recipe_of(self, wildcards: Any) -> PretrainingRecipe:
        """Return the training recipe, without the checkpoints: they cut the work, not its result."""
        return self._specs.pretraining[wildcards.recipe].recipe
