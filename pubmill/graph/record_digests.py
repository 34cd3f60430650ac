"""Digests of how records are made: over all recipes and stage versions behind them.

A record that no job of the study makes is shown in a table only if it is by the present recipes: the digest
that it was scored with is that of now. No digest depends on where files are, or on the content of files.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from pubmill.graph.dataset_jobs import Datasets
from pubmill.graph.model_jobs import Models
from pubmill.graph.pipelines import OFF_THE_SHELF, Pipelines
from pubmill.graph.pretrainings import Pretrainings
from pubmill.graph.runs import Runs
from pubmill.graph.stage_versions import VERSIONS
from pubmill.graph.vocabularies import Vocabularies
from pubmill.recipes.models import PretrainedWeights, RandomWeights
from pubmill.recipes.writing import as_json
from pubmill.specs import LearntVocabSpec, Specs

DESCRIPTIVE = {"label", "citation", "notes", "paper", "method"}
"""Keys of specs that affect no result."""
OF_CORPORA = ("parse", "latest", "select", "duplicates", "contamination")
"""Stages that decide the documents of a corpus."""


class RecordDigests:
    """One digest of all recipes behind each run."""

    def __init__(
        self,
        specs: Specs,
        pretrainings: Pretrainings,
        models: Models,
        vocabularies: Vocabularies,
        datasets: Datasets,
        runs: Runs,
        pipelines: Pipelines,
    ) -> None:
        self._specs = specs
        self._pretrainings = pretrainings
        self._models = models
        self._vocabularies = vocabularies
        self._datasets = datasets
        self._runs = runs
        self._pipelines = pipelines
        self._digests: dict[tuple[str, ...], str] = {}

    def made_by(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        """Return the digest of the recipes and stage versions behind the records of a run, whatever their
        seed."""
        if protocol == OFF_THE_SHELF:
            return self._digest_of(self._describe_pipeline_run, model, dataset)
        return self._digest_of(self._describe_scored_run, protocol, model, dataset, setting)

    def _digest_of(self, describe: Callable[..., Any], *names: str) -> str:
        """Return the digest of a function's description of some names; each is computed once."""
        key = (describe.__name__, *names)
        if key not in self._digests:
            self._digests[key] = sha256(as_json(describe(*names)).encode()).hexdigest()
        return self._digests[key]

    def _describe_scored_run(self, protocol: str, model: str, dataset: str, setting: str) -> Any:
        recipe = self._runs.scoring_recipe(protocol, model, dataset, setting, 1)
        return [recipe, self._digest_of(self._describe_training, protocol, model, dataset, setting)]

    def _describe_pipeline_run(self, model: str, dataset: str) -> Any:
        recipe = self._pipelines.scoring_recipe(model, dataset)
        return [
            recipe,
            self._pipelines.recipe(model, dataset),
            self._digest_of(self._describe_dataset, dataset),
        ]

    def _describe_training(self, protocol: str, model: str, dataset: str, setting: str) -> Any:
        return [
            VERSIONS["finetune"],
            self._runs.recipe(protocol, model, dataset, setting),
            self._runs.split_arguments(protocol, dataset, trial=False),
            self._digest_of(self._describe_dataset, dataset),
            self._start_digest(protocol, model, dataset, setting),
            self._choice_digest(protocol, model, dataset, setting),
        ]

    def _start_digest(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        """Return the digest of the model that a run begins with."""
        start = self._runs.protocol(protocol).start(dataset, setting)
        if start is None:
            return self._digest_of(self._describe_model, model)
        return self._digest_of(self._describe_training, protocol, model, start, setting)

    def _choice_digest(self, protocol: str, model: str, dataset: str, setting: str) -> str | None:
        """Return the digest of the trials behind a run's hyper-parameters; None where the spec fixes them."""
        choice = self._runs.choice(protocol, model, dataset, setting)
        if choice is None:
            return None
        return self._digest_of(
            self._describe_trials, protocol, choice.model or "", choice.dataset, choice.setting
        )

    def _describe_trials(self, protocol: str, model: str, dataset: str, setting: str) -> Any:
        spec, data = self._runs.protocol(protocol), self._specs.datasets[dataset]
        models = self._runs.searchers(protocol, model or None)
        return [
            [VERSIONS["choose"], VERSIONS["finetune"], spec.search and spec.search.seeds],
            self._runs.choice_recipe(protocol, model or None, dataset, setting),
            spec.points(data, models[0], setting),
            {one: spec.recipe(data, one, setting, trial=True) for one in models},
            self._runs.split_arguments(protocol, dataset, trial=True),
            self._digest_of(self._describe_dataset, dataset),
            {one: self._start_digest(protocol, one, dataset, setting) for one in models},
        ]

    def _describe_dataset(self, dataset: str) -> Any:
        sources = self._specs.datasets[dataset].sources.items()
        files = {role: file.model_dump(mode="json") for role, file in sources}
        return [VERSIONS["convert"], self._datasets.recipe(dataset), files]

    def _describe_model(self, model: str) -> Any:
        weights = self._models.weights(model)
        behind = None
        if isinstance(weights, PretrainedWeights):
            behind = self._digest_of(self._describe_pretraining, weights.recipe)
        elif isinstance(weights, RandomWeights):
            behind = self._digest_of(self._describe_vocab, self._specs.pretraining[weights.recipe].vocab)
        return [VERSIONS["export"], self._models.recipe(model), behind]

    def _describe_pretraining(self, recipe: str) -> Any:
        spec = self._specs.pretraining[recipe]
        start, teacher = spec.start, spec.teacher
        return [
            [VERSIONS["pretrain"], VERSIONS["pack"]],
            self._pretrainings.recipe(recipe),
            [self._pretrainings.packing_recipe(spec.corpus, spec.vocab), spec.sentence_splitter],
            self._digest_of(self._describe_corpus, spec.corpus),
            self._digest_of(self._describe_vocab, spec.vocab),
            start and [start.step, start.model and self._digest_of(self._describe_model, start.model)],
            start and start.recipe and self._digest_of(self._describe_pretraining, start.recipe),
            teacher and self._digest_of(self._describe_model, teacher),
        ]

    def _describe_vocab(self, vocab: str) -> Any:
        spec = self._specs.vocabs[vocab]
        if not isinstance(spec, LearntVocabSpec):
            return [VERSIONS["vocab"], self._digest_of(self._describe_model, spec.model)]
        versions = [VERSIONS["vocab"], VERSIONS["count"]]
        return [
            versions,
            self._vocabularies.recipe(vocab),
            self._digest_of(self._describe_corpus, spec.corpus),
        ]

    def _describe_corpus(self, corpus: str) -> Any:
        spec = self._specs.corpora[corpus]
        excluded = spec.contamination.datasets if spec.contamination else ()
        return [
            [VERSIONS[stage] for stage in OF_CORPORA],
            spec.model_dump(mode="json", exclude=DESCRIPTIVE),
            {dataset: self._digest_of(self._describe_dataset, dataset) for dataset in excluded},
        ]
