"""Datasets, trials, runs and records."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.graph.dataset_access import AccessTargets
from pubmill.graph.dataset_recipes import conversion_recipe
from pubmill.graph.stage_versions import VERSIONS
from pubmill.metrics import METRICS, metrics_of
from pubmill.specs import LocalFile, ProtocolSpec
from pubmill.storage.result_paths import TRAINING

DATASET_FILES = ("train.jsonl.gz", "dev.jsonl.gz", "test.jsonl.gz", "card.json")


class Choice(NamedTuple):
    """The trials behind a choice: a setting on a dataset; `model` None: one choice for all models."""

    model: str | None
    dataset: str
    setting: str


class RunTargets(AccessTargets):
    """Datasets, trials, choices, final runs and records."""

    DATASET_FILES = DATASET_FILES

    def dataset_recipe(self, dataset: str) -> dict[str, Any]:
        return conversion_recipe(dataset, self.specs.datasets[dataset])

    def dataset_inputs(self, dataset: str) -> dict[str, str]:
        """The raw files of a dataset below the results folder, by role."""
        sources = self.specs.datasets[dataset].sources
        return {
            role: self.taken(file) if isinstance(file, LocalFile) else self.source(file.url)
            for role, file in sources.items()
        }

    def conversion_inputs(self, dataset: str) -> list[str]:
        """The raw files of a dataset that is to be converted; a `PubmillError` where they can't be had."""
        self.check_access(dataset)
        return list(self.dataset_inputs(dataset).values())

    def dataset_arguments(self, dataset: str) -> list[str]:
        """The conversion's arguments that name the raw files."""
        inputs = self.dataset_inputs(dataset).items()
        return [text for role, path in inputs for text in ("--input", f"{role}={path}")]

    def dataset_files(self, dataset: str) -> list[str]:
        return [self.paths.dataset(dataset, name) for name in DATASET_FILES]

    def run_recipe(self, protocol: str, model: str, dataset: str, setting: str) -> dict[str, Any]:
        """FinetuningRecipe of a run; what is searched comes on top of it from selected.json."""
        return self._protocol(protocol).recipe(self.specs.datasets[dataset], model, setting, trial=False)

    def trial_recipe(
        self, protocol: str, model: str, dataset: str, setting: str, trial: str
    ) -> dict[str, Any]:
        """FinetuningRecipe of a trial: a point of the grid."""
        spec, data = self._protocol(protocol), self.specs.datasets[dataset]
        points = spec.points(data, model, setting)
        if trial not in points:
            raise PubmillError(
                f"protocol {protocol} has no trial {trial!r} of {model} on {dataset}, setting {setting}; "
                f"it has {', '.join(points) or 'none'}"
            )
        return spec.recipe(data, model, setting, trial=True) | points[trial]

    def _protocol(self, name: str) -> ProtocolSpec:
        if name not in self.specs.protocols:
            raise PubmillError(f"there is no specs/protocols/{name}.yaml")
        return self.specs.protocols[name]

    def check_run(self, protocol: str, model: str, dataset: str, setting: str) -> None:
        """Check that a run requested by name is possible; a `PubmillError` says why it is not."""
        self._check_names(protocol, model, dataset, setting)
        if fault := self._protocol(protocol).obstacle(self.specs.datasets[dataset], model, setting):
            raise PubmillError(fault)

    def _check_names(self, protocol: str, model: str, dataset: str, setting: str) -> None:
        known: dict[str, Mapping[str, Any]] = {
            "protocols": self.specs.protocols,
            "models": self.specs.models,
            "datasets": self.specs.datasets,
        }
        for (kind, there), name in zip(known.items(), (protocol, model, dataset), strict=True):
            if name not in there:
                raise PubmillError(f"there is no specs/{kind}/{name}.yaml")
        settings = self.specs.protocols[protocol].settings
        if setting not in settings:
            raise PubmillError(
                f"protocol {protocol} has no setting {setting!r}; it has {', '.join(settings)}"
            )

    def run_inputs(self, protocol: str, model: str, dataset: str, setting: str) -> list[str]:
        """Return the inputs of a run, except the model that an earlier job kept for it."""
        self.check_run(protocol, model, dataset, setting)
        return [
            *self._common_inputs(protocol, model, dataset, setting),
            *self.selected(protocol, model, dataset, setting),
        ]

    def trial_inputs(self, protocol: str, model: str, dataset: str, setting: str, trial: str) -> list[str]:
        self._check_names(protocol, model, dataset, setting)
        self.trial_recipe(protocol, model, dataset, setting, trial)
        return self._common_inputs(protocol, model, dataset, setting)

    def _common_inputs(self, protocol: str, model: str, dataset: str, setting: str) -> list[str]:
        first = self.first_model(protocol, model, dataset, setting)
        files = self.model_files(model) if first == self.paths.model(model) else [first]
        return [*files, *self.dataset_files(dataset)]

    def choice(self, protocol: str, model: str, dataset: str, setting: str) -> Choice | None:
        """Where a run's hyper-parameters are chosen; None where they are given."""
        spec = self._protocol(protocol)
        folds = spec.fold_of(dataset)
        chosen_on = folds.chosen_on if folds else dataset
        choosing = spec.settings[setting].chosen_by or setting
        if spec.search is None or not spec.points(self.specs.datasets[chosen_on], model, choosing):
            return None
        return Choice(model if spec.search.models == "each" else None, chosen_on, choosing)

    def selected(self, protocol: str, model: str, dataset: str, setting: str) -> list[str]:
        """The run's selected.json, a model's own or common to all models; none where nothing is chosen."""
        choice = self.choice(protocol, model, dataset, setting)
        return [self.paths.choice(protocol, *choice)] if choice else []

    def selected_arguments(self, protocol: str, model: str, dataset: str, setting: str) -> list[str]:
        """The fine-tuning program's argument that names the choice."""
        return [
            text for path in self.selected(protocol, model, dataset, setting) for text in ("--selected", path)
        ]

    def choice_recipe(self, protocol: str, model: str | None, dataset: str, setting: str) -> dict[str, Any]:
        """What a choice decides: the keys of the grid, and the number of steps on a fold."""
        spec, data = self._protocol(protocol), self.specs.datasets[dataset]
        grid = spec.grid(data, model or self._searchers(protocol, None)[0], setting)
        return {"by": "dev", "decides": [*grid, *(["stop_after"] if spec.fold_of(dataset) else [])]}

    def _searchers(self, protocol: str, model: str | None) -> list[str]:
        """The models whose trials make a choice: the model itself, or those that choose for all."""
        search = self._protocol(protocol).search
        if search is None:
            raise PubmillError(f"protocol {protocol}: nothing is searched")
        if search.models == "each" and model is None:
            raise PubmillError(f"protocol {protocol}: each model chooses for itself")
        if search.models != "each" and model is not None:
            raise PubmillError(f"protocol {protocol}: the choice is common to all models")
        return [model] if model is not None else list(search.models)

    def trial_training(self, protocol: str, model: str | None, dataset: str, setting: str) -> list[str]:
        """training.json of every trial that a choice reads; `model` None: the choice for all models."""
        spec, models = self._protocol(protocol), self._searchers(protocol, model)
        self._check_names(protocol, models[0], dataset, setting)
        assert spec.search
        return [
            self.paths.trial(protocol, one, dataset, setting, trial, seed, TRAINING)
            for trial in spec.points(self.specs.datasets[dataset], models[0], setting)
            for one in models
            for seed in range(1, spec.search.seeds + 1)
        ]

    def scored_split(self, protocol: str, dataset: str) -> str:
        """The split that runs predict and that is scored."""
        return self._protocol(protocol).scored(self.specs.datasets[dataset])

    def scored_examples(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        self.check_run(protocol, model, dataset, setting)
        return self.paths.examples(dataset, self.scored_split(protocol, dataset))

    def split_arguments(self, protocol: str, dataset: str, trial: bool) -> list[str]:
        """The fine-tuning program's arguments that name the split to predict and the one to choose by."""
        dev = self._protocol(protocol).looked_at(self.specs.datasets[dataset], trial)
        predicted = dev if trial and dev else self.scored_split(protocol, dataset)
        return ["--split", predicted, "--dev", dev or "none"]

    def first_model(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        """The folder of the model that a run begins with: the pretrained one, or another run's."""
        start = self._protocol(protocol).start(dataset, setting)
        if start is None:
            return self.paths.model(model)
        return self.paths.task_model(protocol, model, start, setting, 1)

    def kept(self, protocol: str, model: str, dataset: str, setting: str, seed: int) -> list[str]:
        """The folder of a run's own model, if it is kept, so that the run only predicts with it: as the
        study says, or because another run begins with it."""
        spec = self._protocol(protocol)
        begins_another = seed == 1 and spec.settings[setting].chain and dataset in spec.start_from.values()
        wanted = self.study.keep_models or begins_another
        return [self.paths.task_model(protocol, model, dataset, setting, seed)] if wanted else []

    def kept_arguments(self, protocol: str, model: str, dataset: str, setting: str, seed: int) -> list[str]:
        """The fine-tuning program's argument that names it."""
        kept = self.kept(protocol, model, dataset, setting, seed)
        return [text for path in kept for text in ("--kept", path)]

    def seeds(self, protocol: str, model: str, dataset: str, setting: str) -> tuple[int, ...]:
        """The seeds of the final runs of a model on a dataset."""
        return self._protocol(protocol).seeds(self.specs.datasets[dataset], model, setting)

    def parts_of_row(self, protocol: str, dataset: str) -> list[str]:
        """The datasets behind a row of a table: folds that are reported together, or the dataset itself."""
        folds = self._protocol(protocol).folds.get(dataset)
        return list(folds.reported) if folds else [dataset]

    def score_recipe(
        self, protocol: str, model: str, dataset: str, setting: str, seed: int
    ) -> dict[str, Any]:
        data = self.specs.datasets[dataset]
        return {
            "protocol": protocol,
            "model": model,
            "dataset": dataset,
            "setting": setting,
            "seed": seed,
            "scale": self.study.scale,
            "split": self.scored_split(protocol, dataset),
            "kind": data.kind,
            "metric": data.metric,
            "negative": data.negative,
            "versions": {
                "convert": [VERSIONS["convert"], data.version],
                "finetune": VERSIONS["finetune"],
                "score": VERSIONS["score"],
                "metric": METRICS[data.metric].version,
                "metrics": [one.version for one in metrics_of(data.kind)],
            },
        }
