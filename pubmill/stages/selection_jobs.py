"""Selection of documents: filters, and exclusions that need the whole corpus."""

from collections.abc import Iterator
from typing import Any

from pubmill.recipes.corpora import DuplicatesRecipe, FingerprintRecipe, SelectionRecipe
from pubmill.stages.contamination_jobs import IndexEvaluationTexts
from pubmill.stages.corpus_jobs import LatestVersions
from pubmill.stages.costs import MEASURED_FILES, MEASURED_PARTS
from pubmill.stages.stage import HOUR, Bytes, FileStage, GraphPart, Inputs, Needs, Origin, Seconds, Stage

DESCRIPTIVE = {"label", "citation", "notes", "paper", "method"}
"""Keys of specs that affect no result."""


class SelectionJobs(GraphPart):
    """Filters of corpora, and the search for copies of documents."""

    def recipe(self, corpus: str, part: int = 0) -> SelectionRecipe:
        """Return the filters of a corpus, as they are for the source of one of its parts."""
        source = self.graph.corpora.shards(corpus)[part].source
        return self._specs.corpora[corpus].selection_of(source)

    def part(self, corpus: str, part: str) -> dict[str, str]:
        """Return the parsed shard behind a part, and the versions in force."""
        shard = self.graph.corpora.parsed_part(corpus, int(part))
        return {"shard": shard, "latest": self._paths.corpus(corpus, "latest.parquet")}

    def inputs(self, corpus: str) -> dict[str, str]:
        """Return the optional inputs of a selection, by name: texts to exclude, and duplicates."""
        spec = self._specs.corpora[corpus]
        duplicates = {"duplicates": self._paths.corpus(corpus, "duplicates.parquet")}
        return self.exclusions(corpus) | (duplicates if spec.duplicates else {})

    def exclusions(self, corpus: str) -> dict[str, str]:
        """Return the index of the texts that a corpus may not hold, if there are any."""
        excludes = self._specs.corpora[corpus].contamination
        return {"exclude": self._paths.corpus(corpus, "excluded.parquet")} if excludes else {}

    def fingerprints(self, corpus: str) -> list[str]:
        """Return fingerprints of the documents of each shard of a corpus."""
        return [self._paths.fingerprint(corpus, i) for i in range(len(self.graph.corpora.shards(corpus)))]

    def fingerprint_recipe(self, corpus: str, part: int) -> FingerprintRecipe:
        """Return the filters applied before, and whether similar texts are searched for."""
        similar = self.duplicates_recipe(corpus).similarity is not None
        return FingerprintRecipe(selection=self.recipe(corpus, part), similar=similar)

    def duplicates_recipe(self, corpus: str) -> DuplicatesRecipe:
        """Return how similar a copy must be."""
        duplicates = self._specs.corpora[corpus].duplicates
        return DuplicatesRecipe(similarity=duplicates.similarity if duplicates else None)


class SelectDocuments(FileStage):
    """Selected documents of one part of a corpus."""

    name, group = "select_documents", "select"
    label = "Selecting documents of {wildcards.corpus}, part {wildcards.part}"
    version = 6
    seconds = Seconds(1.9, f"{MEASURED_FILES}; assumed of others")

    def bytes_of(self, wildcards: Any) -> Bytes:
        return Bytes(disk=15e6)

    def inputs_of(self, wildcards: Any) -> Inputs:
        selection = self.graph.selection
        corpus, part = wildcards.corpus, wildcards.part
        return {**selection.inputs(corpus), **selection.part(corpus, part)}

    def recipe_of(self, wildcards: Any) -> SelectionRecipe:
        return self.graph.selection.recipe(wildcards.corpus, int(wildcards.part))

    def described(self, wildcards: Any) -> Any:
        return self._specs.corpora[wildcards.corpus].model_dump(mode="json", exclude=DESCRIPTIVE)

    def behind(self, wildcards: Any) -> Iterator[Origin]:
        corpus, spec = wildcards.corpus, self._specs.corpora[wildcards.corpus]
        yield Origin(LatestVersions, {"corpus": corpus})
        if spec.duplicates:
            yield Origin(FindDuplicates, {"corpus": corpus})
        if spec.contamination:
            yield Origin(IndexEvaluationTexts, {"corpus": corpus, "use": "excluded"})


class Fingerprint(FileStage):
    """Fingerprints of the selected documents of one part."""

    name, group = "fingerprint", "select"
    label = "Fingerprinting {wildcards.corpus}, part {wildcards.part}"
    version = 1
    seconds = Seconds(30_000 / 7_300, MEASURED_PARTS)

    def version_of(self, wildcards: Any) -> list[int]:
        """Return the version of selection too, whose filters come first."""
        return [SelectDocuments.version, self.version]

    def inputs_of(self, wildcards: Any) -> Inputs:
        selection = self.graph.selection
        return {**selection.exclusions(wildcards.corpus), **selection.part(wildcards.corpus, wildcards.part)}

    def recipe_of(self, wildcards: Any) -> FingerprintRecipe:
        return self.graph.selection.fingerprint_recipe(wildcards.corpus, int(wildcards.part))


class FindDuplicates(Stage):
    """Duplicates in a corpus."""

    name, group, label = "find_duplicates", "select", "Finding duplicates in {wildcards.corpus}"
    version = 1
    needs = Needs(8_000, 8 * HOUR)  # assumed, as all without a figure

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {"fingerprints": self.graph.selection.fingerprints(wildcards.corpus)}

    def recipe_of(self, wildcards: Any) -> DuplicatesRecipe:
        return self.graph.selection.duplicates_recipe(wildcards.corpus)
