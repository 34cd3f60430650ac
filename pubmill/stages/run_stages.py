"""The stages of runs: trials, the choice of hyper-parameters, final runs and their records."""

from collections.abc import Collection, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pubmill.metrics import METRICS, metrics_of
from pubmill.optimisers import OPTIMISERS
from pubmill.recipes.finetuning import ChoiceRecipe
from pubmill.recipes.recipe_types import PartialRecipe
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.specs import DatasetSpec
from pubmill.stages import costs
from pubmill.stages.dataset_jobs import Convert
from pubmill.stages.gpus import Gpus
from pubmill.stages.model_jobs import ExportModel
from pubmill.stages.stage import (
    BUNDLE,
    DAY,
    Bytes,
    Inputs,
    Needs,
    Origin,
    Stage,
    TrainingStage,
    run_of,
    training_minutes,
)
from pubmill.storage.result_paths import ChoiceKey, RunKey

if TYPE_CHECKING:
    from pubmill.stages.study_graph import Graph


class FineTuning(TrainingStage):
    """Training of a model on a dataset."""

    group, program = "fine-tune", "scripts/finetune.py"
    version = 3
    use = "finetuning"

    def __init__(self, graph: "Graph") -> None:
        super().__init__(graph)
        self._needs: dict[tuple[str, ...], Needs] = {}

    def operations(self, wildcards: Any) -> float | None:
        return costs.operations_of_finetuning(self.graph, run_of(wildcards))

    def share(self, wildcards: Any, gpus: Gpus) -> float:
        return costs.share_of_finetuning(self.graph, gpus, wildcards.dataset)

    def plan_line(self, wildcards: Any) -> str:
        return f"{wildcards.protocol}, runs"

    def needs_of(self, wildcards: Any, gpus: Gpus) -> Needs:
        """Return the memory and time of a run on one GPU, computed once for all its seeds."""
        key = (*run_of(wildcards), vars(wildcards).get("trial", ""))
        if key not in self._needs:
            parameters = costs.parameters_of_model(self.graph, wildcards.model)
            memory = costs.memory_mb(OPTIMISERS["adamw"].training_bytes, parameters)
            minutes = training_minutes(self.operations(wildcards), self.share(wildcards, gpus), gpus)
            self._needs[key] = Needs(memory, minutes)
        return self._needs[key]

    def bundle_of(self, wildcards: Any, gpus: Gpus) -> str:
        number = self.minutes_before(wildcards, gpus) // DAY + 1
        return BUNDLE + "-".join([self.group, *run_of(wildcards), str(number)])

    def minutes_before(self, wildcards: Any, gpus: Gpus) -> int:
        """Return the minutes that the preceding jobs request: the same run's jobs with a lower seed."""
        each = self.needs_of(wildcards, gpus).minutes + Score.needs.minutes
        return (int(wildcards.seed) - 1) * each

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return the kind and task of the dataset, and the recipe's settings in use: `crf`, `bilstm`."""
        data = self._specs.datasets[wildcards.dataset]
        values = self.graph.runs.recipe(run_of(wildcards))
        names = {value if isinstance(value, str) else key for key, value in values.items() if value}
        return {data.kind, data.task, *names}

    def recipe_of(self, wildcards: Any) -> PartialRecipe:
        return self.graph.runs.recipe(run_of(wildcards))

    def trained_from(self, wildcards: Any) -> Iterator[Origin]:
        """Yield the jobs that make the examples of a run, and the model that it begins with."""
        run = run_of(wildcards)
        yield Origin(Convert, {"dataset": run.dataset})
        if start := self.graph.runs.protocol(run.protocol).start(run.dataset, run.setting):
            yield Origin(Finetune, run._replace(dataset=start)._asdict())
        else:
            yield Origin(ExportModel, {"model": run.model})


class TrialStage(FineTuning):
    """A trial of the hyper-parameter search."""

    name, group = "trial", "trials"
    label = "Trying {wildcards.trial}: {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"

    def operations(self, wildcards: Any) -> float | None:
        return costs.operations_of_finetuning(self.graph, run_of(wildcards), wildcards.trial)

    def plan_line(self, wildcards: Any) -> str:
        return f"{wildcards.protocol}, trials"

    def minutes_before(self, wildcards: Any, gpus: Gpus) -> int:
        run = run_of(wildcards)
        spec = self.graph.runs.protocol(run.protocol)
        before = 0
        for trial in self.graph.runs.points(run):
            of_trial = SimpleNamespace(**run._asdict(), trial=trial)
            each = self.needs_of(of_trial, gpus).minutes
            if trial == wildcards.trial:
                return before + (int(wildcards.seed) - 1) * each
            before += each * (spec.search.seeds if spec.search else 1)
        return before

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {"files": self.graph.runs.trial_inputs(run_of(wildcards), wildcards.trial)}

    def recipe_of(self, wildcards: Any) -> PartialRecipe:
        return self.graph.runs.trial_recipe(run_of(wildcards), wildcards.trial)

    def described(self, wildcards: Any) -> Any:
        splits = self.graph.runs.split_arguments(wildcards.protocol, wildcards.dataset, trial=True)
        return [self.recipe_of(wildcards), splits]

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield from self.trained_from(wildcards)


