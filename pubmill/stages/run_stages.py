"""The stages of runs: trials, the choice of hyper-parameters, final runs and their records."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from pubmill.metrics import METRICS, metrics_of
from pubmill.optimisers import OPTIMISERS
from pubmill.recipes.finetuning import ChoiceRecipe
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.specs import DatasetSpec
from pubmill.stages import costs
from pubmill.stages.dataset_jobs import Convert
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import (
    Bytes,
    Needs,
    Stage,
    TrainingStage,
    run_of,
    training_minutes,
)
from pubmill.storage.result_paths import ChoiceKey, RunKey

AS_READ = 4
"""Bytes of each parameter of the model as it was read, which each seed copies."""


class FineTuning(TrainingStage):
    """Training of a model on a dataset, with all seeds in one job."""

    group, program = "fine-tune", "scripts/finetune.py"
    version = 3
    part_versions: ClassVar[Mapping[str, int]] = {"reinitialised_layers": 2}
    use = "finetuning"

    def seeds_of(self, wildcards: Any) -> Sequence[int]:
        """Return the seeds that a job trains."""
        raise NotImplementedError

    def arguments(self, wildcards: Any) -> list[str]:
        """Return the program's arguments that name seeds, splits, the choice and the models to keep."""
        return ["--seeds", *map(str, self.seeds_of(wildcards))]

    def share(self, wildcards: Any, gpus: Gpus) -> float:
        return gpus.share_of_finetuning(self._specs.datasets[wildcards.dataset].kind)

    def plan_line(self, wildcards: Any) -> str:
        return f"{wildcards.protocol}, runs"

    def needs_of(self, wildcards: Any, gpus: Gpus) -> Needs:
        """Return the memory and time of a job on one GPU, computed once for a run or block of trials."""
        key = (*run_of(wildcards), vars(wildcards).get("trial", ""))
        if key not in self.cache:
            parameters = costs.parameters_of_model(self.graph, wildcards.model)
            memory = costs.memory_mb(OPTIMISERS["adamw"].training_bytes + AS_READ, parameters)
            minutes = training_minutes(self.operations(wildcards), self.share(wildcards, gpus), gpus)
            self.cache[key] = Needs(memory, minutes)
        needs: Needs = self.cache[key]
        return needs

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return the kind and task of the dataset, and the recipe's settings in use or searched: `crf`."""
        run, data = run_of(wildcards), self._specs.datasets[wildcards.dataset]
        choice = self.graph.runs.choice(run)
        searched = run._replace(dataset=choice.dataset, setting=choice.setting) if choice else run
        recipes = [self.graph.runs.recipe(run), *self.graph.runs.points(searched).values()]
        values = [item for recipe in recipes for item in recipe.items()]
        names = {value if isinstance(value, str) else key for key, value in values if value}
        return {data.kind, data.task, *names}

    def recipe_of(self, wildcards: Any) -> dict[str, Any]:
        return self.graph.runs.recipe(run_of(wildcards))


class TrialStage(FineTuning):
    """Trials of the hyper-parameter search: a block of points, named after its first."""

    name, group = "trial", "trials"
    label = "Trying {wildcards.trial}: {wildcards.model} on {wildcards.dataset}"

    def seeds_of(self, wildcards: Any) -> Sequence[int]:
        search = self.graph.runs.protocol(wildcards.protocol).search
        return range(1, search.seeds + 1 if search else 2)

    def arguments(self, wildcards: Any) -> list[str]:
        splits = self.graph.runs.split_arguments(wildcards.protocol, wildcards.dataset, trial=True)
        return [*super().arguments(wildcards), *splits]

    def operations(self, wildcards: Any) -> float | None:
        run, seeds = run_of(wildcards), len(self.seeds_of(wildcards))
        points = self.graph.runs.block(run, wildcards.trial)
        each = [costs.operations_of_finetuning(self.graph, run, point) for point in points]
        known = [one for one in each if one is not None]
        return seeds * sum(known) if known else None

    def plan_line(self, wildcards: Any) -> str:
        return f"{wildcards.protocol}, trials"

    def recipe_of(self, wildcards: Any) -> Any:
        """Return the `TrialRecipes` of a block of points."""
        run = run_of(wildcards)
        points = self.graph.runs.block(run, wildcards.trial)
        return {"points": {point: self.graph.runs.trial_recipe(run, point) for point in points}}


class Choose(Stage):
    """The hyper-parameters of all models on a dataset."""

    name, group, label = "choose", "trials", "Choosing hyper-parameters for {wildcards.dataset}"
    version, program = 2, "pubmill/jobs/select_trial.py"

    def choice_of(self, wildcards: Any) -> ChoiceKey:
        """Return the choice, for all models of the protocol."""
        return ChoiceKey(wildcards.protocol, None, wildcards.dataset, wildcards.setting)

    def recipe_of(self, wildcards: Any) -> ChoiceRecipe:
        return self.graph.runs.choice_recipe(self.choice_of(wildcards))


class ChooseForModel(Choose):
    """The hyper-parameters of one model on a dataset."""

    name = "choose_for_model"
    label = "Choosing hyper-parameters of {wildcards.model} for {wildcards.dataset}"

    def choice_of(self, wildcards: Any) -> ChoiceKey:
        return ChoiceKey(*run_of(wildcards))


class Finetune(FineTuning):
    """A final run."""

    name = "finetune"
    label = "Fine-tuning {wildcards.model} on {wildcards.dataset}"

    def seeds_of(self, wildcards: Any) -> Sequence[int]:
        return self.graph.runs.trained_seeds(run_of(wildcards))

    def arguments(self, wildcards: Any) -> list[str]:
        runs, run = self.graph.runs, run_of(wildcards)
        splits = runs.split_arguments(run.protocol, run.dataset, trial=False)
        chosen = [word for path in runs.selected(run) for word in ("--selected", path)]
        kept = runs.kept(run)
        return [*super().arguments(wildcards), *splits, *chosen, *(["--keep", *kept] if kept else [])]

    def operations(self, wildcards: Any) -> float | None:
        each = costs.operations_of_finetuning(self.graph, run_of(wildcards))
        return None if each is None else each * len(self.seeds_of(wildcards))

    def bytes_of(self, wildcards: Any) -> Bytes:
        kept = len(self.graph.runs.kept(run_of(wildcards)))
        return Bytes(disk=kept * costs.bytes_of_model(self.graph, wildcards.model)) if kept else Bytes()


class Score(Stage):
    """The records of a run."""

    name, group = "score", "score"
    label = "Scoring {wildcards.model} on {wildcards.dataset}"
    version, program = 6, "pubmill/jobs/score.py"

    def run_of(self, wildcards: Any) -> RunKey:
        """Return the run that is scored."""
        return run_of(wildcards)

    def recipe_of(self, wildcards: Any) -> ScoringRecipe:
        """Return the recipe of seed 1; the program gives each record its own."""
        return self.graph.records.recipe(self.run_of(wildcards))


def scoring_versions(data: DatasetSpec) -> dict[str, int | list[int]]:
    """Return the versions behind all records of a dataset: of its examples, of scoring and of the metrics.
    Metrics of other tasks are entered as version 1: their changes leave these records as they are."""
    return {
        "convert": [Convert.version, data.version],
        "score": Score.version,
        "metric": METRICS[data.metric].version,
        "metrics": [one.version if one.fits(data.kind, data.task) else 1 for one in metrics_of(data.kind)],
    }
