"""The report of a study."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pubmill.recipes.models import ArchivedWeights
from pubmill.recipes.report import Reference, ReportRecipe
from pubmill.specs.fidelity import digest, rows_of
from pubmill.specs.spec_types import Spec
from pubmill.stages.stage import HOUR, TEMPLATES, Needs, Stage, rules_by_group, spec_file, stages
from pubmill.storage.result_paths import DIAGNOSIS, LOG, RELATIVE, STATE, STATISTICS, Paths

EXAMPLE = Path("docs/example-report.html")
"""A report with made-up numbers, for those who have no results yet, which tests/full_report.py writes."""


class ReportStage(Stage):
    """Recipe and inputs of the report."""

    name, group, label = "report", "report", "Writing the report {output}"
    version = 19
    needs = Needs(4_000, HOUR)
    read_by_name = (TEMPLATES,)

    @property
    def _own(self) -> Paths:
        """Paths of the study's tables, below the results folder."""
        return Paths(study=self._study.study)

    @property
    def _papers(self) -> set[str]:
        return {table.partition("/")[0] for table in self._study.tables}

    def recipe(self, statements: Sequence[str] = ()) -> ReportRecipe:
        """Return the ReportRecipe of the study; `statements`: files of specs."""
        recipes, learnt = self.graph.scope.pretrainings(), set(self.graph.vocabularies.learnt())
        return ReportRecipe(
            study=self._study.study,
            title=self._study.title,
            scale=self._study.scale,
            scale_title=self.graph.datasets.scale_title(self.graph.scope.datasets()),
            comparable=self._specs.scale.comparable,
            tables=tuple(self.graph.requests.result_tables()),
            pretraining={
                r: tuple(RELATIVE.checkpoint(r, s) for s in self.graph.pretrainings.steps(r) if s <= last)
                for r, last in self.graph.scope.last_steps().items()
            },
            corpora=tuple(self.graph.scope.corpora()),
            vocabs=tuple(sorted({self._specs.pretraining[r].vocab for r in recipes} & learnt)),
            fact_tables=tuple(self.graph.requests.fact_tables()),
            models=tuple(self.graph.scope.models()),
            datasets=tuple(map(self.graph.datasets.page, self.graph.scope.datasets())),
            sources=tuple(self.source_records()),
            sections=tuple(self._reported()),
            references=self.references(),
            rules=rules_by_group(),
            example=self.example(),
            statements=tuple(statements),
            statements_sha256=digest(rows_of(map(Path, statements))) if statements else "",
        )

    def _reported(self) -> dict[str, list[str]]:
        """Return stage of an extra -> the files that its section of the report shows, if there are any."""
        files = {name: getattr(self.graph, name).reported() for name in stages()}
        return {name: shown for name, shown in files.items() if shown}

    def example(self) -> str:
        """Return the relative address of the example report; empty at a comparable scale or without one."""
        if self._specs.scale.comparable or not EXAMPLE.is_file():
            return ""
        folder = Path(self._paths.report(self._study.study)).parent
        return Path(os.path.relpath(EXAMPLE, folder)).as_posix()

    def references(self) -> dict[str, Reference]:
        """Return paper -> how to cite it, for the study's papers that a protocol has a `reference` of."""
        protocols = self._specs.protocols.values()
        known = {spec.paper: spec.reference for spec in protocols if spec.paper and spec.reference}
        return {paper: known[paper] for paper in sorted(self._papers) if paper in known}

    def statement_files(self, specs: Path) -> list[str]:
        """Return the spec files with statements on the methods of the papers, and all files of `choices`."""
        kinds = ("corpora", "vocabs", "pretraining", "protocols", "datasets", "models")
        known: dict[str, Mapping[str, Spec]] = {kind: getattr(self._specs, kind) for kind in kinds}
        known["tables"] = {**self._specs.tables, **self._specs.fact_tables}
        return [
            spec_file(specs, f"{kind}/{name}.yaml")
            for kind, of_kind in known.items()
            for name, spec in sorted(of_kind.items())
            if spec.paper in self._papers and spec.method
        ] + [spec_file(specs, f"choices/{path.name}") for path in sorted((specs / "choices").glob("*.yaml"))]

    def source_records(self) -> list[str]:
        """Return the records of origin (.source.json) of the study's raw files, below the results folder."""
        specs = [self._specs.pretraining[recipe] for recipe in self.graph.scope.pretrainings()]
        shards = [shard for spec in specs for shard in self.graph.corpora.shards(spec.corpus)]
        of_corpora = {self._paths.source_record(self._paths.below(shard.file)) for shard in shards}
        return sorted({*self._single_records(), *of_corpora})

    def _single_records(self) -> list[str]:
        """Return the records of files that are in no block of a corpus. The statistics of corpora, which the
        report reads, come after the others."""
        specs = [self._specs.pretraining[recipe] for recipe in self.graph.scope.pretrainings()]
        weights = map(self.graph.models.weights, self.graph.scope.models())
        of_datasets = map(self.graph.datasets.inputs, self.graph.scope.datasets())
        files = [
            *(path for inputs in of_datasets for path in inputs.values()),
            *(self._paths.source_of_url(spec.sentence_splitter) for spec in specs),
            *(self._paths.source_of_url(one.url) for one in weights if isinstance(one, ArchivedWeights)),
        ]
        return sorted({self._paths.source_record(self._paths.below(path)) for path in files})

    def inputs(self) -> list[str]:
        """Return every file that the report reads."""
        results, scope = self.recipe(), self.graph.scope
        pretraining = results.pretraining.values()
        below = [
            *(self._own.table(table, "json") for table in results.tables),
            *(f"{step}/{STATE}" for steps in pretraining for step in steps),
            *(f"{steps[-1]}/{LOG}" for steps in pretraining),  # a later log includes the earlier ones
            *(RELATIVE.corpus(corpus, STATISTICS) for corpus in results.corpora),
            *(RELATIVE.vocab(vocab, DIAGNOSIS) for vocab in results.vocabs),
            *(self._own.table(table, "json") for table in self.graph.requests.fact_tables()),
            *(self._own.comparisons(table, "json") for table in results.tables),
            *map(RELATIVE.card, scope.datasets()),
            *self._single_records(),
        ]
        sections = [path for files in self._reported().values() for path in files]
        return [*map(self._paths.at, below), *sections]
