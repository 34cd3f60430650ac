"""The reproducibility checklist of a study."""

from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pubmill.extras.checklist.checklist_recipes import (
    ChecklistRecipe,
    DatasetSummary,
    ModelSummary,
    ProtocolSummary,
    SearchSummary,
    StudyRuns,
)
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

    def runs(self) -> StudyRuns:
        """Return the runs behind the study's tables: those that it makes, and those that tables show beside
        them."""
        return _group_runs([*self._made_records(), *self._found_records()])

    def _made_records(self) -> list[str]:
        """Return the records that the study makes, below the results folder."""
        records = (
            path
            for table in self.graph.requests.result_tables()
            for path in self.graph.tables.record_files(table)
        )
        return list(map(self._paths.below, dict.fromkeys(records)))

    def _found_records(self) -> list[str]:
        """Return the records on disk that tables show but no job of the study makes."""
        records = (
            path
            for table in self.graph.requests.result_tables()
            for path in self.graph.tables.found_records(table)
        )
        return list(dict.fromkeys(records))

    def searches(self) -> list[SearchSummary]:
        """Return the searches behind these runs: each grid once, with the paths of the choices made by it.

        Of a run that no job of the study makes, the choice counts only if it is on disk.
        """
        searches: dict[tuple[str, str], SearchSummary] = {}
        made = set(self._choice_files(_group_runs(self._made_records())))
        for protocol, model, setting, dataset in _fine_tuned_runs(self.runs()):
            spec, choice = (
                self.graph.runs.protocol(protocol),
                self.graph.runs.choice(RunKey(protocol, model, dataset, setting)),
            )
            by = choice and spec.searched_by(choice.setting)
            if choice is None or by is None or spec.search is None:
                continue
            grid = spec.grid(self._specs.datasets[choice.dataset], choice.model or model, choice.setting)
            search = SearchSummary(
                protocol=protocol, grid=grid, models=by, seeds=spec.search.seeds, selected=()
            )
            one = searches.setdefault((protocol, repr((grid, by))), search)
            paths = self.graph.runs.selected(RunKey(protocol, model, dataset, setting))
            there = [self._paths.below(path) for path in paths if path in made or Path(path).is_file()]
            selected = tuple(dict.fromkeys([*one.selected, *there]))
            searches[protocol, repr((grid, by))] = replace(one, selected=selected)
        return list(searches.values())

    def _choice_files(self, runs: StudyRuns) -> Iterator[str]:
        """Yield the files of the choices behind some runs."""
        for protocol, model, setting, dataset in _fine_tuned_runs(runs):
            yield from self.graph.runs.selected(RunKey(protocol, model, dataset, setting))

    def recipe(self) -> ChecklistRecipe:
        """Return the ChecklistRecipe of the study: values of its specs; measurements are in the results."""
        runs, others = self.runs(), self._found_subjects()
        models = [*self.graph.scope.models(), *others["models"]]
        datasets = [*self.graph.scope.datasets(), *others["datasets"]]
        return ChecklistRecipe(
            **vars(self.graph.report.results()),
            runs=runs,
            searches=tuple(self.searches()),
            protocols={name: self._protocol_summary(name) for name in runs if name != OFF_THE_SHELF},
            models={name: self._model_summary(name) for name in models},
            datasets={name: self._dataset_summary(name) for name in datasets},
            versions={"checklist": self.version},
        )

    def _found_subjects(self) -> dict[str, list[str]]:
        """Return models and datasets that tables show only through records already on disk."""
        runs = list(map(run_of, self._found_records()))
        models = dict.fromkeys(run.model for run in runs)
        cards = {run.dataset: Path(self._paths.card(run.dataset)) for run in runs}
        return {
            "models": [name for name in models if name not in self.graph.scope.models()],
            "datasets": [
                n for n, card in cards.items() if n not in self.graph.scope.datasets() and card.is_file()
            ],
        }

    def _protocol_summary(self, name: str) -> ProtocolSummary:
        spec = self._specs.protocols[name]
        return ProtocolSummary(
            citation=spec.citation,
            notes=spec.notes,
            hyperparameters=spec.hyperparameters,
            overrides={
                key: {**one.values, "why": one.why or ""} for key, one in spec.overrides.items() if one.values
            },
            aggregate=spec.final.aggregate,
            split=spec.final.split,
        )

    def _model_summary(self, name: str) -> ModelSummary:
        spec = self._specs.models[name]
        return ModelSummary(
            label=spec.label,
            citation=spec.citation,
            notes=spec.notes,
            lowercase=spec.lowercase,
            weights=self.graph.models.weights(name),
        )

    def _dataset_summary(self, name: str) -> DatasetSummary:
        spec = self._specs.datasets[name]
        links = [file.url for file in spec.sources.values() if not isinstance(file, LocalFile)]
        return DatasetSummary(
            label=spec.label,
            task=spec.task,
            kind=spec.kind,
            domain=spec.domain,
            metric=spec.metric,
            access=spec.access,
            apply=spec.apply,
            licence=spec.licence,
            citation=spec.citation,
            links=tuple(dict.fromkeys(links)),
            made_up=self.graph.datasets.is_made_up(name),
        )

    def inputs(self) -> list[str]:
        """Return the files that the checklist reads, except weights, which it counts where they exist."""
        records = self._made_records()
        selected = dict.fromkeys(self._choice_files(_group_runs(records)))
        cards = list(map(self._paths.card, self.graph.scope.datasets()))
        return [*self.graph.report.measured(), *map(self._paths.at, records), *selected, *cards]


def _group_runs(records: Iterable[str]) -> StudyRuns:
    """Return runs by the paths of their records below the results folder."""
    runs: StudyRuns = {}
    for run in map(run_of, records):
        seeds = runs.setdefault(run.protocol, {}).setdefault(run.model, {}).setdefault(run.setting, {})
        insort(seeds.setdefault(run.dataset, []), run.seed)
    return runs


def _fine_tuned_runs(runs: StudyRuns) -> Iterator[tuple[str, str, str, str]]:
    """Yield protocol, model, setting and dataset of all runs except those of pipelines."""
    for protocol, models in sorted(runs.items()):
        for model, settings in sorted(models.items() if protocol != OFF_THE_SHELF else ()):
            for setting, datasets in sorted(settings.items()):
                yield from ((protocol, model, setting, dataset) for dataset in sorted(datasets))
