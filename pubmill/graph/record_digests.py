"""Digests of how records are made: over all recipes and stage versions behind them.

A record that no job of the study makes is shown in a table only if it is by the present recipes: the digest
that it was scored with is that of now. No digest depends on where files are, or on the content of files.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from pubmill.graph.base import as_json
from pubmill.graph.models import OFF_THE_SHELF
from pubmill.graph.runs import RunTargets
from pubmill.graph.stage_versions import VERSIONS
from pubmill.specs import LearntVocabSpec, Specs
from pubmill.specs.study import Study

DESCRIPTIVE = {"label", "citation", "notes", "paper", "method"}
"""Keys of specs that affect no result."""
OF_CORPORA = ("parse", "latest", "select", "duplicates", "contamination")
"""Stages that decide the documents of a corpus."""


class LineageTargets(RunTargets):
    """One digest of all recipes behind each run."""

    def __init__(self, study: Study, specs: Specs) -> None:
        super().__init__(study, specs)
        self._lineages: dict[tuple[str, ...], str] = {}

    def score_recipe(
        self, protocol: str, model: str, dataset: str, setting: str, seed: int
    ) -> dict[str, Any]:
        recipe = super().score_recipe(protocol, model, dataset, setting, seed)
        return {**recipe, "made_by": self.made_by(protocol, model, dataset, setting)}

    def annotation_score_recipe(self, model: str, dataset: str) -> dict[str, Any]:
        recipe = super().annotation_score_recipe(model, dataset)
        return {**recipe, "made_by": self.made_by(OFF_THE_SHELF, model, dataset, "")}

    def made_by(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        """The digest of the recipes and stage versions behind the records of a run, whatever their seed."""
        if protocol == OFF_THE_SHELF:
            return self._once(self._annotated, model, dataset)
        return self._once(self._scored, protocol, model, dataset, setting)

    def _once(self, describe: Callable[..., Any], *names: str) -> str:
        """Return the digest of a function's description of some names; each is computed once."""
        key = (describe.__name__, *names)
        if key not in self._lineages:
            self._lineages[key] = sha256(as_json(describe(*names)).encode()).hexdigest()
        return self._lineages[key]

    def _scored(self, protocol: str, model: str, dataset: str, setting: str) -> Any:
        recipe = super().score_recipe(protocol, model, dataset, setting, 1)
        return [recipe, self._once(self._trained, protocol, model, dataset, setting)]

    def _annotated(self, model: str, dataset: str) -> Any:
        recipe = super().annotation_score_recipe(model, dataset)
        return [recipe, self.annotation_recipe(model, dataset), self._once(self._dataset, dataset)]

    def _trained(self, protocol: str, model: str, dataset: str, setting: str) -> Any:
        return [
            VERSIONS["finetune"],
            self.run_recipe(protocol, model, dataset, setting),
            self.split_arguments(protocol, dataset, trial=False),
            self._once(self._dataset, dataset),
            self._first(protocol, model, dataset, setting),
            self._chosen(protocol, model, dataset, setting),
        ]

    def _first(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        """Return the digest of the model that a run begins with."""
        start = self._protocol(protocol).start(dataset, setting)
        if start is None:
            return self._once(self._model, model)
        return self._once(self._trained, protocol, model, start, setting)

    def _chosen(self, protocol: str, model: str, dataset: str, setting: str) -> str | None:
        """Return the digest of the trials behind a run's hyper-parameters; None where the spec fixes them."""
        choice = self.choice(protocol, model, dataset, setting)
        if choice is None:
            return None
        return self._once(self._tried, protocol, choice.model or "", choice.dataset, choice.setting)

    def _tried(self, protocol: str, model: str, dataset: str, setting: str) -> Any:
        spec, data = self._protocol(protocol), self.specs.datasets[dataset]
        models = self._searchers(protocol, model or None)
        return [
            [VERSIONS["choose"], VERSIONS["finetune"], spec.search and spec.search.seeds],
            self.choice_recipe(protocol, model or None, dataset, setting),
            spec.points(data, models[0], setting),
            {one: spec.recipe(data, one, setting, trial=True) for one in models},
            self.split_arguments(protocol, dataset, trial=True),
            self._once(self._dataset, dataset),
            {one: self._first(protocol, one, dataset, setting) for one in models},
        ]

    def _dataset(self, dataset: str) -> Any:
        sources = self.specs.datasets[dataset].sources.items()
        files = {role: file.model_dump(mode="json") for role, file in sources}
        return [VERSIONS["convert"], self.dataset_recipe(dataset), files]

    def _model(self, model: str) -> Any:
        weights = self.weights(model)
        behind = None
        if weights["kind"] == "pretraining":
            behind = self._once(self._pretrained_by, weights["recipe"])
        elif weights["kind"] == "random":
            behind = self._once(self._vocab, self.specs.pretraining[weights["recipe"]].vocab)
        return [VERSIONS["export"], self.model_recipe(model), behind]

    def _pretrained_by(self, recipe: str) -> Any:
        spec = self.specs.pretraining[recipe]
        start, teacher = spec.start, spec.teacher
        return [
            [VERSIONS["pretrain"], VERSIONS["pack"]],
            self.pretraining_recipe(recipe),
            [self.packing_recipe(spec.corpus, spec.vocab), spec.sentence_splitter],
            self._once(self._corpus, spec.corpus),
            self._once(self._vocab, spec.vocab),
            start and [start.step, start.model and self._once(self._model, start.model)],
            start and start.recipe and self._once(self._pretrained_by, start.recipe),
            teacher and self._once(self._model, teacher),
        ]

    def _vocab(self, vocab: str) -> Any:
        spec = self.specs.vocabs[vocab]
        if not isinstance(spec, LearntVocabSpec):
            return [VERSIONS["vocab"], self._once(self._model, spec.model)]
        versions = [VERSIONS["vocab"], VERSIONS["count"]]
        return [versions, self.vocab_recipe(vocab), self._once(self._corpus, spec.corpus)]

    def _corpus(self, corpus: str) -> Any:
        spec = self.specs.corpora[corpus]
        excluded = spec.contamination.datasets if spec.contamination else ()
        return [
            [VERSIONS[stage] for stage in OF_CORPORA],
            spec.model_dump(mode="json", exclude=DESCRIPTIVE),
            {dataset: self._once(self._dataset, dataset) for dataset in excluded},
        ]
