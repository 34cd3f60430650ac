"""Digests of how records are made: over all recipes and stage versions behind them.

A record that no job of the study makes is shown in a table only if it is by the present recipes: the digest
that it was scored with is that of now. No digest depends on where files are, or on the content of files.
"""

from typing import TYPE_CHECKING

from pubmill.stages.contamination_jobs import IndexEvaluationTexts
from pubmill.stages.corpus_jobs import LatestVersions, ParseClinical, ParseMedline, ParsePmc, ParseText
from pubmill.stages.dataset_jobs import Convert
from pubmill.stages.model_jobs import ExportModel
from pubmill.stages.pretrainings import Pack, Pretrain
from pubmill.stages.runs import Choose, Finetune, TrialStage
from pubmill.stages.selection_jobs import FindDuplicates, SelectDocuments
from pubmill.stages.vocabularies import CountWords, TrainVocab

if TYPE_CHECKING:
    from pubmill.stages.study_graph import Graph

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from pubmill.recipes.models import PretrainedWeights, RandomWeights
from pubmill.recipes.writing import as_json
from pubmill.specs import LearntVocabSpec
from pubmill.stages.pipelines import OFF_THE_SHELF
from pubmill.stages.stage import GraphPart

DESCRIPTIVE = {"label", "citation", "notes", "paper", "method"}
"""Keys of specs that affect no result."""
PARSERS = (ParseMedline, ParsePmc, ParseText, ParseClinical)
OF_CORPORA = (LatestVersions, SelectDocuments, FindDuplicates, IndexEvaluationTexts)
"""Stages that decide the documents of a corpus."""


class RecordDigests(GraphPart):
    """One digest of all recipes behind each run."""

    def __init__(self, graph: "Graph") -> None:
        super().__init__(graph)
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
        recipe = self.graph.runs.scoring_recipe(protocol, model, dataset, setting, 1)
        return [recipe, self._digest_of(self._describe_training, protocol, model, dataset, setting)]

    def _describe_pipeline_run(self, model: str, dataset: str) -> Any:
        recipe = self.graph.pipelines.scoring_recipe(model, dataset)
        return [
            recipe,
            self.graph.pipelines.recipe(model, dataset),
            self._digest_of(self._describe_dataset, dataset),
        ]

    def _describe_training(self, protocol: str, model: str, dataset: str, setting: str) -> Any:
        return [
            Finetune.version,
            self.graph.runs.recipe(protocol, model, dataset, setting),
            self.graph.runs.split_arguments(protocol, dataset, trial=False),
            self._digest_of(self._describe_dataset, dataset),
            self._start_digest(protocol, model, dataset, setting),
            self._choice_digest(protocol, model, dataset, setting),
        ]

    def _start_digest(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        """Return the digest of the model that a run begins with."""
        start = self.graph.runs.protocol(protocol).start(dataset, setting)
        if start is None:
            return self._digest_of(self._describe_model, model)
        return self._digest_of(self._describe_training, protocol, model, start, setting)

    def _choice_digest(self, protocol: str, model: str, dataset: str, setting: str) -> str | None:
        """Return the digest of the trials behind a run's hyper-parameters; None where the spec fixes them."""
        choice = self.graph.runs.choice(protocol, model, dataset, setting)
        if choice is None:
            return None
        return self._digest_of(
            self._describe_trials, protocol, choice.model or "", choice.dataset, choice.setting
        )

    def _describe_trials(self, protocol: str, model: str, dataset: str, setting: str) -> Any:
        spec, data = self.graph.runs.protocol(protocol), self._specs.datasets[dataset]
        models = self.graph.runs.searchers(protocol, model or None)
        return [
            [Choose.version, TrialStage.version, spec.search and spec.search.seeds],
            self.graph.runs.choice_recipe(protocol, model or None, dataset, setting),
            spec.points(data, models[0], setting),
            {one: spec.recipe(data, one, setting, trial=True) for one in models},
            self.graph.runs.split_arguments(protocol, dataset, trial=True),
            self._digest_of(self._describe_dataset, dataset),
            {one: self._start_digest(protocol, one, dataset, setting) for one in models},
        ]

    def _describe_dataset(self, dataset: str) -> Any:
        sources = self._specs.datasets[dataset].sources.items()
        files = {role: file.model_dump(mode="json") for role, file in sources}
        return [Convert.version, self.graph.datasets.recipe(dataset), files]

    def _describe_model(self, model: str) -> Any:
        weights = self.graph.models.weights(model)
        behind = None
        if isinstance(weights, PretrainedWeights):
            behind = self._digest_of(self._describe_pretraining, weights.recipe)
        elif isinstance(weights, RandomWeights):
            behind = self._digest_of(self._describe_vocab, self._specs.pretraining[weights.recipe].vocab)
        return [ExportModel.version, self.graph.models.recipe(model), behind]

    def _describe_pretraining(self, recipe: str) -> Any:
        spec = self._specs.pretraining[recipe]
        start, teacher = spec.start, spec.teacher
        return [
            [Pretrain.version, Pack.version],
            self.graph.pretrainings.recipe(recipe),
            [self.graph.pretrainings.packing_recipe(spec.corpus, spec.vocab), spec.sentence_splitter],
            self._digest_of(self._describe_corpus, spec.corpus),
            self._digest_of(self._describe_vocab, spec.vocab),
            start and [start.step, start.model and self._digest_of(self._describe_model, start.model)],
            start and start.recipe and self._digest_of(self._describe_pretraining, start.recipe),
            teacher and self._digest_of(self._describe_model, teacher),
        ]

    def _describe_vocab(self, vocab: str) -> Any:
        spec = self._specs.vocabs[vocab]
        if not isinstance(spec, LearntVocabSpec):
            return [TrainVocab.version, self._digest_of(self._describe_model, spec.model)]
        versions = [TrainVocab.version, CountWords.version]
        return [
            versions,
            self.graph.vocabularies.recipe(vocab),
            self._digest_of(self._describe_corpus, spec.corpus),
        ]

    def _describe_corpus(self, corpus: str) -> Any:
        spec = self._specs.corpora[corpus]
        excluded = spec.contamination.datasets if spec.contamination else ()
        return [
            [max(one.version for one in PARSERS), *(stage.version for stage in OF_CORPORA)],
            spec.model_dump(mode="json", exclude=DESCRIPTIVE),
            {dataset: self._digest_of(self._describe_dataset, dataset) for dataset in excluded},
        ]
