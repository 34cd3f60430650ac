"""spaCy pipelines, and predictions that users supply: models that are not fine-tuned here."""

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SPLITS
from pubmill.recipes.models import PipelineWeights
from pubmill.recipes.scoring import AnnotationRecipe
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.stages.run_stages import Score
from pubmill.stages.stage import HOUR, GraphPart, Inputs, Needs, Stage, cached
from pubmill.stages.supplied_predictions import SuppliedPredictions
from pubmill.storage.result_paths import RELATIVE, RunKey

OFF_THE_SHELF, AS_IT_IS = "off-the-shelf", "as-it-is"
"""Names used as protocol and setting where nothing is trained."""
PREDICTED = "test"
"""The split that a pipeline predicts; nothing is chosen on dev."""


class Pipelines(GraphPart):
    """Models that predict without training here: spaCy pipelines, and supplied predictions (`supplied`)."""

    @cached_property
    def supplied(self) -> SuppliedPredictions:
        """The models with predictions that users supply, and the prompted language models."""
        return SuppliedPredictions(self.graph)

    @cached
    def names(self) -> list[str]:
        """Return the models that are not fine-tuned here."""
        return [*self.spacy_names(), *self.supplied.names()]

    def spacy_names(self) -> list[str]:
        """Return the models that are spaCy pipelines."""
        specs = self._specs.models.items()
        return [name for name, spec in specs if isinstance(spec.weights, PipelineWeights)]

    def _spacy_weights(self, model: str) -> PipelineWeights:
        weights = self._specs.models[model].weights
        assert isinstance(weights, PipelineWeights), model
        return weights

    def folder(self, model: str) -> Path:
        """Return the folder of a pipeline; a `PubmillError` if none is named, or if it has no config.cfg."""
        folder = self.graph.folders.require(self._spacy_weights(model).local, f"model {model}")
        if not (folder / "config.cfg").is_file():
            where = f"{folder} ({self.graph.folders.setting(self._spacy_weights(model).local)})"
            raise PubmillError(f"model {model}: {where} is no spaCy pipeline: it has no config.cfg")
        return folder

    def content(self, model: str) -> dict[str, str]:
        """Return the digests of a pipeline's files, by path."""
        return self.graph.digests.of_folder(self.folder(model), "**/*")

    def recipe(self, model: str, dataset: str) -> AnnotationRecipe | SuppliedRecipe:
        """Return what decides a model's predictions: which of a pipeline's entities are mentions of the
        dataset, or how supplied predictions are read."""
        if model in self.supplied.names():
            return self.supplied.recipe(model, dataset)
        types = self._spacy_weights(model).types
        if dataset not in types:
            raise PubmillError(
                f"model {model} predicts {', '.join(types)}, not {dataset}; "
                f"add it to `types` in specs/models/{model}.yaml"
            )
        return AnnotationRecipe(types=types[dataset])

    @staticmethod
    def run(model: str, dataset: str, seed: int | str = 1) -> tuple[RunKey, int | str]:
        """Return a run on a dataset and its seed; a pipeline has only one."""
        return RunKey(OFF_THE_SHELF, model, dataset, AS_IT_IS), seed

    def records(self, model: str, dataset: str) -> list[str]:
        """Return a model's records on a dataset, below the results folder; none if it is not for it."""
        if model in self.supplied.names():
            seeds = self.supplied.seeds(model, dataset)
            return [RELATIVE.record(*self.run(model, dataset, seed)) for seed in seeds]
        return (
            []
            if self.graph.availability.predictions(model, dataset)
            else [RELATIVE.record(*self.run(model, dataset))]
        )

    def split(self, model: str, dataset: str) -> str:
        """Return the split that is predicted: test, or for supplied predictions the dataset's last one."""
        supplied = model in self.supplied.names()
        return max(self._specs.datasets[dataset].splits, key=SPLITS.index) if supplied else PREDICTED

    def scored_examples(self, model: str, dataset: str) -> str:
        """Return the examples by which a model that is not fine-tuned here is scored."""
        return self._paths.examples(dataset, self.split(model, dataset))

    def split_of(self, run: RunKey) -> str:
        """Return the split that a run predicts, fine-tuned here or not."""
        if run.model in self.names():
            return self.split(run.model, run.dataset)
        return self.graph.runs.scored_split(run.protocol, run.dataset)


class Annotate(Stage):
    """Predictions of a finished pipeline."""

    name, group = "annotate", "annotate"
    label = "Predicting {wildcards.dataset} with {wildcards.pipeline}"
    version = 2
    needs = Needs(8_000, 4 * HOUR)  # the larger pipelines of spaCy

    def inputs_of(self, wildcards: Any) -> Inputs:
        """Return the examples; predictions depend on the content of the folder, which is a parameter."""
        self.graph.pipelines.folder(wildcards.pipeline)
        return {"examples": self._paths.examples(wildcards.dataset, PREDICTED)}

    def recipe_of(self, wildcards: Any) -> AnnotationRecipe | SuppliedRecipe:
        return self.graph.pipelines.recipe(wildcards.pipeline, wildcards.dataset)


class ScoreAnnotation(Score):
    """The record of a finished pipeline."""

    name, label = "score_annotation", "Scoring {wildcards.pipeline} on {wildcards.dataset}"

    def run_of(self, wildcards: Any) -> RunKey:
        return self.graph.pipelines.run(wildcards.pipeline, wildcards.dataset)[0]


class TakePredictions(Stage):
    """Predictions that a user supplies, or a language model's answers, of all seeds."""

    name, group = "take_predictions", "annotate"
    label = "Reading the predictions of {wildcards.submission} for {wildcards.dataset}"
    version = 4
    part_versions: ClassVar[Mapping[str, int]] = {"asked": 2}

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return `asked` for the answers of a language model."""
        return ("asked",) if wildcards.submission in self.graph.pipelines.supplied.asked_names() else ()

    def inputs_of(self, wildcards: Any) -> Inputs:
        dataset, model = wildcards.dataset, wildcards.submission
        inputs: Inputs = {"dataset": self._paths.dataset_files(dataset)}
        if model in self.graph.pipelines.supplied.asked_names():
            seeds = self.graph.pipelines.supplied.seeds(model, dataset)
            inputs["answers"] = [self._paths.answers(model, dataset, seed) for seed in seeds]
        return inputs

    def recipe_of(self, wildcards: Any) -> AnnotationRecipe | SuppliedRecipe:
        return self.graph.pipelines.recipe(wildcards.submission, wildcards.dataset)


class ScorePredictions(Score):
    """The record of predictions that a user supplies."""

    name = "score_predictions"
    label = "Scoring the predictions of {wildcards.submission} for {wildcards.dataset}"

    def run_of(self, wildcards: Any) -> RunKey:
        return self.graph.pipelines.run(wildcards.submission, wildcards.dataset)[0]
