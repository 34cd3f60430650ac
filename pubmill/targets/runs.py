"""Datasets, trials, runs and records."""

import itertools
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from pubmill.recipes import FinetuningRecipe
from pubmill.specs import LocalFile
from pubmill.targets.access import AccessTargets
from pubmill.targets.datasets import conversion_recipe
from pubmill.targets.versions import METRIC_VERSIONS, VERSIONS

DATASET_FILES = ("train.jsonl.gz", "dev.jsonl.gz", "test.jsonl.gz", "card.json")


class RunTargets(AccessTargets):
    """From task files to scored runs."""

    DATASET_FILES = DATASET_FILES

    def dataset_recipe(self, dataset: str) -> dict[str, Any]:
        return conversion_recipe(dataset, self.specs.datasets[dataset])

    def obstacle(self, dataset: str) -> str | None:
        """Why the dataset can't be run, if it can't: every reason."""
        reasons = [self.lacks(dataset), self.unsupported(dataset)]
        return "; ".join(reason for reason in reasons if reason) or None

    def unsupported(self, dataset: str) -> str | None:
        """What pubmill can't do yet that a run on the dataset needs, files or none."""
        spec = self.specs.datasets[dataset]
        if spec.kind not in get_args(get_type_hints(FinetuningRecipe)["task"]):
            return f"pubmill does not fine-tune on examples of kind {spec.kind} yet"
        return None if spec.metric in METRIC_VERSIONS else f"pubmill does not compute {spec.metric} yet"

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
        return [f"{self.results}/datasets/{dataset}/{name}" for name in DATASET_FILES]

    def finetuning_recipe(
        self, protocol: str, dataset: str, setting: str, trial: str | None
    ) -> dict[str, Any]:
        """FinetuningRecipe for a run. With a search, a final run's grid keys come from selected.json."""
        spec, data = self.specs.protocols[protocol], self.specs.datasets[dataset]
        point = self.trials(protocol)[trial] if trial else {}
        fixed = {"task": data.kind, "metric": data.metric, "negative": data.negative}
        if data.dummies:
            fixed["dummies"] = data.dummies.model_dump()
        return {**fixed, **spec.hyperparameters, **spec.settings[setting], **point}

    def trials(self, protocol: str) -> dict[str, dict[str, float]]:
        """The points of a protocol's grid, by readable name, in the grid's order."""
        search = self.specs.protocols[protocol].search
        if search is None:
            return {}
        grid = dict(sorted(search.grid.items()))
        points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
        return {
            ",".join(f"{key}={value:g}" for key, value in point.items()): _whole(point) for point in points
        }

    def trial_training(self, protocol: str, dataset: str, setting: str) -> list[str]:
        """training.json of every trial that the choice of hyper-parameters reads."""
        search = self.specs.protocols[protocol].search
        if search is None:
            return []
        return [
            f"{self.run_folder(protocol, model, dataset, setting)}/trials/{trial}/seed-{seed}.training.json"
            for trial in self.trials(protocol)
            for model in search.models
            for seed in range(1, search.seeds + 1)
        ]

    def run_folder(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        return f"{self.results}/runs/{protocol}/{model}/{dataset}/{setting}"

    def selected(self, protocol: str, dataset: str, setting: str) -> str:
        """The chosen hyper-parameters, common to all models (gu2020 section 6.2)."""
        return f"{self.results}/runs/{protocol}/selected/{dataset}/{setting}.json"

    def selection_inputs(self, protocol: str, dataset: str, setting: str) -> list[str]:
        """selected.json where the protocol searches; nothing where its settings are given."""
        searches = self.specs.protocols[protocol].search is not None
        return [self.selected(protocol, dataset, setting)] if searches else []

    def selection_arguments(self, protocol: str, dataset: str, setting: str) -> list[str]:
        """The fine-tuning program's argument that names the choice."""
        return [
            text
            for path in self.selection_inputs(protocol, dataset, setting)
            for text in ("--selected", path)
        ]

    def seeds(self, protocol: str, dataset: str) -> range:
        seeds = self.specs.protocols[protocol].final.seeds
        return range(1, seeds.get(dataset, seeds["default"]) + 1)

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
            "split": self.specs.protocols[protocol].final.split,
            "metric": data.metric,
            "versions": {
                "convert": [VERSIONS["convert"], data.version],
                "finetune": VERSIONS["finetune"],
                "score": VERSIONS["score"],
                "metric": METRIC_VERSIONS[data.metric],
            },
        }


def _whole(point: Mapping[Any, float]) -> dict[str, float]:
    """A grid point with its batch size as the integer it is."""
    return {key: int(value) if key == "batch_size" else value for key, value in point.items()}
