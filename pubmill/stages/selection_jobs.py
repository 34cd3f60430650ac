"""Selection of documents: filters, and copies in the whole corpus."""

from typing import Any

from pubmill.recipes.corpora import DuplicatesRecipe, FingerprintRecipe, SelectionRecipe
from pubmill.stages.costs import MEASURED_FILES, MEASURED_PARTS
from pubmill.stages.stage import HOUR, BlockStage, Bytes, Needs, Seconds, Stage


class SelectDocuments(BlockStage):
    """Selected documents of a block of a corpus."""

    name, group = "select_documents", "select"
    label = "Selecting documents of {wildcards.corpus}, {wildcards.block} of {wildcards.source}"
    version = 6
    seconds = Seconds(1.9, f"{MEASURED_FILES}; assumed of others")

    def inputs(self, corpus: str) -> dict[str, str]:
        """Return the optional inputs of a selection, by name: texts to exclude, and duplicates."""
        duplicates = {"duplicates": self._paths.corpus(corpus, "duplicates.parquet")}
        return self.exclusions(corpus) | (duplicates if self._specs.corpora[corpus].duplicates else {})

    def exclusions(self, corpus: str) -> dict[str, str]:
        """Return the index of the texts that a corpus may not hold, if there are any."""
        excludes = self._specs.corpora[corpus].contamination
        return {"exclude": self._paths.corpus(corpus, "excluded.parquet")} if excludes else {}

    def bytes_of(self, wildcards: Any) -> Bytes:
        return Bytes(disk=15e6 * len(self.graph.corpora.block(wildcards).shards))

    def recipe_of(self, wildcards: Any) -> SelectionRecipe:
        return self._specs.corpora[wildcards.corpus].selection_of(wildcards.source)


class Fingerprint(BlockStage):
    """Fingerprints of the selected documents of a block."""

    name, group = "fingerprint", "select"
    label = "Fingerprinting {wildcards.corpus}, {wildcards.block} of {wildcards.source}"
    version = 1
    seconds = Seconds(30_000 / 7_300, MEASURED_PARTS)

    def version_of(self, wildcards: Any) -> list[int]:
        """Return the version of selection too, whose filters come first."""
        return [SelectDocuments.version, self.version]

    def recipe_of(self, wildcards: Any) -> FingerprintRecipe:
        spec = self._specs.corpora[wildcards.corpus]
        similar = spec.duplicates is not None and spec.duplicates.similarity is not None
        return FingerprintRecipe(selection=spec.selection_of(wildcards.source), similar=similar)


class FindDuplicates(Stage):
    """Duplicates in a corpus."""

    name, group, label = "find_duplicates", "select", "Finding duplicates in {wildcards.corpus}"
    version = 1
    needs = Needs(8_000, 8 * HOUR)  # assumed, as all without a figure

    def recipe_of(self, wildcards: Any) -> DuplicatesRecipe:
        """Return how similar a copy must be."""
        duplicates = self._specs.corpora[wildcards.corpus].duplicates
        return DuplicatesRecipe(similarity=duplicates.similarity if duplicates else None)
