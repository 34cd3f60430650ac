"""The report of a study, and all targets of a study."""

from typing import Any

from pubmill.graph.contradiction_pages import ContradictionTargets
from pubmill.storage.path_lists import by_folder
from pubmill.storage.result_paths import BELOW, DIAGNOSIS, LOG, STATE, STATISTICS


class ReportTargets(ContradictionTargets):
    """Recipe and inputs of the report."""

    def report(self) -> str:
        return self.paths.report(self.study.study, "html")

    def report_recipe(self) -> dict[str, Any]:
        recipes = self.pretrainings()
        return {
            "study": self.study.study,
            "title": self.study.title,
            "scale": self.study.scale,
            "scale_title": self.specs.scale.title,
            "comparable": self.specs.scale.comparable,
            "tables": self.result_tables(),
            "fact_tables": self.fact_tables(),
            "pretraining": {
                r: [BELOW.checkpoint(r, step) for step in self.steps(r) if step <= last]
                for r, last in self.last_steps().items()
            },
            "corpora": sorted({self.specs.pretraining[r].corpus for r in recipes}),
            "vocabs": sorted({self.specs.pretraining[r].vocab for r in recipes} & set(self.learnt_vocabs())),
            "models": self.models(),
            "checkpoints": self.checkpoints(),
            "fits": self.fits(),
            "datasets": self.datasets(),
            "sources": by_folder(self.source_records()),
        }

    def checkpoints(self) -> dict[str, tuple[str, int]]:
        """Return the recipe and step of each model that is pretrained here."""
        weights = {model: self.weights(model) for model in self.models()}
        return {m: (w["recipe"], w["step"]) for m, w in weights.items() if w["kind"] == "pretraining"}

    def fits(self) -> dict[str, dict[str, str]]:
        """How the models' vocabularies fit the datasets of labelled words: model -> dataset -> file."""
        datasets = [name for name in self.datasets() if self.specs.datasets[name].kind == "tokens"]
        vocabs = {model: self.vocab_of(model) for model in self.models()}
        return {
            model: {dataset: BELOW.fit(vocab, dataset) for dataset in datasets}
            for model, vocab in vocabs.items()
            if vocab
        }

    def source_records(self) -> list[str]:
        """Where each raw file of the study came from: its .source.json, below the results folder."""
        specs = [self.specs.pretraining[recipe] for recipe in self.pretrainings()]
        files = [
            *(path for dataset in self.datasets() for path in self.dataset_inputs(dataset).values()),
            *(shard.file for spec in specs for shard in self.shards(spec.corpus)),
            *(self.source(spec.sentence_splitter) for spec in specs),
            *(self.source(one["url"]) for one in map(self.weights, self.models()) if "url" in one),
        ]
        return sorted({self.paths.source_record(self.paths.below(path)) for path in files})

    def measured(self) -> list[str]:
        """Return the files that report and checklist share: tables, pretraining, corpora, vocabularies."""
        recipe = self.report_recipe()
        pretraining = recipe["pretraining"].values()
        below = [
            *(BELOW.table(table, "json") for table in self.result_tables()),
            *(f"{step}/{STATE}" for steps in pretraining for step in steps),
            *(f"{steps[-1]}/{LOG}" for steps in pretraining),  # that of a later segment has all before
            *(BELOW.corpus(corpus, STATISTICS) for corpus in recipe["corpora"]),
            *(BELOW.vocab(vocab, DIAGNOSIS) for vocab in recipe["vocabs"]),
        ]
        return list(map(self.paths.at, below))

    def report_inputs(self) -> list[str]:
        """Every file that the report reads."""
        below = [
            *(BELOW.table(table, "json") for table in self.fact_tables()),
            *(BELOW.comparisons(table, "json") for table in self.result_tables()),
            *(BELOW.page(dataset, "json") for dataset in self.datasets()),
            *([BELOW.contradictions("json")] if self.result_tables() else []),
            *sorted({path for found in self.fits().values() for path in found.values()}),
            *self.source_records(),
        ]
        return [*self.measured(), *map(self.paths.at, below)]

    def everything(self) -> list[str]:
        """The targets of a study."""
        tables = [path for table in self.study.tables for path in self.table_files(table)]
        pages = [path for dataset in self.datasets() for path in self.page_files(dataset)]
        compared = [path for table in self.result_tables() for path in self.comparison_files(table)]
        return [self.report(), *tables, *compared, *pages, *self.contradictions()]
