"""The prompting of language models as a stage of the graph."""

from typing import Any

from pubmill.extras.ask.ask_recipes import Asking, AskRecipe, PublishedText
from pubmill.recipes.reading import as_json
from pubmill.recipes.tables import project
from pubmill.specs.model_specs import PublishedPrompt
from pubmill.stages.stage import DAY, Inputs, Needs, as_arguments
from pubmill.stages.supplied_predictions import Answering


class Ask(Answering):
    """Answers of a language model that is asked."""

    name, group = "ask", "predictions"
    label = "Asking {wildcards.asked} about {wildcards.dataset}, seed {wildcards.seed}"
    version = 1
    needs = Needs(2_000, DAY)

    def inputs_of(self, wildcards: Any) -> Inputs:
        inputs: Inputs = {"dataset": self._paths.dataset_files(wildcards.dataset)}
        if option := self.prompt_option(wildcards):
            inputs["prompt"] = option[1]
        return inputs

    def prompt_option(self, wildcards: Any) -> list[str]:
        """Return the program's argument that names the file of a published prompt."""
        template = self._template(wildcards)
        if isinstance(template, PublishedPrompt):
            return ["--prompt", self._paths.source_of_url(template.url)]
        return []

    def options(self, wildcards: Any) -> list[str]:
        """Return arguments that decide no answer: price, budget, licence."""
        model, supplied = wildcards.asked, self.graph.supplied
        weights, licence = supplied.asked(model), supplied.licence(model, wildcards.dataset)
        stated = {"price": weights.price, "budget": weights.budget}
        options = {name: as_json(value) for name, value in stated.items() if value}
        return as_arguments(options | ({"licence": licence} if licence else {}))

    def _template(self, wildcards: Any) -> str | PublishedPrompt:
        prompts = self._specs.prompts[self.graph.supplied.asked(wildcards.asked).prompt]
        return prompts.template(wildcards.dataset, self._specs.datasets[wildcards.dataset].task)

    def recipe_of(self, wildcards: Any) -> AskRecipe:
        """Return the recipe of a seed; without a seed, as in the digest of all seeds, of the first one."""
        weights = self.graph.supplied.asked(wildcards.asked)
        asking = project(Asking, weights, seed=int(getattr(wildcards, "seed", weights.seeds[0])))
        template, published = self._template(wildcards), None
        if isinstance(template, PublishedPrompt):
            published = PublishedText(place=template.place, sha256=template.sha256)
            template = template.input
        spec = self._specs.datasets[wildcards.dataset]
        return project(AskRecipe, spec, asking=asking, prompt=template, published=published)
