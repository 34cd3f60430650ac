"""What a study publishes beside its report: the reproducibility checklist and the RO-Crate."""

from bisect import insort
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pubmill.graph.models import OFF_THE_SHELF
from pubmill.graph.selection import SelectionTargets
from pubmill.graph.stage_versions import VERSIONS
from pubmill.specs import LocalFile
from pubmill.storage.result_paths import run_of

CHECKLIST_FORMS = ("md", "html")
OF_THE_MACHINE = {"results", "mirror", "local_files", "save_minutes"}
"""Keys of a study that say where files are, or how a machine is used."""
Runs = dict[str, dict[str, dict[str, dict[str, list[int]]]]]
"""protocol -> model -> setting -> dataset -> seeds: every run of a study, short enough for a command line."""


class PublicationTargets(SelectionTargets):
    """Recipes and files of the checklist and the RO-Crate."""

    def runs(self) -> Runs:
        """The runs behind the study's tables: those that it makes, and those that tables show beside them."""
        return _runs_of([*self._made_records(), *self._found_records()])

    def _made_records(self) -> list[str]:
        """The records that the study makes, below the results folder."""
        found = (path for table in self.result_tables() for path in self.record_files(table))
        return list(map(self.paths.below, dict.fromkeys(found)))

    def _found_records(self) -> list[str]:
        """Return the records on disk that tables show but no job of the study makes."""
        found = (path for table in self.result_tables() for path in self.found_records(table))
        return list(dict.fromkeys(found))

    def searches(self) -> list[dict[str, Any]]:
        """The searches behind these runs: each grid once, with the paths of the choices made by it.

        Of a run that no job of the study makes, the choice counts only if it is on disk.
        """
        found: dict[tuple[str, str], dict[str, Any]] = {}
        made = set(self._choices(_runs_of(self._made_records())))
        for protocol, model, setting, dataset in _fine_tuned(self.runs()):
            spec, choice = self._protocol(protocol), self.choice(protocol, model, dataset, setting)
            if choice is None or spec.search is None:
                continue
            grid = spec.grid(self.specs.datasets[choice.dataset], choice.model or model, choice.setting)
            told = {"protocol": protocol, "grid": grid, **spec.search.model_dump(include={"models", "seeds"})}
            one = found.setdefault((protocol, repr(grid)), {**told, "selected": []})
            for path in self.selected(protocol, model, dataset, setting):
                below = self.paths.below(path)
                if below not in one["selected"] and (path in made or Path(path).is_file()):
                    one["selected"].append(below)
        return list(found.values())

    def _choices(self, runs: Runs) -> Iterator[str]:
        """The files of the choices behind some runs."""
        for protocol, model, setting, dataset in _fine_tuned(runs):
            yield from self.selected(protocol, model, dataset, setting)

    def checklist_files(self) -> list[str]:
        return [self.paths.checklist(self.study.study, form) for form in CHECKLIST_FORMS]

    def checklist_recipe(self) -> dict[str, Any]:
        """ChecklistRecipe of the study: what its specs say; everything measured is read from the results."""
        report = self.report_recipe()
        shared = (
            "study",
            "title",
            "scale",
            "scale_title",
            "comparable",
            "tables",
            "pretraining",
            "corpora",
            "vocabs",
        )
        runs, others = self.runs(), self._found_subjects()
        return {
            **{key: report[key] for key in shared},
            "runs": runs,
            "searches": self.searches(),
            "protocols": {name: self._told_of_protocol(name) for name in runs if name != OFF_THE_SHELF},
            "models": {name: self._told_of_model(name) for name in [*self.models(), *others["models"]]},
            "datasets": {
                name: self._told_of_dataset(name) for name in [*self.datasets(), *others["datasets"]]
            },
            "versions": {"checklist": VERSIONS["checklist"]},
        }

    def _found_subjects(self) -> dict[str, list[str]]:
        """Return models and datasets that tables show only through records already on disk."""
        runs = list(map(run_of, self._found_records()))
        models = dict.fromkeys(run.model for run in runs)
        cards = {run.dataset: Path(self.paths.card(run.dataset)) for run in runs}
        return {
            "models": [name for name in models if name not in self.models()],
            "datasets": [n for n, card in cards.items() if n not in self.datasets() and card.is_file()],
        }

    def _told_of_protocol(self, name: str) -> dict[str, Any]:
        spec = self.specs.protocols[name]
        return {
            **spec.model_dump(include={"citation", "notes", "hyperparameters"}),
            "overrides": {
                key: {**one.values, "why": one.why or ""} for key, one in spec.overrides.items() if one.values
            },
            **spec.final.model_dump(include={"aggregate", "split"}),
        }

    def _told_of_model(self, name: str) -> dict[str, Any]:
        spec = self.specs.models[name]
        own = spec.model_dump(include={"label", "citation", "notes", "lowercase"})
        return {**own, "weights": self.weights(name)}

    def _told_of_dataset(self, name: str) -> dict[str, Any]:
        spec = self.specs.datasets[name]
        kept = {"label", "task", "kind", "domain", "metric", "access", "apply", "licence", "citation"}
        links = [file.url for file in spec.sources.values() if not isinstance(file, LocalFile)]
        return {
            **spec.model_dump(include=kept),
            "links": list(dict.fromkeys(links)),
            "made_up": self.is_made_up(name),
        }

    def checklist_inputs(self) -> list[str]:
        """Return the files that the checklist reads, except weights, which it counts where they exist."""
        records = self._made_records()
        selected = dict.fromkeys(self._choices(_runs_of(records)))
        cards = list(map(self.paths.card, self.datasets()))
        return [*self.measured(), *map(self.paths.at, records), *selected, *cards]

    def crate(self) -> str:
        """The folder of the study's RO-Crate."""
        return self.paths.crate(self.study.study)

    def crate_inputs(self) -> list[str]:
        """The results that it holds, and the records of the source files that it names."""
        return [*self._crated(), *map(self.paths.at, self.source_records())]

    def _crated(self) -> list[str]:
        """The study's tables, comparisons, report, checklist and pages."""
        tables = [path for table in self.study.tables for path in self.table_files(table)]
        compared = [path for table in self.result_tables() for path in self.comparison_files(table)]
        pages = [path for dataset in self.datasets() for path in self.page_files(dataset)]
        return [*tables, *compared, self.report(), *self.checklist_files(), *pages]

    def crate_recipe(self) -> dict[str, Any]:
        """CrateRecipe of the study."""
        report = self.report_recipe()
        own = self.study.model_dump(mode="json", exclude=OF_THE_MACHINE)
        keys = dict.fromkeys(self.study.local_files, "a folder of your own")
        return {
            **{key: report[key] for key in ("study", "title", "scale", "scale_title", "tables")},
            "configuration": own | ({"local_files": keys} if keys else {}),
            "author": self.study.author.model_dump() if self.study.author else None,
            "results": list(map(self.paths.below, self._crated())),
            "sources": report["sources"],
            **self._conditions(),
            "versions": {"crate": VERSIONS["crate"]},
        }

    def _conditions(self) -> dict[str, dict[str, str]]:
        """Licences of the datasets' source files, and where to apply for them; of files that several datasets
        share, those of the first."""
        licences: dict[str, str] = {}
        conditions: dict[str, str] = {}
        for dataset in self.datasets():
            spec = self.specs.datasets[dataset]
            for path in self.dataset_inputs(dataset).values():
                below = self.paths.below(path)
                licences.setdefault(below, spec.licence)
                if spec.apply:
                    conditions.setdefault(below, spec.apply)
        return {"licences": licences, "conditions": conditions}

    def everything(self) -> list[str]:
        """The targets of a study, with its checklist; the crate is made when it is asked for."""
        return [*super().everything(), *(self.checklist_files() if self.result_tables() else [])]


def _runs_of(records: Iterable[str]) -> Runs:
    """Runs by the paths of their records below the results folder."""
    found: Runs = {}
    for run in map(run_of, records):
        seeds = found.setdefault(run.protocol, {}).setdefault(run.model, {}).setdefault(run.setting, {})
        insort(seeds.setdefault(run.dataset, []), run.seed)
    return found


def _fine_tuned(runs: Runs) -> Iterator[tuple[str, str, str, str]]:
    """Protocol, model, setting and dataset of all runs but those of pipelines."""
    for protocol, models in sorted(runs.items()):
        for model, settings in sorted(models.items() if protocol != OFF_THE_SHELF else ()):
            for setting, datasets in sorted(settings.items()):
                yield from ((protocol, model, setting, dataset) for dataset in sorted(datasets))
