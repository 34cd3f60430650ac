"""Retractions and revisions of datasets' documents."""

from collections.abc import Collection
from typing import Any

from pubmill.recipes.corpora import DocumentsRecipe
from pubmill.stages.stage import HOUR, Inputs, Needs, Stage
from pubmill.storage.result_paths import BELOW, DATASET_NOTICES


class DatasetNotices(Stage):
    """Documents of datasets that were retracted or revised, by the sources of a corpus."""

    name, group = "dataset_notices", "select"
    label = "Looking up retractions of datasets' documents in the sources of {wildcards.corpus}"
    version = 1
    needs = Needs(2_000, HOUR)

    def files(self, without: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
        """Return the files below the results with the PMIDs of the study's datasets, except some splits."""
        pmids = {}
        for name in self.graph.scope.datasets():
            spec = self._specs.datasets[name]
            if spec.pmids:
                pmids[name] = tuple(BELOW.examples(name, one) for one in spec.splits if one not in without)
            elif spec.concepts and spec.concepts.pmids and self.graph.datasets.has_concepts(name):
                pmids[name] = (BELOW.concepts(name),)
        return pmids

    def documents(self, corpus: str, without: Collection[str] = ()) -> DocumentsRecipe:
        """Return these files, and where their documents are looked up."""
        sources = self.graph.corpora.latest_recipe(corpus).sources
        return DocumentsRecipe(sources=sources, documents=self.files(without))

    def reports(self) -> list[str]:
        """Return the reports of the study: from the sources of the corpora that it pretrains on."""
        recipes = self.graph.scope.pretrainings() if self.files() else []
        corpora = sorted({self._specs.pretraining[recipe].corpus for recipe in recipes})
        return [self._paths.corpus(corpus, DATASET_NOTICES) for corpus in corpora]

    def targets(self) -> list[str]:
        return self.reports()

    def inputs_of(self, wildcards: Any) -> Inputs:
        files = [self._paths.at(path) for paths in self.files().values() for path in paths]
        return {"documents": files, "parsed": self.graph.corpora.parsed(wildcards.corpus)}

    def recipe_of(self, wildcards: Any) -> DocumentsRecipe:
        return self.documents(wildcards.corpus)
