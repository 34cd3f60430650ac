"""Specs of protocols: how a paper fine-tunes, selects hyper-parameters and aggregates scores."""

import itertools
from collections.abc import Iterator
from dataclasses import asdict, fields
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from pubmill.messages.wording import repeated
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.recipe_types import Name
from pubmill.recipes.report import Reference
from pubmill.recipes.tables import Aggregate, EquivalenceRule
from pubmill.specs.dataset_specs import TASKS, DatasetSpec
from pubmill.specs.spec_types import Spec, Strict

BY_DATASET = ("task", "metric", "negative", "dummies")
"""Keys of FinetuningRecipe that the dataset decides; a protocol must not set them."""
DECIDABLE = {field.name for field in fields(FinetuningRecipe)} - set(BY_DATASET)
KINDS = tuple(TASKS)
ALL_TASKS = tuple(sorted({task for tasks in TASKS.values() for task in tasks}))
UNSEARCHED = "default"
"""Name of the single trial where only the number of steps is chosen."""

SettingName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*(=[a-z0-9.+-]+)*$")]
"""Parts are joined by `+`, as in grid points: on a cluster, Snakemake would cut the name at a comma."""


def check_decidable(values: dict[str, Any]) -> dict[str, Any]:
    """Check that a protocol may decide these keys; the loader, which knows the kinds, checks the values."""
    faults = [
        f"{key}: the dataset decides it, not a protocol; remove it"
        if key in BY_DATASET
        else f"{key}: unknown key; check its spelling, or remove it"
        for key in values
        if key not in DECIDABLE
    ]
    if faults:
        raise ValueError("; ".join(faults))
    return values


def _known_names(of: tuple[str, ...]) -> Any:
    def check(names: tuple[str, ...]) -> tuple[str, ...]:
        if strangers := [name for name in names if name not in of]:
            raise ValueError(f"{', '.join(strangers)}: unknown; expected some of {', '.join(of)}")
        return names

    return AfterValidator(check)


Values = Annotated[dict[str, Any], AfterValidator(check_decidable)]
Grid = Annotated[dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]], AfterValidator(check_decidable)]


class DatasetScope(Strict):
    """The datasets that a setting or override applies to, by task and kind; null means any.

    - `tasks`: only datasets of these tasks; null: any.
    - `kinds`: only datasets with these kinds of examples; null: any.
    """

    tasks: Annotated[tuple[str, ...], _known_names(ALL_TASKS)] | None = None
    kinds: Annotated[tuple[str, ...], _known_names(KINDS)] | None = None

    def fits(self, data: DatasetSpec) -> bool:
        return (self.tasks is None or data.task in self.tasks) and (
            self.kinds is None or data.kind in self.kinds
        )

    def description(self) -> str:
        """Return the tasks and kinds as text."""
        return " among ".join(", ".join(names) for names in (self.tasks, self.kinds) if names)


class Override(DatasetScope):
    """Values for the runs that meet all conditions given; a condition that is absent always holds.

    `models` may name `future_models`. `grid`: searched in these runs, in addition to the common grid.
    `seeds`: the numbers of the seeds of these final runs, instead of 1 to `final.seeds`. `metric`: the dev
    score by which these runs choose weights and grid points; null: the dataset's metric. `why`: the source of
    the values.

    - `datasets`, `models`, `settings`: only these; null: any.
    - `values`: keys of the fine-tuning recipe.
    """

    datasets: tuple[Name, ...] | None = None
    models: tuple[Name, ...] | None = None
    settings: tuple[SettingName, ...] | None = None
    values: Values = {}
    grid: Grid | None = None
    seeds: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] | None = None
    metric: str | None = None
    why: str | None = None

    def holds(self, data: DatasetSpec, model: str, setting: str) -> bool:
        return (
            (self.settings is None or setting in self.settings)
            and (self.models is None or model in self.models)
            and (self.datasets is None or data.name in self.datasets)
            and self.fits(data)
        )


class Setting(DatasetScope):
    """A way to run the protocol, on the datasets in its scope.

    `chosen_by`: the setting whose selected hyper-parameters this one uses; null: it selects its own.
    `chain: false` ignores the protocol's `start_from`. `added`: the paper of the protocol does not have this
    setting (it is ours or another paper's). `search`: as the protocol's; `each`: every model has its own
    choice; `none`: nothing is chosen, as values and overrides give all hyper-parameters.

    - `values`: keys of the fine-tuning recipe.
    - `chain`: whether runs start from another dataset's model, as `start_from` says.
    """

    values: Values = {}
    chosen_by: SettingName | None = None
    chain: bool = True
    added: bool = False
    search: Literal["protocol", "each", "none"] = "protocol"


