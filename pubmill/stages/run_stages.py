"""The stages of runs: trials, the choice of hyper-parameters, final runs and their records."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.metrics import METRICS, metrics_of
from pubmill.optimisers import OPTIMISERS
from pubmill.recipes.finetuning import ChoiceRecipe
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.specs import DatasetSpec, ProtocolSpec
from pubmill.stages import costs
from pubmill.stages.dataset_jobs import Convert
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import (
    Bytes,
    GraphPart,
    Needs,
    Stage,
    TrainingStage,
    cached,
    run_of,
    training_minutes,
)
from pubmill.storage import result_paths
from pubmill.storage.model_folders import WEIGHTS
from pubmill.storage.result_paths import ChoiceKey, RunKey


class Runs(GraphPart):
    """Recipes and inputs of trials, choices and final runs."""

    @cached
    def recipe(self, run: RunKey) -> dict[str, Any]:
        """Return the keys of the FinetuningRecipe of a run, except those that selected.json decides."""
        spec, data = self.protocol(run.protocol), self._specs.datasets[run.dataset]
        return spec.recipe(data, run.model, run.setting, trial=False)

    def trial_recipe(self, run: RunKey, trial: str) -> dict[str, Any]:
        """Return the keys of the FinetuningRecipe of a trial: a point of the grid."""
        spec, data = self.protocol(run.protocol), self._specs.datasets[run.dataset]
        values = spec.recipe(data, run.model, run.setting, trial=True)
        return {**values, **self.points(run)[trial]}

    @cached
    def points(self, run: RunKey) -> Mapping[str, Mapping[str, Any]]:
        """Return the points of the grid of a run."""
        data = self._specs.datasets[run.dataset]
        return self.protocol(run.protocol).points(data, run.model, run.setting)

    def blocks(self, run: RunKey) -> list[tuple[str, ...]]:
        """Return the blocks of points of a run's search, of which each is tried by one job."""
        points = list(self.points(run))
        size = self._specs.scale.block_points or len(points)
        return [tuple(points[first : first + size]) for first in range(0, len(points), size or 1)]

    def block(self, run: RunKey, first: str) -> tuple[str, ...]:
        """Return the points of the block with this first point; a `PubmillError` if there is none."""
        blocks = {block[0]: block for block in self.blocks(run)}
        if first not in blocks:
            raise PubmillError(
                f"protocol {run.protocol} has no block of trials {first!r} of {run.model} on {run.dataset}, "
                f"setting {run.setting}; it has {', '.join(blocks) or 'none'}"
            )
        return blocks[first]

    def protocol(self, name: str) -> ProtocolSpec:
        """Return a protocol; a `PubmillError` if it has no spec."""
        if name not in self._specs.protocols:
            raise PubmillError(f"there is no specs/protocols/{name}.yaml")
        return self._specs.protocols[name]

    def check(self, run: RunKey) -> None:
        """Check that a run requested by name is possible; a `PubmillError` says why it is not."""
        self._check_names(run)
        data = self._specs.datasets[run.dataset]
        if fault := self.protocol(run.protocol).obstacle(data, run.model, run.setting):
            raise PubmillError(fault)

    def _check_names(self, run: RunKey) -> None:
        for kind, name in zip(("protocols", "models", "datasets"), run[:3], strict=True):
            if name not in getattr(self._specs, kind):
                raise PubmillError(f"there is no specs/{kind}/{name}.yaml")
        settings = self._specs.protocols[run.protocol].settings
        if run.setting not in settings:
            raise PubmillError(
                f"protocol {run.protocol} has no setting {run.setting!r}; it has {', '.join(settings)}"
            )

    def inputs(self, run: RunKey) -> list[str]:
        """Return the inputs of a run."""
        self.check(run)
        start = self._start(run)
        model = [self._paths.runs(start)] if start else self._paths.model_files(run.model)
        return [*model, *self._paths.dataset_files(run.dataset), *self.selected(run)]

    def trial_inputs(self, run: RunKey, trial: str) -> list[str]:
        """Return the files of the dataset, and of the model only its weights: final runs have all, and
        Snakemake's time for a search grows with each file of a trial."""
        self._check_names(run)
        self.block(run, trial)
        start = self._start(run)
        model = self._paths.runs(start) if start else self._paths.model(run.model, WEIGHTS)
        return [model, *self._paths.dataset_files(run.dataset)]

    def choice(self, run: RunKey) -> ChoiceKey | None:
        """Return where a run's hyper-parameters are chosen; None if the protocol fixes them."""
        spec = self.protocol(run.protocol)
        folds = spec.fold_of(run.dataset)
        chosen_on = folds.chosen_on if folds else run.dataset
        choosing = spec.choosing(run.setting)
        by = spec.searched_by(choosing)
        if by is None or not self.points(run._replace(dataset=chosen_on, setting=choosing)):
            return None
        return ChoiceKey(run.protocol, run.model if by == "each" else None, chosen_on, choosing)

    def selected(self, run: RunKey) -> list[str]:
        """Return the path of the run's selected.json, its model's or all models'; [] without a choice."""
        choice = self.choice(run)
        return [self._paths.choice(choice)] if choice else []

    def choice_recipe(self, choice: ChoiceKey) -> ChoiceRecipe:
        """Return what a choice decides: the keys of the grid, and the number of steps on a fold."""
        spec, data = self.protocol(choice.protocol), self._specs.datasets[choice.dataset]
        grid = spec.grid(data, self.searchers(choice)[0], choice.setting)
        steps = ["stop_after"] if spec.fold_of(choice.dataset) else []
        return ChoiceRecipe(by="dev", decides=(*grid, *steps))

    def searchers(self, choice: ChoiceKey) -> list[str]:
        """Return the models whose trials make a choice: the model itself, or those that choose for all."""
        protocol, model, _, setting = choice
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

    def trial_manifests(self, choice: ChoiceKey) -> list[str]:
        """Return the manifests of all trials that a choice reads, in the order of the grid."""
        runs = [RunKey(choice.protocol, one, *choice[2:]) for one in self.searchers(choice)]
        self._check_names(runs[0])
        return [self._paths.trials(run, block[0]) for block in self.blocks(runs[0]) for run in runs]

    def scored_split(self, protocol: str, dataset: str) -> str:
        """Return the split that runs predict and that is scored."""
        return self.protocol(protocol).scored(self._specs.datasets[dataset])

    def scored_examples(self, run: RunKey) -> str:
        self.check(run)
        return self._paths.examples(run.dataset, self.scored_split(run.protocol, run.dataset))

    def split_arguments(self, protocol: str, dataset: str, trial: bool) -> list[str]:
        """Return the fine-tuning program's arguments: the split to predict and the one to choose by."""
        dev = self.protocol(protocol).looked_at(self._specs.datasets[dataset], trial)
        predicted = dev if trial and dev else self.scored_split(protocol, dataset)
        return ["--split", predicted, "--dev", dev or "none"]

    def _start(self, run: RunKey) -> RunKey | None:
        """Return the run whose first seed's model a run begins with; None for the pretrained model."""
        start = self.protocol(run.protocol).start(run.dataset, run.setting)
        return run._replace(dataset=start) if start else None

    def first_model(self, run: RunKey) -> str:
        """Return the folder of the model that a run begins with: the pretrained one, or another run's."""
        start = self._start(run)
        return self._paths.task_model(start, self.seeds(start)[0]) if start else self._paths.model(run.model)

    def kept(self, run: RunKey) -> list[str]:
        """Return the folders of the run's task models that are kept: of all seeds if the study keeps models,
        of the first if another run starts from it."""
        spec = self.protocol(run.protocol)
        folders = [self._paths.task_model(run, seed) for seed in self.trained_seeds(run)]
        chained = spec.settings[run.setting].chain and run.dataset in spec.start_from.values()
        return folders if self._study.keep_models else folders[:1] if chained else []

    def trained_seeds(self, run: RunKey) -> tuple[int, ...]:
        """Return the seeds that the run's job trains: only the first if the run is not in the study's tables
        and other runs start from it."""
        seeds, protocol = self.seeds(run), self.protocol(run.protocol)
        starts = run.dataset in protocol.start_from.values()
        return seeds if not starts or run in self._shown() else seeds[:1]

    @cached
    def _shown(self) -> set[RunKey]:
        tables = self.graph.requests.result_tables()
        paths = (path for table in tables for path in self.graph.tables.made_records(table))
        return {result_paths.run_of(path).run for path in paths}

    def seeds(self, run: RunKey) -> tuple[int, ...]:
        """Return the seeds of the final runs of a model on a dataset."""
        data = self._specs.datasets[run.dataset]
        return self.protocol(run.protocol).seeds(data, run.model, run.setting)

    def parts(self, protocol: str, dataset: str) -> list[str]:
        """Return the datasets behind a row of a table: folds that are reported together, or the dataset
        itself."""
        folds = self.protocol(protocol).folds.get(dataset)
        return list(folds.reported) if folds else [dataset]


AS_READ = 4
"""Bytes of each parameter of the model as it was read, which each seed copies."""


class FineTuning(TrainingStage):
    """Training of a model on a dataset, with all seeds in one job."""

    group, program = "fine-tune", "scripts/finetune.py"
    version = 3
    part_versions: ClassVar[Mapping[str, int]] = {"reinitialised_layers": 2}
    use, plan_line = "finetuning", "{protocol}, runs"

    def seeds_of(self, wildcards: Any) -> Sequence[int]:
        """Return the seeds that a job trains."""
        raise NotImplementedError

    def arguments(self, wildcards: Any) -> list[str]:
        """Return the program's arguments that name seeds, splits, the choice and the models to keep."""
        return ["--seeds", *map(str, self.seeds_of(wildcards))]

    def share(self, wildcards: Any, gpus: Gpus) -> float:
        return gpus.share_of_finetuning(self._specs.datasets[wildcards.dataset].kind)

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
    plan_line = "{protocol}, trials"

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
