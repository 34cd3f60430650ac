"""Models that are not fine-tuned here: predictions that users supply, and language models that are asked."""

import itertools
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SPLITS
from pubmill.messages.wording import SHOWN, nearest
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.specs.model_specs import PredictionsWeights, PromptedWeights, StatedWeights
from pubmill.stages.run_stages import Score
from pubmill.stages.stage import GraphPart, Inputs, Stage, cached, stages
from pubmill.storage.result_paths import RELATIVE, RunKey
from pubmill.storage.submission_files import other_files, submission_files

NOT_FINE_TUNED = "not fine-tuned here"
OFF_THE_SHELF, AS_IT_IS = "off-the-shelf", "as-it-is"
"""Names used as protocol and setting where nothing is trained."""


class Answering(Stage):
    """Base of the stage by which an extra makes the answers of prompted language models; its jobs have the
    wildcards `asked` (the model), `dataset` and `seed`."""


def answering() -> list[type[Stage]]:
    """Return the stage that makes the answers; empty if no extra has one."""
    return [stage for stage in stages().values() if issubclass(stage, Answering)]


class SuppliedPredictions(GraphPart):
    """Models whose predictions are supplied: the folder `local_files.KEY` has `DATASET.EXT`, or
    `seed-N/DATASET.EXT`. The answers of a prompted language model are below the results folder."""

    def names(self) -> list[str]:
        """Return the models whose predictions are supplied, or which are asked."""
        specs = self._specs.models.items()
        return [name for name, spec in specs if isinstance(spec.weights, StatedWeights)]

    def asked_names(self) -> list[str]:
        """Return the language models that are asked."""
        specs = self._specs.models.items()
        return [name for name, spec in specs if isinstance(spec.weights, PromptedWeights)]

    def weights(self, model: str) -> PredictionsWeights | PromptedWeights:
        """Return what the spec says of a model's predictions."""
        weights = self._specs.models[model].weights
        assert isinstance(weights, PredictionsWeights | PromptedWeights), model
        return weights

    def asked(self, model: str) -> PromptedWeights:
        """Return what the spec says of a language model that is asked."""
        weights = self.weights(model)
        assert isinstance(weights, PromptedWeights), model
        return weights

    def licence(self, model: str, dataset: str) -> str | None:
        """Return the study's reason why a dataset's text may be sent to a model's server, or None."""
        terms, weights = self._study.server_licences.get(dataset), self.weights(model)
        is_its = terms and isinstance(weights, PromptedWeights) and terms.server == weights.server
        return terms.statement if terms and is_its else None

    @cached
    def files(self, model: str) -> dict[str, dict[int, Path]]:
        """Return dataset -> seed -> file of predictions; empty where no folder is named."""
        weights = self.weights(model)
        if isinstance(weights, PromptedWeights):
            return {
                dataset: {seed: Path(self._paths.answers(model, dataset, seed)) for seed in weights.seeds}
                for dataset in weights.datasets
            }
        folder = self.graph.folders.find(weights.local)
        if folder is not None and not folder.is_dir():
            raise PubmillError(
                f"model {model}: {folder} ({self.graph.folders.setting(weights.local)}) is not a folder; "
                "expected one with files DATASET.EXT or seed-N/DATASET.EXT"
            )
        return submission_files(folder, self._specs.datasets) if folder else {}

    def unused_files(self, models: Iterable[str]) -> list[str]:
        """Return one line for each file of these models that is named after no dataset."""
        own = [weights for name in models if name in self.names() if (weights := self.weights(name))]
        folders = [self.graph.folders.find(one.local) for one in own if isinstance(one, PredictionsWeights)]
        known = self._specs.datasets
        return [
            f"left out of the tables: {file} (named after no dataset; the nearest: "
            f"{', '.join(nearest(file.name.partition('.')[0], known)[:SHOWN])})"
            for folder in folders
            if folder
            for file in other_files(folder, known)
        ]

    def seeds(self, model: str, dataset: str) -> list[int]:
        """Return the seeds of a model's predictions for a dataset."""
        return [] if self.graph.availability.predictions(model, dataset) else list(self.files(model)[dataset])

    def checked_files(self, model: str, dataset: str) -> list[str]:
        """Return the files of predictions by seed; a `PubmillError` if there are none, or for a copy."""
        if reason := self.graph.availability.predictions(model, dataset):
            raise PubmillError(f"model {model} on {dataset}: {reason}")
        files, asked = list(self.files(model)[dataset].values()), set(self.asked_names())
        others = set[str]() if model in asked else set(self.names()) - asked  # a job compares answers
        for path, other in itertools.product(files, others):
            for seed, file in self.files(other).get(dataset, {}).items():
                if file != path and self.graph.digests.of(file) == self.graph.digests.of(path):
                    raise PubmillError(
                        f"model {model}: {path} is a copy of the predictions of {other}, seed {seed} "
                        f"({file}); give the file of this system and seed"
                    )
        return list(map(str, files))

    def contents(self, model: str, dataset: str) -> list[str]:
        """Return the SHA-256 of each file of predictions; none for a prompted model's, which are inputs."""
        asked = model in self.asked_names()
        files = self.checked_files(model, dataset)
        return [] if asked else [self.graph.digests.of(Path(file)) for file in files]

    def recipe(self, model: str, dataset: str) -> SuppliedRecipe:
        """Return how a model's predictions for a dataset are read."""
        weights = self.weights(model)
        return SuppliedRecipe(
            system=weights.system,
            mapping=weights.mapping.get(dataset, {}),
            dummies=self._specs.datasets[dataset].dummies,
            asked=model in self.asked_names(),
            price=weights.price if isinstance(weights, PromptedWeights) else None,
        )

    def statement(self, model: str) -> str:
        """Return the author's statement about a system, as a note of a table."""
        system, label = self.weights(model).system, self._specs.models[model].label or model
        where = "; ".join(text for text in (system.url, system.prompt and f"prompt: {system.prompt}") if text)
        if model in self.asked_names():
            asked = self.asked(model)
            stated = {name: self.licence(model, name) for name in asked.datasets}
            sent = (
                f" Text of {name} is sent to its server: {text}." for name, text in stated.items() if text
            )
            return (
                f"{label} is {NOT_FINE_TUNED}. It is {system.name}, version {system.version} ({where}), "
                f"asked with {asked.shots} worked examples, temperature {asked.temperature:g} and at most "
                f"{asked.length} tokens an answer{asked.engine.stated() if asked.engine else ''}"
                f"{asked.price.stated() if asked.price else ''}.{''.join(sent)}"
            )
        return (
            f"{label} is {NOT_FINE_TUNED}: its author supplied the predictions, and says that they are by "
            f"{system.name}, version {system.version} ({where})."
        )

    @staticmethod
    def run(model: str, dataset: str, seed: int | str = 1) -> tuple[RunKey, int | str]:
        """Return a run on a dataset, and its seed."""
        return RunKey(OFF_THE_SHELF, model, dataset, AS_IT_IS), seed

    def records(self, model: str, dataset: str) -> list[str]:
        """Return a model's records on a dataset, below the results folder; none without predictions."""
        return [RELATIVE.record(*self.run(model, dataset, seed)) for seed in self.seeds(model, dataset)]

    def split(self, dataset: str) -> str:
        """Return the split that is predicted: the dataset's last one."""
        return max(self._specs.datasets[dataset].splits, key=SPLITS.index)

    def split_of(self, run: RunKey) -> str:
        """Return the split that a run predicts, fine-tuned here or not."""
        if run.model in self.names():
            return self.split(run.dataset)
        return self.graph.runs.scored_split(run.protocol, run.dataset)