class SearchSpec(Strict):
    """A grid search: each of `models` is trained at every point with every seed, and the point with the best
    mean dev score is chosen.

    `models`: the models whose runs decide one choice for all, or `each`: every model has its own choice.

    - `grid`: keys of the fine-tuning recipe, each with the values that are tried.
    - `seeds`: number of runs of each point.
    """

    grid: Grid
    models: tuple[Name, ...] | Literal["each"]
    seeds: int = 1


class Folds(Strict):
    """Folds of a cross-validated dataset.

    - `chosen_on`: the fold that chooses the number of steps; its test split serves as dev.
    - `reported`: the folds that are trained for that many steps, without dev, and scored together.
    """

    chosen_on: Name
    reported: Annotated[tuple[Name, ...], Field(min_length=1)]


class Final(Strict):
    """The final runs. `seeds`: dataset (or the name of its folds) -> number of runs, with a `default`.
    `split`: the scored split; dev where a dataset has no test.

    - `aggregate`: how the scores of the seeds become one.
    """

    seeds: dict[str, Annotated[int, Field(ge=1)]]
    aggregate: Aggregate
    split: Literal["test"]


def _check_default(rule: EquivalenceRule) -> EquivalenceRule:
    if "default" not in rule.margins:
        raise ValueError("margins must have the key `default`, which also holds for composites")
    return rule


