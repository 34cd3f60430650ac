"""Trials, runs and their scoring."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

from collections.abc import Mapping
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.recipes.finetuning import ChoiceRecipe, FinetuningRecipe
from pubmill.recipes.recipe_types import PartialRecipe
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.specs import ProtocolSpec
from pubmill.stages.run_stages import Finetune, scoring_versions
from pubmill.stages.stage import (
    GraphPart,
)
from pubmill.storage.result_paths import TRAINING


class Choice(NamedTuple):
    """The trials behind a choice: a setting on a dataset; `model` None: one choice for all models."""

    model: str | None
    dataset: str
    setting: str


class Runs(GraphPart):
    """Recipes and inputs of trials, choices and final runs."""

    def recipe(self, protocol: str, model: str, dataset: str, setting: str) -> PartialRecipe:
        """Return the keys of the FinetuningRecipe of a run, except those that selected.json decides."""
        spec, data = self.protocol(protocol), self._specs.datasets[dataset]
        return PartialRecipe(FinetuningRecipe, spec.recipe(data, model, setting, trial=False))

    def trial_recipe(
        self, protocol: str, model: str, dataset: str, setting: str, trial: str
    ) -> PartialRecipe:
        """Return the keys of the FinetuningRecipe of a trial: a point of the grid."""
        spec, data = self.protocol(protocol), self._specs.datasets[dataset]
        points = spec.points(data, model, setting)
        if trial not in points:
            raise PubmillError(
                f"protocol {protocol} has no trial {trial!r} of {model} on {dataset}, setting {setting}; "
                f"it has {', '.join(points) or 'none'}"
            )
        values = spec.recipe(data, model, setting, trial=True) | points[trial]
        return PartialRecipe(FinetuningRecipe, values)

    def protocol(self, name: str) -> ProtocolSpec:
        """Return a protocol; a `PubmillError` if it has no spec."""
        if name not in self._specs.protocols:
            raise PubmillError(f"there is no specs/protocols/{name}.yaml")
        return self._specs.protocols[name]

    def check(self, protocol: str, model: str, dataset: str, setting: str) -> None:
        """Check that a run requested by name is possible; a `PubmillError` says why it is not."""
        self._check_names(protocol, model, dataset, setting)
        if fault := self.protocol(protocol).obstacle(self._specs.datasets[dataset], model, setting):
            raise PubmillError(fault)

    def _check_names(self, protocol: str, model: str, dataset: str, setting: str) -> None:
        known: dict[str, Mapping[str, Any]] = {
            "protocols": self._specs.protocols,
            "models": self._specs.models,
            "datasets": self._specs.datasets,
        }
        for (kind, there), name in zip(known.items(), (protocol, model, dataset), strict=True):
            if name not in there:
                raise PubmillError(f"there is no specs/{kind}/{name}.yaml")
        settings = self._specs.protocols[protocol].settings
        if setting not in settings:
            raise PubmillError(
                f"protocol {protocol} has no setting {setting!r}; it has {', '.join(settings)}"
            )

    def inputs(self, protocol: str, model: str, dataset: str, setting: str) -> list[str]:
        """Return the inputs of a run, except the model that an earlier job kept for it."""
        self.check(protocol, model, dataset, setting)
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
        files = self._paths.model_files(model) if first == self._paths.model(model) else [first]
        return [*files, *self._paths.dataset_files(dataset)]

    def choice(self, protocol: str, model: str, dataset: str, setting: str) -> Choice | None:
        """Return where a run's hyper-parameters are chosen; None if the protocol fixes them."""
        spec = self.protocol(protocol)
        folds = spec.fold_of(dataset)
        chosen_on = folds.chosen_on if folds else dataset
        choosing = spec.settings[setting].chosen_by or setting
        by = spec.searched_by(choosing)
        if by is None or not spec.points(self._specs.datasets[chosen_on], model, choosing):
            return None
        return Choice(model if by == "each" else None, chosen_on, choosing)

    def selected(self, protocol: str, model: str, dataset: str, setting: str) -> list[str]:
        """Return the run's selected.json, a model's own or common to all models; none where nothing is
        chosen."""
        choice = self.choice(protocol, model, dataset, setting)
        return [self._paths.choice(protocol, *choice)] if choice else []

    def selected_arguments(self, protocol: str, model: str, dataset: str, setting: str) -> list[str]:
        """Return the fine-tuning program's argument that names the choice."""
        return [
            text for path in self.selected(protocol, model, dataset, setting) for text in ("--selected", path)
        ]

    def choice_recipe(self, protocol: str, model: str | None, dataset: str, setting: str) -> ChoiceRecipe:
        """Return what a choice decides: the keys of the grid, and the number of steps on a fold."""
        spec, data = self.protocol(protocol), self._specs.datasets[dataset]
        grid = spec.grid(data, self.searchers(protocol, model, setting)[0], setting)
        return ChoiceRecipe(by="dev", decides=(*grid, *(["stop_after"] if spec.fold_of(dataset) else [])))

    def searchers(self, protocol: str, model: str | None, setting: str) -> list[str]:
        """Return the models whose trials make a choice: the model itself, or those that choose for all."""
        settings = self.protocol(protocol).settings
        if setting not in settings:
            raise PubmillError(f"protocol {protocol}: {unknown('setting', setting, settings)}")
        by = self.protocol(protocol).searched_by(setting)
        if by is None:
            raise PubmillError(f"protocol {protocol}, setting {setting}: nothing is searched")
        if by == "each" and model is None:
            raise PubmillError(f"protocol {protocol}, setting {setting}: each model chooses for itself")
        if by != "each" and model is not None:
            raise PubmillError(f"protocol {protocol}, setting {setting}: the choice is common to all models")
        return [model] if model is not None else list(by)

    def trial_training(self, protocol: str, model: str | None, dataset: str, setting: str) -> list[str]:
        """Return training.json of every trial that a choice reads; `model` None: the choice for all
        models."""
        spec, models = self.protocol(protocol), self.searchers(protocol, model, setting)
        self._check_names(protocol, models[0], dataset, setting)
        assert spec.search
        return [
            self._paths.trial(protocol, one, dataset, setting, trial, seed, TRAINING)
            for trial in spec.points(self._specs.datasets[dataset], models[0], setting)
            for one in models
            for seed in range(1, spec.search.seeds + 1)
        ]

    def scored_split(self, protocol: str, dataset: str) -> str:
        """Return the split that runs predict and that is scored."""
        return self.protocol(protocol).scored(self._specs.datasets[dataset])

    def scored_examples(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        self.check(protocol, model, dataset, setting)
        return self._paths.examples(dataset, self.scored_split(protocol, dataset))

    def split_arguments(self, protocol: str, dataset: str, trial: bool) -> list[str]:
        """Return the fine-tuning program's arguments that name the split to predict and the one to choose
        by."""
        dev = self.protocol(protocol).looked_at(self._specs.datasets[dataset], trial)
        predicted = dev if trial and dev else self.scored_split(protocol, dataset)
        return ["--split", predicted, "--dev", dev or "none"]

    def first_model(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        """Return the folder of the model that a run begins with: the pretrained one, or another run's."""
        start = self.protocol(protocol).start(dataset, setting)
        if start is None:
            return self._paths.model(model)
        return self._paths.task_model(protocol, model, start, setting, 1)

    def kept(self, protocol: str, model: str, dataset: str, setting: str, seed: int) -> list[str]:
        """Return the folder of a run's own model if the model is kept, so that the run only predicts with it:
        because the study keeps models, or another run begins with it."""
        spec = self.protocol(protocol)
        begins_another = seed == 1 and spec.settings[setting].chain and dataset in spec.start_from.values()
        wanted = self._study.keep_models or begins_another
        return [self._paths.task_model(protocol, model, dataset, setting, seed)] if wanted else []

    def kept_arguments(self, protocol: str, model: str, dataset: str, setting: str, seed: int) -> list[str]:
        """Return the fine-tuning program's argument that names this folder."""
        kept = self.kept(protocol, model, dataset, setting, seed)
        return [text for path in kept for text in ("--kept", path)]

    def seeds(self, protocol: str, model: str, dataset: str, setting: str) -> tuple[int, ...]:
        """Return the seeds of the final runs of a model on a dataset that the study makes now."""
        seeds = self.protocol(protocol).seeds(self._specs.datasets[dataset], model, setting)
        run = (protocol, model, dataset, setting)
        return self.graph.seed_counts.take(seeds, run) if self.adaptive(protocol, dataset) else seeds

    def adaptive(self, protocol: str, dataset: str) -> bool:
        """Return whether the number of a model's runs on a dataset is decided as they finish."""
        spec = self.protocol(protocol)
        return spec.final.adaptive and spec.fold_of(dataset) is None

    def parts(self, protocol: str, dataset: str) -> list[str]:
        """Return the datasets behind a row of a table: folds that are reported together, or the dataset
        itself."""
        folds = self.protocol(protocol).folds.get(dataset)
        return list(folds.reported) if folds else [dataset]

    def scoring_recipe(
        self, protocol: str, model: str, dataset: str, setting: str, seed: int
    ) -> ScoringRecipe:
        """Return the ScoringRecipe of a run, except the digest of how it was made."""
        data = self._specs.datasets[dataset]
        return ScoringRecipe(
            protocol=protocol,
            model=model,
            dataset=dataset,
            setting=setting,
            seed=seed,
            scale=self._study.scale,
            split=self.scored_split(protocol, dataset),
            kind=data.kind,
            metric=data.metric,
            negative=data.negative,
            versions={"finetune": Finetune.version, **scoring_versions(data)},
        )
