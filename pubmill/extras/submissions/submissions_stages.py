"""Predictions that users supply, and answers of language models, as runs of the study."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from pubmill.recipes.scoring import AnnotationRecipe, ScoringRecipe
from pubmill.recipes.submissions import Asking, AskRecipe, PublishedText, SuppliedRecipe
from pubmill.recipes.tables import project
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.model_specs import PromptSpec, PublishedPrompt
from pubmill.stages.dataset_jobs import Convert
from pubmill.stages.gpus import Gpus
from pubmill.stages.params_text import as_arguments
from pubmill.stages.run_stages import Score
from pubmill.stages.stage import DAY, Inputs, Needs, Origin, Stage


def asked_of(spec: DatasetSpec, asking: Asking, prompts: PromptSpec) -> AskRecipe:
    template, published = prompts.template(spec.name, spec.task), None
    if isinstance(template, PublishedPrompt):
        published = PublishedText(place=template.place, sha256=template.sha256)
        template = template.input
    return project(AskRecipe, spec, asking=asking, prompt=template, published=published)


class Ask(Stage):
    """Answers of a language model that is asked."""

    name, group = "ask", "annotate"
    label = "Asking {wildcards.asked} about {wildcards.dataset}, seed {wildcards.seed}"
    version = 1
    needs = Needs(2_000, DAY)

    def inputs_of(self, wildcards: Any) -> Inputs:
        inputs: Inputs = {"dataset": self._paths.dataset_files(wildcards.dataset)}
        if published := self._published(wildcards):
            inputs["prompt"] = published
        return inputs

    def prompt_option(self, wildcards: Any) -> list[str]:
        """Return the program's argument that names the file of a published prompt."""
        published = self._published(wildcards)
        return ["--prompt", published] if published else []

    def options(self, wildcards: Any) -> list[str]:
        """Return arguments that decide no answer: price, budget, licence."""
        return as_arguments(self.graph.pipelines.supplied.asking_options(wildcards.asked, wildcards.dataset))

    def _published(self, wildcards: Any) -> str | None:
        prompts = self._specs.prompts[self.graph.pipelines.supplied.asked(wildcards.asked).prompt]
        spec = self._specs.datasets[wildcards.dataset]
        template = prompts.template(spec.name, spec.task)
        return self._paths.source_of_url(template.url) if isinstance(template, PublishedPrompt) else None

    def recipe_of(self, wildcards: Any) -> AskRecipe:
        """Return the recipe of a seed; without a seed, as in the digest of all seeds, of the first one."""
        weights = self.graph.pipelines.supplied.asked(wildcards.asked)
        asking = project(Asking, weights, seed=int(getattr(wildcards, "seed", weights.seeds[0])))
        prompts = self._specs.prompts[weights.prompt]
        return asked_of(self._specs.datasets[wildcards.dataset], asking, prompts)

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield Origin(Convert, {"dataset": wildcards.dataset})


class TakePredictions(Stage):
    """Predictions that a user supplies, or a language model's answers."""

    name, group = "take_predictions", "annotate"
    label = "Reading the predictions of {wildcards.submission} for {wildcards.dataset}, seed {wildcards.seed}"
    version = 4
    amended: ClassVar[Mapping[str, int]] = {"asked": 2}

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return `asked` for the answers of a language model."""
        return ("asked",) if wildcards.submission in self.graph.pipelines.supplied.asked_names() else ()

    def inputs_of(self, wildcards: Any) -> Inputs:
        dataset, model = wildcards.dataset, wildcards.submission
        inputs: Inputs = {"dataset": self._paths.dataset_files(dataset)}
        if model in self.graph.pipelines.supplied.asked_names():
            inputs["answers"] = self._paths.answers(model, dataset, wildcards.seed)
        return inputs

    def recipe_of(self, wildcards: Any) -> AnnotationRecipe | SuppliedRecipe:
        return self.graph.pipelines.recipe(wildcards.submission, wildcards.dataset)

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield Origin(Convert, {"dataset": wildcards.dataset})
        if wildcards.submission in self.graph.pipelines.supplied.asked_names():
            yield Origin(Ask, {"asked": wildcards.submission, "dataset": wildcards.dataset})


class ScorePredictions(Score):
    """The record of predictions that a user supplies."""

    name = "score_predictions"
    label = "Scoring the predictions of {wildcards.submission} for {wildcards.dataset}, seed {wildcards.seed}"

    def bundle_of(self, wildcards: Any, gpus: Gpus) -> None:
        return None

    def inputs_of(self, wildcards: Any) -> Inputs:
        model, dataset = wildcards.submission, wildcards.dataset
        run = self.graph.pipelines.run(model, dataset, wildcards.seed)
        return {
            "predictions": self._paths.predictions(*run),
            "training": self._paths.training(*run),
            "examples": self._paths.examples(dataset, self.graph.pipelines.split(model, dataset)),
        }

    def recipe_of(self, wildcards: Any) -> ScoringRecipe:
        return self.graph.records.pipeline_recipe(
            wildcards.submission, wildcards.dataset, int(wildcards.seed)
        )

    def described(self, wildcards: Any) -> ScoringRecipe:
        return self.graph.pipelines.scoring_recipe(wildcards.submission, wildcards.dataset)

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield Origin(TakePredictions, {"submission": wildcards.submission, "dataset": wildcards.dataset})
