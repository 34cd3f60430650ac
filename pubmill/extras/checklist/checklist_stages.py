"""The reproducibility checklist of a study."""

from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pubmill.extras.checklist import checklist_recipes as recipes
from pubmill.recipes.tables import project
from pubmill.specs import LocalFile
from pubmill.stages.pipelines import OFF_THE_SHELF
from pubmill.stages.stage import TEMPLATES, Stage
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import RunKey


class ChecklistStage(Stage):
    """Recipe and inputs of the reproducibility checklist."""

    name, group, label = "checklist", "report", "Filling the reproducibility checklist"
    version = 2
    read_by_name = (TEMPLATES,)

    def targets(self) -> list[str]:
        """Return the files of the checklist, if the study has tables of results."""
        return self.packed() if self.graph.requests.result_tables() else []

    def packed(self) -> list[str]:
        """Return the files of the checklist."""
        return self._paths.checklist_files(self._study.study)

    def runs(self) -> recipes.StudyRuns:
        """Return the runs behind the study's tables: those that it makes, and those shown beside them."""
        return _group_runs([*self._made_records(), *self._found_records()])

    def _made_records(self) -> list[str]:
        """Return the records that the study makes, below the results folder."""
        tables = self.graph.requests.result_tables()
        records = dict.fromkeys(path for table in tables for path in self.graph.tables.record_files(table))
        return list(map(self._paths.below, records))

    def _found_records(self) -> list[str]:
        """Return the records on disk that tables show but no job of the study makes."""
        tables = self.graph.requests.result_tables()
        return [*dict.fromkeys(path for table in tables for path in self.graph.tables.found_records(table))]

    def searches(self) -> list[recipes.SearchSummary]:
        """Return the searches behind these runs: each grid once, with the paths of the choices made by it. Of
        a run that no job of the study makes, the choice counts only if it is on disk."""
        searches: dict[tuple[str, str], recipes.SearchSummary] = {}
        made = set(self._choice_files(_group_runs(self._made_records())))
        for run in _fine_tuned_runs(self.runs()):
            spec, choice = self.graph.runs.protocol(run.protocol), self.graph.runs.choice(run)
            by = choice and spec.searched_by(choice.setting)
            if choice is None or by is None or spec.search is None:
                continue
            grid = spec.grid(self._specs.datasets[choice.dataset], choice.model or run.model, choice.setting)
            key, seeds = (run.protocol, repr((grid, by))), spec.search.seeds
            new = recipes.SearchSummary(protocol=run.protocol, grid=grid, models=by, seeds=seeds, selected=())
            one = searches.setdefault(key, new)
            paths = self.graph.runs.selected(run)
            there = [self._paths.below(path) for path in paths if path in made or Path(path).is_file()]
            searches[key] = replace(one, selected=tuple(dict.fromkeys([*one.selected, *there])))
        return list(searches.values())

    def _choice_files(self, runs: recipes.StudyRuns) -> Iterator[str]:
        """Yield the files of the choices behind some runs."""
        for run in _fine_tuned_runs(runs):
            yield from self.graph.runs.selected(run)

    def recipe(self) -> recipes.ChecklistRecipe:
        """Return the ChecklistRecipe of the study: values of its specs; measurements are in the results."""
        runs, specs, found = self.runs(), self._specs.models, list(map(run_of, self._found_records()))
        models = dict.fromkeys([*self.graph.scope.models(), *(run.model for run in found)])
        others = dict.fromkeys(run.dataset for run in found)
        with_card = (name for name in others if Path(self._paths.card(name)).is_file())
        datasets = dict.fromkeys([*self.graph.scope.datasets(), *with_card])
        return recipes.ChecklistRecipe(
            **vars(self.graph.report.results()),
            runs=runs,
            searches=tuple(self.searches()),
            protocols={name: self._protocol_summary(name) for name in runs if name != OFF_THE_SHELF},
            models={
                name: project(recipes.ModelSummary, specs[name], weights=self.graph.models.weights(name))
                for name in models
            },
            datasets={name: self._dataset_summary(name) for name in datasets},
            versions={"checklist": self.version},
        )

    def _protocol_summary(self, name: str) -> recipes.ProtocolSummary:
        spec = self._specs.protocols[name]
        overrides = {key: one for key, one in spec.overrides.items() if one.values}
        return project(
            recipes.ProtocolSummary,
            spec,
            overrides={key: {**one.values, "why": one.why or ""} for key, one in overrides.items()},
            aggregate=spec.final.aggregate,
            split=spec.final.split,
        )

    def _dataset_summary(self, name: str) -> recipes.DatasetSummary:
        spec = self._specs.datasets[name]
        links = [file.url for file in spec.sources.values() if not isinstance(file, LocalFile)]
        made_up = self.graph.datasets.is_made_up(name)
        return project(recipes.DatasetSummary, spec, links=tuple(dict.fromkeys(links)), made_up=made_up)

    def inputs(self) -> list[str]:
        """Return the files that the checklist reads, except weights, which it counts where they exist."""
        records = self._made_records()
        selected = dict.fromkeys(self._choice_files(_group_runs(records)))
        cards = list(map(self._paths.card, self.graph.scope.datasets()))
        return [*self.graph.report.measured(), *map(self._paths.at, records), *selected, *cards]


def _group_runs(records: Iterable[str]) -> recipes.StudyRuns:
    """Return runs by the paths of their records below the results folder."""
    runs: recipes.StudyRuns = {}
    for run in map(run_of, records):
        seeds = runs.setdefault(run.protocol, {}).setdefault(run.model, {}).setdefault(run.setting, {})
        insort(seeds.setdefault(run.dataset, []), run.seed)
    return runs


def _fine_tuned_runs(runs: recipes.StudyRuns) -> list[RunKey]:
    """Return all runs except those of pipelines, by protocol, model, setting and dataset."""
    keys = (run for run, _ in recipes.run_keys(runs) if run.protocol != OFF_THE_SHELF)
    return sorted(keys, key=lambda run: (run.protocol, run.model, run.setting, run.dataset))