class Choose(Stage):
    """The hyper-parameters of all models on a dataset."""

    name, group, label = "choose", "trials", "Choosing hyper-parameters for {wildcards.dataset}"
    version, program = 2, "scripts/select_trial.py"

    def choice_of(self, wildcards: Any) -> ChoiceKey:
        """Return the choice, for all models of the protocol."""
        return ChoiceKey(wildcards.protocol, None, wildcards.dataset, wildcards.setting)

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {"trials": self.graph.runs.trial_training(self.choice_of(wildcards))}

    def recipe_of(self, wildcards: Any) -> ChoiceRecipe:
        return self.graph.runs.choice_recipe(self.choice_of(wildcards))

    def described(self, wildcards: Any) -> Any:
        search = self.graph.runs.protocol(wildcards.protocol).search
        return [self.recipe_of(wildcards), search and search.seeds]

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        choice = self.choice_of(wildcards)
        runs = [RunKey(choice.protocol, one, *choice[2:]) for one in self.graph.runs.searchers(choice)]
        for trial in self.graph.runs.points(runs[0]):
            for run in runs:
                yield Origin(TrialStage, {**run._asdict(), "trial": trial})


class ChooseForModel(Choose):
    """The hyper-parameters of one model on a dataset."""

    name = "choose_for_model"
    label = "Choosing hyper-parameters of {wildcards.model} for {wildcards.dataset}"

    def choice_of(self, wildcards: Any) -> ChoiceKey:
        return ChoiceKey(*run_of(wildcards))


class Finetune(FineTuning):
    """A final run."""

    name = "finetune"
    label = "Fine-tuning {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"

    def inputs_of(self, wildcards: Any) -> Inputs:
        run = run_of(wildcards)
        kept = self.graph.runs.kept(run, int(wildcards.seed))
        return {"files": self.graph.runs.inputs(run), "kept": kept}

    def described(self, wildcards: Any) -> Any:
        splits = self.graph.runs.split_arguments(wildcards.protocol, wildcards.dataset, trial=False)
        return [self.recipe_of(wildcards), splits]

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield from self.trained_from(wildcards)
        if choice := self.graph.runs.choice(run_of(wildcards)):
            names = {key: name for key, name in choice._asdict().items() if name is not None}
            yield Origin(ChooseForModel if choice.model else Choose, names)


class KeptModel(FineTuning):
    """A final run whose model is kept."""

    name = "task_model"
    label = f"{Finetune.label}, and keeping the model"

    def bytes_of(self, wildcards: Any) -> Bytes:
        return Bytes(disk=costs.bytes_of_model(self.graph, wildcards.model))

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {"files": self.graph.runs.inputs(run_of(wildcards))}


class Score(Stage):
    """The record of a run."""

    name, group = "score", "score"
    label = "Scoring {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    version, program = 5, "scripts/score.py"

    def bundle_of(self, wildcards: Any, gpus: Gpus) -> str | None:
        return self.graph.stage(Finetune).bundle_of(wildcards, gpus)

    def inputs_of(self, wildcards: Any) -> Inputs:
        run = run_of(wildcards)
        return {
            "predictions": self._paths.predictions(run, wildcards.seed),
            "training": self._paths.training(run, wildcards.seed),
            "examples": self.graph.runs.scored_examples(run),
        }

    def recipe_of(self, wildcards: Any) -> ScoringRecipe:
        return self.graph.records.recipe(run_of(wildcards), int(wildcards.seed))

    def described(self, wildcards: Any) -> ScoringRecipe:
        """Return the recipe of seed 1 without `made_by`, the digest that includes this value."""
        return self.graph.runs.scoring_recipe(run_of(wildcards), 1)

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        yield Origin(Finetune, run_of(wildcards)._asdict())


def scoring_versions(data: DatasetSpec) -> dict[str, int | list[int]]:
    """Return the versions behind all records of a dataset: of its examples, of scoring and of the metrics. A
    metric of other tasks counts as version 1, so that its change scores no record of this dataset again."""
    return {
        "convert": [Convert.version, data.version],
        "score": Score.version,
        "metric": METRICS[data.metric].version,
        "metrics": [one.version if one.fits(data.kind, data.task) else 1 for one in metrics_of(data.kind)],
    }
