"""Predictions that users supply, and answers of language models, as runs of the study."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from pubmill.recipes.scoring import AnnotationRecipe, ScoringRecipe
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.stages.dataset_jobs import Convert
from pubmill.stages.run_stages import Score
from pubmill.stages.stage import Inputs, Origin, Stage
from pubmill.stages.supplied_predictions import answering


class TakePredictions(Stage):
    """Predictions that a user supplies, or a language model's answers, of all seeds."""

    name, group = "take_predictions", "annotate"
    label = "Reading the predictions of {wildcards.submission} for {wildcards.dataset}"
    version = 4
    amended: ClassVar[Mapping[str, int]] = {"asked": 2}

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

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield Origin(Convert, {"dataset": wildcards.dataset})
        if wildcards.submission in self.graph.pipelines.supplied.asked_names():
            names = {"asked": wildcards.submission, "dataset": wildcards.dataset}
            yield from (Origin(stage, names) for stage in answering())


class ScorePredictions(Score):
    """The record of predictions that a user supplies."""

    name = "score_predictions"
    label = "Scoring the predictions of {wildcards.submission} for {wildcards.dataset}"

    def inputs_of(self, wildcards: Any) -> Inputs:
        return self.graph.pipelines.scored_files(wildcards.submission, wildcards.dataset)

    def recipe_of(self, wildcards: Any) -> ScoringRecipe:
        return self.graph.records.pipeline_recipe(wildcards.submission, wildcards.dataset)

    def described(self, wildcards: Any) -> ScoringRecipe:
        return self.graph.pipelines.scoring_recipe(wildcards.submission, wildcards.dataset)

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield Origin(TakePredictions, {"submission": wildcards.submission, "dataset": wildcards.dataset})
