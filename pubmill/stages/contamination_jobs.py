"""The search for texts of datasets in corpora."""

from typing import Any

from pubmill.recipes.corpora import EvaluatedDataset, IndexRecipe
from pubmill.stages.costs import MEASURED_PARTS
from pubmill.stages.stage import HOUR, BlockStage, Needs, Seconds, Stage


class ContaminationStage(Stage):
    """Texts of datasets that corpora contain."""

    name, group = "contamination", "select"
    label = "Reporting texts of datasets found in {wildcards.corpus}"
    version = 2

    def splits(self, corpus: str, use: str) -> dict[str, list[str]]:
        """Return the splits whose texts are searched for in a corpus, by dataset: those that its spec
        excludes (`use` is `excluded`), or dev and test of every dataset of the study (`contamination`)."""
        excludes = self._specs.corpora[corpus].contamination
        if use == "excluded":
            datasets, wanted = (excludes.datasets, excludes.splits) if excludes else ((), ())
        else:
            datasets, wanted = tuple(self.graph.scope.datasets()), ("dev", "test")
        splits = {name: self._specs.datasets[name].splits for name in datasets}
        return {name: [split for split in wanted if split in splits[name]] for name in datasets}

    def examples(self, corpus: str, use: str) -> list[str]:
        """Return the files with the examples of the splits that `splits` returns."""
        splits = self.splits(corpus, use)
        return [self._paths.examples(name, split) for name in splits for split in splits[name]]

    def reports(self) -> list[str]:
        """Return the reports on the corpora that the study pretrains on."""
        recipes = self.graph.scope.pretrainings()
        corpora = sorted({self._specs.pretraining[recipe].corpus for recipe in recipes})
        return [self._paths.corpus(corpus, "contamination.json") for corpus in corpora]


class IndexEvaluationTexts(Stage):
    """Texts of datasets to be searched for in a corpus."""

    name, group = "index_evaluation_texts", "select"
    label = "Indexing texts of datasets for {wildcards.corpus}"
    version = 2
    needs = Needs(2_000, HOUR)

    def recipe_of(self, wildcards: Any) -> IndexRecipe:
        specs, splits = self._specs.datasets, self.graph.contamination.splits(wildcards.corpus, wildcards.use)
        datasets = (
            EvaluatedDataset(dataset=name, splits=tuple(of), pmids=bool(specs[name].pmids))
            for name, of in splits.items()
        )
        return IndexRecipe(datasets=tuple(datasets))


class FindContamination(BlockStage):
    """Texts of datasets found in a block of a corpus."""

    name, group = "find_contamination", "select"
    label = "Searching {wildcards.corpus} for texts of datasets, {wildcards.block} of {wildcards.source}"
    version = 4
    needs = Needs(1_000, 4 * HOUR)
    seconds = Seconds(30_000 / 4_900, MEASURED_PARTS)