class TakePredictions(Stage):
    """Predictions that a user supplies, or a language model's answers, of all seeds."""

    name, group = "take_predictions", "predictions"
    label = "Reading the predictions of {wildcards.submission} for {wildcards.dataset}"
    version = 4
    part_versions: ClassVar[Mapping[str, int]] = {"asked": 2}

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return `asked` for the answers of a language model."""
        return ("asked",) if wildcards.submission in self.graph.supplied.asked_names() else ()

    def inputs_of(self, wildcards: Any) -> Inputs:
        dataset, model = wildcards.dataset, wildcards.submission
        inputs: Inputs = {"dataset": self._paths.dataset_files(dataset)}
        if model in self.graph.supplied.asked_names():
            seeds = self.graph.supplied.seeds(model, dataset)
            inputs["answers"] = [self._paths.answers(model, dataset, seed) for seed in seeds]
        return inputs

    def recipe_of(self, wildcards: Any) -> SuppliedRecipe:
        return self.graph.supplied.recipe(wildcards.submission, wildcards.dataset)


class ScorePredictions(Score):
    """The record of predictions that a user supplies."""

    name = "score_predictions"
    label = "Scoring the predictions of {wildcards.submission} for {wildcards.dataset}"

    def run_of(self, wildcards: Any) -> RunKey:
        return self.graph.supplied.run(wildcards.submission, wildcards.dataset)[0]