class ProtocolSpec(Spec):
    """How a paper fine-tunes.

    A run's FinetuningRecipe combines `hyperparameters`, the `overrides` that apply (in order), the setting's
    values and the chosen grid point; later values win. Overrides have names so that a scale can change one
    of them.

    `start_from`: dataset -> dataset: runs on the first start from the model fine-tuned on the second (same
    model and setting, seed 1). `future_models`: models that overrides name although they have no spec yet.

    - `search`: how hyper-parameters are chosen; null: they are given.
    - `hyperparameters`: keys of the fine-tuning recipe for all runs.
    - `overrides`: values for some runs, by name.
    - `settings`: the ways to run the protocol, by name; the first is `standard`.
    - `folds`: cross-validated datasets, by name.
    - `final`: the runs that tables show.
    - `equivalence`: when a published value counts as reproduced.
    - `reference`: how a report cites the paper; null: by the citation of its first table.
    """

    search: SearchSpec | None
    hyperparameters: Values
    overrides: dict[Name, Override] = {}
    settings: dict[SettingName, Setting]
    folds: dict[Name, Folds] = {}
    start_from: dict[Name, Name] = {}
    future_models: tuple[Name, ...] = ()
    final: Final
    equivalence: Annotated[EquivalenceRule, AfterValidator(_check_default)]
    reference: Reference | None = None

    def faults(self) -> Iterator[str]:
        for name, setting in self.settings.items():
            other = self.settings.get(setting.chosen_by or "")
            if setting.chosen_by and (other is None or other.chosen_by):
                yield f"setting {name}: chosen_by must name a setting that chooses for itself"
        for name, override in self.overrides.items():
            if strangers := sorted(set(override.settings or ()) - self.settings.keys()):
                yield f"override {name}: there are no settings {', '.join(strangers)}"
        if "default" not in self.final.seeds:
            yield "final.seeds must have the key `default`"
        parts = [name for folds in self.folds.values() for name in (folds.chosen_on, *folds.reported)]
        if twice := repeated(parts):
            yield f"folds: {', '.join(twice)} are listed twice"
        if self.search is None and self.folds:
            yield "folds need a search (its grid may be empty), which chooses their number of steps"
        for name, override in self.overrides.items():
            if override.grid and self.search is None:
                yield f"override {name} has a grid, but there is no search; give it values and `grid: null`"
            if override.grid and override.models and self.search and self.search.models != "each":
                yield f"override {name}: a grid for certain models needs a search with `models: each`"
        grids = [self.search.grid if self.search else {}, *(o.grid or {} for o in self.overrides.values())]
        if any("stop_after" in grid for grid in grids):
            yield "stop_after can't be in a grid: folds choose it"
        try:
            TopologicalSorter({name: [start] for name, start in self.start_from.items()}).prepare()
        except CycleError as error:
            yield f"start_from contains a cycle: {' -> '.join(reversed(error.args[1]))}"

    def applied(self, data: DatasetSpec, model: str, setting: str) -> dict[str, Override]:
        """The overrides that apply to a run, in order."""
        return {name: one for name, one in self.overrides.items() if one.holds(data, model, setting)}

    def fold_of(self, dataset: str) -> Folds | None:
        """The folds that contain a dataset."""
        return next((f for f in self.folds.values() if dataset in (f.chosen_on, *f.reported)), None)

    def start(self, dataset: str, setting: str) -> str | None:
        """The dataset whose fine-tuned model a run starts from; None for the pretrained model."""
        return self.start_from.get(dataset) if self.settings[setting].chain else None

    def runs(self, dataset: str) -> int:
        """The number of final runs of a model; for a fold, the number specified for its folds."""
        seeds = self.final.seeds
        group = next((name for name, one in self.folds.items() if dataset in one.reported), "default")
        return seeds.get(dataset, seeds.get(group, seeds["default"]))

    def seeds(self, data: DatasetSpec, model: str, setting: str) -> tuple[int, ...]:
        """The seeds of the final runs of a model on a dataset."""
        named = [one.seeds for one in self.applied(data, model, setting).values() if one.seeds]
        return named[-1] if named else tuple(range(1, self.runs(data.name) + 1))

    def scored(self, data: DatasetSpec) -> str:
        """The split that runs predict."""
        return self.final.split if self.final.split in data.splits else "dev"

    def looked_at(self, data: DatasetSpec, trial: bool) -> str | None:
        """The split that selects weights and points: dev, or for trials on a fold's `chosen_on` its test."""
        if folds := self.fold_of(data.name):
            return self.final.split if trial and data.name == folds.chosen_on else None
        return "dev" if "dev" in data.splits and self.scored(data) != "dev" else None

    def searched_by(self, setting: str) -> tuple[Name, ...] | Literal["each"] | None:
        """The models whose trials make the choice of a setting; None where nothing is chosen."""
        how = self.settings[self.choosing(setting)].search
        if self.search is None or how == "none":
            return None
        return self.search.models if how == "protocol" else "each"

    def choosing(self, setting: str) -> str:
        """The setting whose trials choose the hyper-parameters of a setting."""
        return self.settings[setting].chosen_by or setting

    def grid(self, data: DatasetSpec, model: str, setting: str) -> dict[str, tuple[Any, ...]]:
        """The grid, by key, that a setting's hyper-parameters are chosen from."""
        if self.search is None or self.searched_by(setting) is None:
            return {}
        grid = dict(self.search.grid)
        for override in self.applied(data, model, self.choosing(setting)).values():
            grid |= override.grid or {}
        return dict(sorted(grid.items()))

    def points(self, data: DatasetSpec, model: str, setting: str) -> dict[str, dict[str, Any]]:
        """The points of that grid, by readable name and in order; empty where nothing is chosen."""
        grid = self.grid(data, model, setting)
        points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
        if grid:
            return {"+".join(f"{key}={short_value(value)}" for key, value in p.items()): p for p in points}
        return {UNSEARCHED: {}} if self.fold_of(data.name) and self.searched_by(setting) else {}

    def recipe(self, data: DatasetSpec, model: str, setting: str, trial: bool) -> dict[str, Any]:
        """Values of a run's FinetuningRecipe, without those that the search decides."""
        values: dict[str, Any] = {"task": data.kind, "metric": data.metric, "negative": data.negative}
        if data.dummies:
            values["dummies"] = asdict(data.dummies)
        values |= self.hyperparameters
        for override in self.applied(data, model, setting).values():
            values |= override.values | ({"metric": override.metric} if override.metric else {})
        values |= self.settings[setting].values
        if trial:
            return {**values, "train_on": "train"}  # never train on dev where it chooses
        return {**values, "keep": "last", "evaluate_every": None} if self.fold_of(data.name) else values

    def obstacle(self, data: DatasetSpec, model: str, setting: str) -> str | None:
        """Why a setting cannot be run on a dataset; None if it can."""
        folds, splits = self.fold_of(data.name), ", ".join(data.splits)
        if setting not in self.settings:
            return f"protocol {self.name} has no setting {setting!r}; it has {', '.join(self.settings)}"
        if not self.settings[setting].fits(data):
            return (
                f"setting {setting} of protocol {self.name} is not for {data.task} "
                f"({data.kind}: {data.name}), but for {self.settings[setting].description()}"
            )
        if folds and data.name == folds.chosen_on:
            return f"protocol {self.name} chooses on {data.name} and reports {', '.join(folds.reported)}"
        if folds or self.looked_at(data, trial=False):
            return None
        if self.points(data, model, setting):
            lacks = f"{data.name} has no split to search by (it has {splits})"
            return f"protocol {self.name} searches, and {lacks}"
        if self.recipe(data, model, setting, trial=False).get("keep", "best") == "best":
            return (
                f"{data.name} has no split to choose the best weights by (it has {splits}, of which one is "
                f"scored); give protocol {self.name} an override for it with keep: last"
            )
        return None


def short_value(value: Any) -> str:
    """Return a grid value in its short form for file names: 1e-05, 512x1024, none."""
    if isinstance(value, (list, tuple)):
        return "x".join(map(short_value, value)) or "none"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)
